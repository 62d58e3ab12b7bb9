// Greedy and beam search. beam_search.h describes a step; AdvanceBranch and the functions before it
// take its parts in the same order.
#include "engine/search/beam_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"

namespace nibu::internal {
namespace {

bool IsBestFirst(absl::Span<const Candidate> candidates) {
  return absl::c_is_sorted(
      candidates, [](const Candidate& a, const Candidate& b) { return a.log_prob > b.log_prob; });
}

// Returns whether some n-gram of up to 16 tokens is followed by at least three more copies of
// itself, and the run of copies has at least 16 tokens.
bool HasLoop(absl::Span<const int> tokens) {
  constexpr size_t kLongest = 16;
  constexpr size_t kShortestRun = 16;
  for (size_t n = 1; n <= kLongest; ++n) {
    // So many tokens that equal those n before them make, with the first n, a run of at least four
    // copies and kShortestRun tokens.
    const size_t enough = std::max(3 * n, kShortestRun - n);
    size_t equal = 0;
    for (size_t i = n; i < tokens.size(); ++i) {
      equal = tokens[i] == tokens[i - n] ? equal + 1 : 0;
      if (equal >= enough) return true;
    }
  }
  return false;
}

}  // namespace

void BeamSearch::Reset(const SearchTask& task) {
  ABSL_ASSERT(task.constraints.size() <= kMostConstraints);
  task_ = task;
  done_ = false;
  expanding_ = options().return_alternatives || options().sampling.is_on();
  length_ = 0;
  attention_row_ = task.plan->frame().target_extra();
  tree_.Clear();
  count_ = 0;
  Beam& root = AddBranch();
  furthest_ = 0;
  got_there_ = static_cast<int>(task.forced());
  root.open.push_back({.follows_prefix = task.is_biased() && !task.prefix.empty()});
  OpenHypothesis& open = root.open[0];
  // The tokens of a forced prefix count in L, but add nothing to S.
  for (size_t i = 0; i < task.forced(); ++i, ++length_) {
    open.node = AddNode(open.node, {task.prefix[i], 0.0f}, 0);
    ++attention_row_;
  }
  for (size_t n = 1; !task.constraints.empty() && n <= task.forced(); ++n) {
    std::tie(open.met, open.met_before) = Meet(open, task.prefix.first(n));
  }
  live_.assign(1, {0, -1});
  if (steps_left() > 0) return;
  root.finished.push_back({open.node, 0.0f, length_, open.met});
  done_ = true;
}

// Rank looks at (1 + end tokens) * width continuations, which may all be of one hypothesis: each
// gives so many. Greedy search that ends with the first end token needs only the best one, and the
// step that makes branches one for each branch.
int BeamSearch::candidates(size_t ahead) const {
  if (expanding_ && ahead == 0) return options().num_hypotheses;
  if (options().beam_size == 1 && task_.plan->stop_rule().ends_greedy_at_once()) return 1;
  return static_cast<int>(task_.width() * (1 + task_.plan->ends().size()));
}

BeamSearch::Place BeamSearch::Locate(size_t h) const {
  size_t b = 0;
  for (; h >= branches_[b].open.size(); ++b) h -= branches_[b].open.size();
  return {b, h};
}

RowContext BeamSearch::Context(size_t h, absl::Span<const int> ahead,
                               std::vector<int>* scratch) const {
  const auto [branch, open] = Locate(h);
  RowContext context(task_, tree_, branches_[branch].open[open], static_cast<size_t>(length_),
                     ahead, scratch);
  context.SetBranch(branch, expanding_ && ahead.empty() && task_.target == nullptr);
  return context;
}

Beam& BeamSearch::AddBranch() {
  if (count_ == branches_.size()) branches_.emplace_back();
  Beam& branch = branches_[count_++];
  branch.Reset(task_.width());
  return branch;
}

void BeamSearch::Advance(absl::Span<const absl::Span<const Candidate>> candidates) {
  ABSL_ASSERT(!done_);
  ABSL_ASSERT(candidates.size() == live_.size());
  ABSL_ASSERT(expanding_ || absl::c_all_of(candidates, IsBestFirst));
  ++length_;
  live_.clear();
  if (expanding_) {
    expanding_ = false;
    BranchOut(candidates[0]);
  } else {
    size_t first = 0;
    for (size_t b = 0; b < count_; ++b) {
      const size_t rows = branches_[b].open.size();
      if (rows > 0) AdvanceBranch(&branches_[b], candidates.subspan(first, rows), first);
      first += rows;
    }
  }
  attention_row_ += static_cast<int>(candidates.size());
  done_ = live_.empty();
}

// Replaces the only branch by one for each candidate, which becomes its first token. Of
// alternatives, it leaves out those that are too improbable, except for the first; of samples, it
// keeps all that are possible. If nothing is left, the sentence ends with the tokens that it has.
void BeamSearch::BranchOut(absl::Span<const Candidate> candidates) {
  const OpenHypothesis root = branches_[0].open[0];
  count_ = 0;
  for (const Candidate& c : candidates) {
    if (c.log_prob == -std::numeric_limits<float>::infinity() ||
        (options().return_alternatives && count_ > 0 &&
         std::exp(c.log_prob) < options().min_alternative_expansion_prob)) {
      continue;
    }
    Beam& branch = AddBranch();
    const int node = AddNode(root.node, c, 0);
    if (task_.plan->is_end(c.token) || steps_left() == 0) {
      branch.finished.push_back({node, c.log_prob, length_, 0});
    } else {
      branch.open.push_back({.node = node, .log_prob = c.log_prob});
      live_.push_back({0, c.token});
    }
  }
  if (count_ == 0) AddBranch().finished.push_back({root.node, 0.0f, length_ - 1, 0});
}

// Part 1 of a step: puts the continuations that the step looks at into ranked_, the best ones
// first. Impossible tokens are left out. With constraints, ShareOut orders them in its own way.
void BeamSearch::Rank(const Beam& branch,
                      absl::Span<const absl::Span<const Candidate>> candidates) {
  ranked_.clear();
  for (size_t h = 0; h < candidates.size(); ++h) {
    for (const Candidate& c : candidates[h]) {
      const float score = branch.open[h].log_prob + c.log_prob;
      if (score > -std::numeric_limits<float>::infinity()) {
        ranked_.push_back({static_cast<int>(h), c.token, c.log_prob, score});
      }
    }
  }
  if (!task_.constraints.empty()) return ShareOut(branch);
  const size_t n = std::min((1 + task_.plan->ends().size()) * branch.width, ranked_.size());
  std::partial_sort(ranked_.begin(), ranked_.begin() + static_cast<long>(n), ranked_.end(),
                    Ranked::IsBetter);
  ranked_.resize(n);
}

// A token that continues a word takes back what the word's beginning has met: what looked like a
// phrase is a part of another word. An end token changes nothing.
std::pair<ConstraintSet, ConstraintSet> BeamSearch::Meet(const OpenHypothesis& parent,
                                                         absl::Span<const int> tokens) const {
  if (task_.plan->is_end(tokens.back())) return {parent.met, parent.met};
  const ConstraintSet before = task_.is_word_part(tokens.back()) ? parent.met_before : parent.met;
  return {FindMet(task_.constraints, before, tokens), before};
}

// Puts ranked_ into the order of dynamic beam allocation: the continuations that the beam keeps,
// best first, then the others, which may take the place of hypotheses that end. Drops the ends of
// hypotheses that have not met all constraints, unless the search has given up on them.
void BeamSearch::ShareOut(const Beam& branch) {
  const bool given_up = length_ - got_there_ > kPatience;
  const ConstraintSet all = ~ConstraintSet{0} >> (kMostConstraints - task_.constraints.size());
  std::vector<int> tokens;
  std::vector<size_t> bank;
  std::vector<Ranked> ranked;
  std::sort(ranked_.begin(), ranked_.end(), Ranked::IsBetter);
  for (Ranked& r : ranked_) {
    const OpenHypothesis& parent = branch.open[static_cast<size_t>(r.parent)];
    if (task_.plan->is_end(r.token) && parent.met != all && !given_up) continue;
    tree_.Path(parent.node, static_cast<size_t>(length_) - 1, &tokens);
    tokens.push_back(r.token);
    std::tie(r.met, r.met_before) = Meet(parent, tokens);
    ranked.push_back(r);
    bank.push_back(BankOf(task_.constraints, r.met, tokens));
    // A higher bank than any before is progress: see kPatience.
    if (bank.back() <= furthest_) continue;
    furthest_ = bank.back();
    got_there_ = length_;
  }
  ranked_.clear();
  size_t next = 0;
  std::vector<Ranked> rest;
  const std::vector<size_t> kept = AllocateBeam(branch.width, bank);
  for (size_t i = 0; i < ranked.size(); ++i) {
    const bool is_kept = next < kept.size() && kept[next] == i;
    if (is_kept) ++next;
    (is_kept ? ranked_ : rest).push_back(ranked[i]);
  }
  ranked_.insert(ranked_.end(), rest.begin(), rest.end());
}

// The new token's row of attention is that of its parent in this step.
OpenHypothesis BeamSearch::Continue(const Beam& branch, const Ranked& with, size_t first) {
  const OpenHypothesis& parent = branch.open[static_cast<size_t>(with.parent)];
  const auto length = static_cast<size_t>(length_);
  return {.node = AddNode(parent.node, {with.token, with.log_prob},
                          first + static_cast<size_t>(with.parent)),
          .log_prob = with.score,
          .follows_prefix = parent.follows_prefix && length < task_.prefix.size() &&
                            with.token == task_.prefix[length - 1],
          .met = with.met,
          .met_before = with.met_before};
}

void BeamSearch::AdvanceBranch(Beam* branch,
                               absl::Span<const absl::Span<const Candidate>> candidates,
                               size_t first) {
  // 1. Rank the continuations.
  Rank(*branch, candidates);
  const size_t n = ranked_.size();
  if (n == 0) return branch->FinishOpen(length_ - 1);  // no token can follow
  const StopRule& rule = task_.plan->stop_rule();
  const bool last = steps_left() == 0;
  const bool cuts = last && rule.finishes_continuations();
  const size_t beam = branch->width;
  // Right behind a forced prefix, only the best continuation may be an end.
  const bool is_first = task_.forced() > 0 && length_ == static_cast<int>(task_.forced()) + 1;
  next_.clear();
  const auto live_before = live_.size();
  // 2. Take the first `beam` continuations: finish those that end, continue the others.
  size_t spare = beam;  // the next continuation that may take the place of one that ends
  for (size_t k = 0; k < std::min(beam, n); ++k) {
    size_t chosen = k;
    const bool is_end = task_.plan->is_end(ranked_[k].token);
    if (is_end || cuts) {
      const bool counts = k == 0 || !is_end || !is_first || last;
      if (counts) {
        const OpenHypothesis ended = Continue(*branch, ranked_[k], first);
        branch->finished.push_back({ended.node, ended.log_prob, length_, ended.met});
        if (k == 0) branch->best_finished = true;
      }
      if (!rule.refills_beam()) continue;
      while (spare < n && task_.plan->is_end(ranked_[spare].token)) ++spare;
      if (spare >= n || cuts) continue;
      chosen = spare++;
    }
    const Ranked& r = ranked_[chosen];
    next_.push_back(Continue(*branch, r, first));
    live_.push_back({static_cast<int>(first) + r.parent, r.token});
  }
  branch->open.swap(next_);
  if (!rule.refills_beam()) branch->width = branch->open.size();  // the beam shrinks
  // 3. Ask whether the branch is done. 4. If not, what has been added to live_ stays there.
  const bool is_done = rule.IsDone(*branch, length_);
  if (!last && !is_done) return;
  // When the rule ends the branch, hypotheses that are still open are dropped. When only max_length
  // does, they are finished as they are.
  if (!is_done) branch->FinishOpen(length_);
  branch->open.clear();
  live_.resize(live_before);
}

// A branch that is done has a new token only if it ended in the last step: `finished` of a branch
// that ended before has a smaller length.
void BeamSearch::NewTokens(std::vector<NewToken>* tokens) const {
  tokens->clear();
  for (size_t b = 0; b < count_; ++b) {
    const Beam& branch = branches_[b];
    const bool is_last = branch.open.empty();
    if (is_last && (branch.finished.empty() || branch.finished.back().length < length_)) continue;
    const int newest = is_last ? branch.finished.back().node : branch.open[0].node;
    if (newest < 0) continue;
    const TokenTree::Node& node = tree_[newest];
    tokens->push_back({b, {node.token, node.log_prob}, is_last});
  }
}

void BeamSearch::Stop() {
  for (size_t b = 0; b < count_; ++b) branches_[b].FinishOpen(length_);
  live_.clear();
  done_ = true;
}

void BeamSearch::Take(absl::Span<const Candidate> tokens) {
  ABSL_ASSERT(!tokens.empty());
  Beam& root = branches_[0];
  FinishedHypothesis all{TokenTree::kRoot, 0.0f, static_cast<int>(tokens.size()), 0};
  for (size_t i = 0; i < tokens.size(); ++i) {
    all.node = AddNode(all.node, tokens[i], i);
    all.log_prob += tokens[i].log_prob;
  }
  root.finished.assign(1, all);
  done_ = true;
}

// Makes the result of a finished hypothesis: reads its tokens off the tree, from the last one to
// the first, and its attention off their rows.
Hypothesis BeamSearch::Make(const FinishedHypothesis& finished, const float* attention,
                            size_t positions) const {
  Hypothesis h;
  std::vector<int> rows;  // of attention, one for each token
  // An end token within a forced prefix has not ended the hypothesis.
  h.finished = static_cast<size_t>(finished.length) > task_.forced() &&
               task_.plan->is_end(tree_[finished.node].token);
  if (h.finished) h.end_token = tree_[finished.node].token;
  for (int i = finished.node; i != TokenTree::kRoot; i = tree_[i].parent) {
    const TokenTree::Node& node = tree_[i];
    if (i != finished.node || !h.finished) h.tokens.push_back(node.token);
    h.token_scores.push_back(node.log_prob);
    rows.push_back(node.attention_row);
  }
  std::reverse(h.tokens.begin(), h.tokens.end());
  std::reverse(h.token_scores.begin(), h.token_scores.end());
  std::reverse(rows.begin(), rows.end());
  h.log_prob = finished.log_prob;
  if (attention != nullptr) {
    std::vector<float> covered(positions);
    for (size_t t = 0; t < rows.size(); ++t) {
      const float* const row = attention + static_cast<size_t>(rows[t]) * positions;
      for (size_t s = 0; s < positions; ++s) covered[s] += row[s];
      if (options().return_attention) {
        h.attention.insert(h.attention.end(), row, row + positions);
      }
    }
    // coverage = coverage_penalty * sum over source positions of log min(attention, 1)
    if (options().coverage_penalty != 0) {
      float sum = 0;
      for (const float c : covered) {
        sum += std::log(std::clamp(c, std::numeric_limits<float>::min(), 1.0f));
      }
      h.coverage = options().coverage_penalty * sum;
    }
  }
  h.score = HypothesisScore(options(), finished.log_prob, static_cast<size_t>(finished.length)) +
            h.coverage;
  h.repetition = HasLoop(h.tokens);
  h.met = finished.met;
  return h;
}

// Each branch of alternatives gives its best hypothesis; otherwise those of all branches are ranked
// together.
std::vector<Hypothesis> BeamSearch::Finish(const float* attention, size_t positions) const {
  ABSL_ASSERT(done_);
  const bool by_sum = !task_.constraints.empty();  // by S, not by score: see the header
  const auto best_first = [by_sum](std::vector<Hypothesis>* list, size_t most) {
    std::stable_sort(list->begin(), list->end(),
                     [by_sum](const Hypothesis& a, const Hypothesis& b) {
                       const int met[] = {std::popcount(a.met), std::popcount(b.met)};
                       if (met[0] != met[1]) return met[0] > met[1];
                       return by_sum ? a.log_prob > b.log_prob : a.score > b.score;
                     });
    list->resize(std::min(list->size(), most));
  };
  std::vector<Hypothesis> result;
  for (size_t b = 0; b < count_; ++b) {
    std::vector<Hypothesis> finished;
    for (const FinishedHypothesis& f : branches_[b].finished) {
      finished.push_back(Make(f, attention, positions));
    }
    if (options().return_alternatives) best_first(&finished, 1);
    std::move(finished.begin(), finished.end(), std::back_inserter(result));
  }
  if (!options().return_alternatives) {
    best_first(&result, static_cast<size_t>(options().num_hypotheses));
  }
  return result;
}

}  // namespace nibu::internal
