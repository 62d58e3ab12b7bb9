#include "engine/search/beam_search.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <tuple>

#include "engine/search/repetition.h"

namespace nibu::internal {
void BeamSearch::Reset(const SearchTask& task) {
  task_ = task;
  done_ = false;
  expanding_ = options().return_alternatives || options().sampling.is_on();
  length_ = 0;
  attention_row_ = task.first_row;
  nodes_.clear();
  count_ = 0;
  Branch& root = AddBranch();
  furthest_ = 0;
  got_there_ = 0;
  root.open.push_back({-1, 0.0f, task.is_biased() && !task.prefix.empty(), 0});
  for (size_t i = 0; i < task.forced(); ++i, ++length_) {
    root.open[0].node = AddNode(root.open[0].node, {task.prefix[i], 0.0f}, 0);
    ++attention_row_;
  }
  for (size_t n = 1; !task.constraints.empty() && n <= task.forced(); ++n) {
    Open& open = root.open[0];
    std::tie(open.met, open.before) = Meet(open, absl::MakeConstSpan(task.prefix).first(n));
  }
  live_.assign(1, {0, -1});
  if (steps_left() > 0) return;
  root.finished.push_back({root.open[0].node, 0.0f, length_, root.open[0].met});
  done_ = true;
}

int BeamSearch::candidates(size_t ahead) const {
  const DecodingOptions& o = options();
  if (expanding_ && ahead == 0) return o.num_hypotheses;
  // Greedy search that ends at the first EOS looks at one.
  if (o.beam_size == 1 && o.search_compat != SearchCompat::kHuggingFace &&
      HypothesesToFinish(1, o.patience) == 1) {
    return 1;
  }
  return static_cast<int>(task_.width() * (1 + task_.ends.size()));
}

BeamSearch::Place BeamSearch::Locate(size_t h) const {
  size_t b = 0;
  for (; h >= branches_[b].open.size(); ++b) h -= branches_[b].open.size();
  return {b, h};
}

void BeamSearch::Tokens(size_t h, std::vector<int>* tokens) const {
  const auto [branch, open] = Locate(h);
  Path(branches_[branch].open[open].node, length_, tokens);
}

void BeamSearch::Path(int node, int length, std::vector<int>* tokens) const {
  tokens->resize(static_cast<size_t>(length));
  for (auto it = tokens->rbegin(); it != tokens->rend(); ++it) {
    *it = nodes_[static_cast<size_t>(node)].token;
    node = nodes_[static_cast<size_t>(node)].parent;
  }
}

int BeamSearch::favoured(size_t h) const {
  // Biased searches have one branch.
  const bool follows = task_.is_biased() && branches_[0].open[h].follows;
  return follows ? task_.prefix[static_cast<size_t>(length_)] : -1;
}

void BeamSearch::FindNext(size_t h, absl::Span<const int> tokens, std::vector<int>* next) const {
  if (task_.constraints.empty()) return;
  nibu::internal::FindNext(task_.constraints, branches_[0].open[h].met, tokens, next);
}

BeamSearch::Branch& BeamSearch::AddBranch() {
  if (count_ == branches_.size()) branches_.emplace_back();
  Branch& branch = branches_[count_++];
  branch.open.clear();
  branch.finished.clear();
  branch.width = task_.width();
  branch.best_finished = false;
  return branch;
}

int BeamSearch::AddNode(int parent, const Candidate& candidate, size_t row) {
  nodes_.push_back(
      {parent, candidate.token, candidate.log_prob, attention_row_ + static_cast<int>(row)});
  return static_cast<int>(nodes_.size()) - 1;
}

void BeamSearch::Advance(absl::Span<const absl::Span<const Candidate>> candidates) {
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

void BeamSearch::BranchOut(absl::Span<const Candidate> candidates) {
  const Open root = branches_[0].open[0];
  count_ = 0;
  for (const Candidate& c : candidates) {
    if (c.log_prob == -std::numeric_limits<float>::infinity() ||
        (options().return_alternatives && count_ > 0 &&
         std::exp(c.log_prob) < options().min_alternative_expansion_prob)) {
      continue;
    }
    Branch& branch = AddBranch();
    const int node = AddNode(root.node, c, 0);
    if (task_.is_end(c.token) || steps_left() == 0) {
      branch.finished.push_back({node, c.log_prob, length_, 0});
    } else {
      branch.open.push_back({node, c.log_prob, false, 0});
      live_.push_back({0, c.token});
    }
  }
  if (count_ == 0) AddBranch().finished.push_back({root.node, 0.0f, length_ - 1, 0});
}

// Into ranked_, the best ones first.
void BeamSearch::Rank(const Branch& branch,
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
  const size_t n = std::min((1 + task_.ends.size()) * branch.width, ranked_.size());
  std::partial_sort(ranked_.begin(), ranked_.begin() + static_cast<long>(n), ranked_.end(),
                    Ranked::IsBetter);
  ranked_.resize(n);
}

std::pair<Met, Met> BeamSearch::Meet(const Open& parent, absl::Span<const int> tokens) const {
  if (task_.is_end(tokens.back())) return {parent.met, parent.met};
  const Met before = task_.is_word_part(tokens.back()) ? parent.before : parent.met;
  return {MetBy(task_.constraints, before, tokens), before};
}

// The same under constraints: the beam's first, then what may take the place of finished ones.
void BeamSearch::ShareOut(const Branch& branch) {
  const bool given_up = length_ - got_there_ > kPatience;
  const Met all = ~Met{0} >> (kMostConstraints - task_.constraints.size());
  std::vector<int> tokens;
  std::vector<size_t> bank;
  std::vector<Ranked> ranked;
  std::sort(ranked_.begin(), ranked_.end(), Ranked::IsBetter);
  for (Ranked& r : ranked_) {
    const Open& parent = branch.open[static_cast<size_t>(r.parent)];
    if (task_.is_end(r.token) && parent.met != all && !given_up) continue;
    Path(parent.node, length_ - 1, &tokens);
    tokens.push_back(r.token);
    std::tie(r.met, r.before) = Meet(parent, tokens);
    ranked.push_back(r);
    bank.push_back(BankOf(task_.constraints, r.met, tokens));
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

void BeamSearch::AdvanceBranch(Branch* branch,
                               absl::Span<const absl::Span<const Candidate>> candidates,
                               size_t first) {
  Rank(*branch, candidates);
  const size_t n = ranked_.size();
  if (n == 0) {  // nothing can follow: what is there ends here
    for (const Open& open : branch->open) {
      branch->finished.push_back({open.node, open.log_prob, length_ - 1, open.met});
    }
    branch->open.clear();
    return;
  }
  const SearchCompat compat = options().search_compat;
  const bool last = steps_left() == 0;
  // Hugging Face's rule looks at what would go on, first.
  const bool cuts = last && compat != SearchCompat::kHuggingFace;
  const size_t beam = branch->width;
  // Behind a hard prefix only the best continuation may end it.
  const bool is_first = task_.forced() > 0 && length_ == static_cast<int>(task_.forced()) + 1;
  next_.clear();
  const auto live_before = live_.size();
  const auto add = [&](const Ranked& r) {
    const Open& parent = branch->open[static_cast<size_t>(r.parent)];
    const size_t row = first + static_cast<size_t>(r.parent);
    return Open{AddNode(parent.node, {r.token, r.log_prob}, row), r.score,
                parent.follows && static_cast<size_t>(length_) < task_.prefix.size() &&
                    r.token == task_.prefix[static_cast<size_t>(length_) - 1],
                r.met, r.before};
  };
  size_t spare = beam;
  for (size_t k = 0; k < std::min(beam, n); ++k) {
    size_t chosen = k;
    const bool is_end = task_.is_end(ranked_[k].token);
    if (is_end || cuts) {
      const bool counts = k == 0 || !is_end || !is_first || last;
      if (counts) {
        const Open ended = add(ranked_[k]);
        branch->finished.push_back({ended.node, ended.log_prob, length_, ended.met});
        if (k == 0) branch->best_finished = true;
      }
      if (compat == SearchCompat::kMarian) continue;
      while (spare < n && task_.is_end(ranked_[spare].token)) ++spare;
      if (spare >= n || cuts) continue;
      chosen = spare++;
    }
    const Ranked& r = ranked_[chosen];
    next_.push_back(add(r));
    live_.push_back({static_cast<int>(first) + r.parent, r.token});
  }
  branch->open.swap(next_);
  if (compat == SearchCompat::kMarian) branch->width = branch->open.size();
  const bool is_done = IsDone(*branch);
  if (!last && !is_done) return;
  if (!is_done) {
    for (const Open& open : branch->open) {
      branch->finished.push_back({open.node, open.log_prob, length_, open.met});
    }
  }
  branch->open.clear();
  live_.resize(live_before);
}

bool BeamSearch::IsDone(const Branch& branch) const {
  const DecodingOptions& o = options();
  const size_t finished = branch.finished.size();
  const auto beam = static_cast<size_t>(o.beam_size);
  if (branch.open.empty()) return true;
  if (o.search_compat == SearchCompat::kMarian) return false;
  if (o.search_compat == SearchCompat::kHuggingFace) {
    if (finished < beam || o.early_stopping) return finished >= beam;
    std::vector<float> scores;
    for (const Finished& f : branch.finished) scores.push_back(Score(f));
    std::nth_element(scores.begin(), scores.begin() + static_cast<long>(beam) - 1, scores.end(),
                     std::greater<>());
    float best = branch.open[0].log_prob;
    for (const Open& open : branch.open) best = std::max(best, open.log_prob);
    return scores[beam - 1] >= HypothesisScore(o, best, static_cast<size_t>(length_));
  }
  if (o.length_penalty == 0.0f && o.word_penalty == 0.0f && o.coverage_penalty == 0.0f) {
    return branch.best_finished && finished >= static_cast<size_t>(o.num_hypotheses);
  }
  return finished >= static_cast<size_t>(HypothesesToFinish(o.beam_size, o.patience));
}

void BeamSearch::NewTokens(std::vector<NewToken>* tokens) const {
  tokens->clear();
  for (size_t b = 0; b < count_; ++b) {
    const Branch& branch = branches_[b];
    const bool is_last = branch.open.empty();
    if (is_last && (branch.finished.empty() || branch.finished.back().length < length_)) continue;
    const int newest = is_last ? branch.finished.back().node : branch.open[0].node;
    if (newest < 0) continue;
    const Node& node = nodes_[static_cast<size_t>(newest)];
    tokens->push_back({b, {node.token, node.log_prob}, is_last});
  }
}

void BeamSearch::Stop() {
  for (size_t b = 0; b < count_; ++b) {
    Branch& branch = branches_[b];
    for (const Open& open : branch.open) {
      branch.finished.push_back({open.node, open.log_prob, length_, open.met});
    }
    branch.open.clear();
  }
  live_.clear();
  done_ = true;
}

void BeamSearch::Take(absl::Span<const Candidate> tokens) {
  Branch& root = branches_[0];
  Finished all{-1, 0.0f, static_cast<int>(tokens.size()), 0};
  for (size_t i = 0; i < tokens.size(); ++i) {
    all.node = AddNode(all.node, tokens[i], i);
    all.log_prob += tokens[i].log_prob;
  }
  root.finished.assign(1, all);
  done_ = true;
}

Hypothesis BeamSearch::Make(const Finished& finished, const float* attention,
                            size_t positions) const {
  Hypothesis h;
  std::vector<int> rows;
  h.finished = static_cast<size_t>(finished.length) > task_.forced() &&
               task_.is_end(nodes_[static_cast<size_t>(finished.node)].token);
  if (h.finished) h.end_token = nodes_[static_cast<size_t>(finished.node)].token;
  for (int i = finished.node; i >= 0; i = nodes_[static_cast<size_t>(i)].parent) {
    const Node& node = nodes_[static_cast<size_t>(i)];
    if (i != finished.node || !h.finished) h.tokens.push_back(node.token);
    h.token_scores.push_back(node.log_prob);
    rows.push_back(node.row);
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
      if (options().return_attention && t < h.tokens.size()) {
        h.attention.insert(h.attention.end(), row, row + positions);
      }
    }
    if (options().coverage_penalty != 0) {
      float sum = 0;
      for (const float c : covered) {
        sum += std::log(std::clamp(c, std::numeric_limits<float>::min(), 1.0f));
      }
      h.coverage = options().coverage_penalty * sum;
    }
  }
  h.score = Score(finished) + h.coverage;
  h.repetition = HasLoop(h.tokens);
  h.met = finished.met;
  return h;
}

std::vector<Hypothesis> BeamSearch::Finish(const float* attention, size_t positions) const {
  const bool by_sum = !task_.constraints.empty();
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
    for (const Finished& f : branches_[b].finished) {
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
