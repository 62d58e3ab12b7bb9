#include "engine/schedule/slot.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/search/logit_rules.h"

namespace nibu::internal {
namespace {

// What a shortlist has to have for the job.
std::vector<int> NeededTokens(const Job& job) {
  std::vector<int> needed = job.search.ends;
  const auto add = [&needed](const std::vector<int>& tokens) {
    needed.insert(needed.end(), tokens.begin(), tokens.end());
  };
  add(job.target_prefix);
  for (const Constraint& constraint : job.constraints) {
    for (const auto& phrase : constraint) add(phrase);
  }
  if (job.target.has_value()) add(*job.target);
  return needed;
}

}  // namespace

void Slot::Begin(std::shared_ptr<Job> begun, bool has_draft, int vocab_target) {
  start = std::chrono::steady_clock::now();
  job = std::move(begun);
  job->Begin();
  // Nobody guesses where each step's tokens are told of, or depend on the step.
  is_drafted = has_draft && job->rows == 1 && !job->target.has_value() && job->on_step == nullptr &&
               !job->search.is_biased();
  search.Reset(job->search);
  if (job->on_step != nullptr) TellPrefix();
  tokens = job->start;
  // A prefix may leave nothing to ask.
  forced = search.done() ? tokens.size() : job->forced;
  if (job->options.shortlist != nullptr) {
    output.tokens =
        job->options.shortlist->Candidates(job->source, vocab_target, NeededTokens(*job));
  }
  if (is_drafted) {
    std::vector<int> before = job->draft_start;
    before.insert(before.end(), job->search.prefix.begin(), job->search.prefix.end());
    draft.Start(before, job->source, output.tokens);
  }
}

void Slot::Release() {
  for (DecoderState& state : states) state.Release();
  draft.Release();
  output = {};
  attention.clear();
}

void Slot::Guess(Drafter* drafter) {
  // The token behind the guesses is one of those that are left, too.
  drafter->Guess(&draft, search.steps_left() - 1, Suppressed(static_cast<size_t>(search.length())),
                 &tokens);
}

absl::Span<const int> Slot::Suppressed(size_t generated) const {
  const auto all = absl::MakeConstSpan(job->suppressed);
  const bool may_end = generated >= static_cast<size_t>(job->options.min_decoding_length) ||
                       (job->target.has_value() && generated + 1 == job->target->size() &&
                        job->search.is_end(job->target->back()));
  return may_end ? all.first(all.size() - job->search.ends.size()) : all;
}

const RowRules* Slot::FindRules(size_t i, RowRules* rules) {
  if (!job->has_rules) return nullptr;
  rules->suppressed.clear();
  rules->repeated.clear();
  rules->noises.clear();
  rules->repetition_penalty = job->options.repetition_penalty;
  rules->wanted.clear();
  rules->sampling = nullptr;
  // The row's hypothesis, and the tokens behind it that have not been taken yet.
  const size_t h = is_consecutive() ? 0 : i;
  search.Tokens(h, &history_);
  if (is_consecutive()) {
    const auto first = tokens.begin() + static_cast<long>(forced);
    history_.insert(history_.end(), first + 1, first + 1 + static_cast<long>(i - forced));
  }
  nibu::internal::FindRules(job->options, history_, &rules->suppressed, &rules->repeated);
  if (job->target.has_value()) {
    rules->wanted.push_back((*job->target)[i - forced]);
  } else {
    if (search.favoured(h) >= 0) rules->wanted.push_back(search.favoured(h));
    search.FindNext(h, history_, &rules->wanted);
  }
  // Of the rows of guesses none but the first.
  const bool branches_out = !job->target.has_value() && search.branches_out() &&
                            history_.size() == static_cast<size_t>(search.length());
  if (branches_out && job->options.return_alternatives) {
    const std::vector<int>& ends = job->search.ends;
    rules->suppressed.insert(rules->suppressed.end(), ends.begin(), ends.end());
  }
  if (job->options.sampling.is_on()) {
    rules->sampling = &job->options.sampling;
    const size_t first = branches_out ? 0 : search.branch(h);
    const size_t count = branches_out ? static_cast<size_t>(job->options.num_hypotheses) : 1;
    for (size_t n = first; n < first + count; ++n) {
      rules->noises.emplace_back(job->options.sampling.seed, job->key, n, history_.size());
    }
  }
  return rules;
}

OutputLayer::Query Slot::Ask(size_t i, int row, RowRules* rules) {
  const DecodingOptions& options = job->options;
  const bool is_scored = job->target.has_value();
  const size_t ahead = is_consecutive() ? i - forced : 0;
  const int k = is_scored ? 1 : search.candidates(ahead);
  return {row,
          k,
          is_scored || k > 1 || options.return_scores || options.return_alternatives ||
              options.on_repetition == OnRepetition::kRetry || search.favoured(0) >= 0,
          Suppressed(static_cast<size_t>(search.length()) + ahead),
          options.shortlist == nullptr ? nullptr : &output,
          FindRules(i, rules)};
}

void Slot::Advance(absl::Span<TopK> tops) {
  candidates_.clear();
  for (TopK& top : tops) candidates_.push_back(top.Finish());
  if (job->target.has_value()) return TakeScores(tops);
  if (widened_.size() < tops.size()) widened_.resize(tops.size());
  for (size_t h = 0; h < tops.size(); ++h) {
    const absl::Span<const Candidate> wanted = tops[h].wanted();
    if (wanted.empty()) continue;
    Widen(search.favoured(h) >= 0 ? job->options.prefix_bias_beta : 0, candidates_[h], wanted,
          &widened_[h]);
    candidates_[h] = widened_[h];
  }
  if (is_drafted) return Verify();
  search.Advance(candidates_);
  if (job->on_step != nullptr) TellNewest();
  if (search.done()) return;
  forced = 0;
  tokens.clear();
  parents_.clear();
  for (const BeamSearch::Live& live : search.live()) {
    tokens.push_back(live.token);
    parents_.push_back(live.parent);
  }
  for (DecoderState& state : states) state.Reorder(parents_);
}

void Slot::TellPrefix() {
  const std::vector<int>& prefix = job->search.prefix;
  const size_t hypotheses = static_cast<size_t>(job->options.branches());
  for (size_t i = 0; i < job->search.forced(); ++i) {
    const bool is_last = search.done() && i + 1 == job->search.forced();
    for (size_t h = 0; h < hypotheses; ++h) Tell({h, i, prefix[i], 0, is_last});
    Told(i + 1);
  }
}

void Slot::TellNewest() {
  search.NewTokens(&newest_);
  const size_t position = static_cast<size_t>(search.length()) - 1;
  for (const BeamSearch::NewToken& newest : newest_) {
    Tell({newest.branch, position, newest.token.token, newest.token.log_prob, newest.is_last});
  }
  Told(position + 1);
}

void Slot::Tell(const Step& step) {
  // A sentence that is decoded once more, because memory ran out, has the same tokens again.
  if (job->is_stopped || step.position < job->told) return;
  try {
    job->is_stopped = job->on_step(step);
  } catch (...) {
    job->is_stopped = true;
  }
}

void Slot::Told(size_t positions) {
  job->told = std::max(job->told, positions);
  if (job->is_stopped && positions == job->told) search.Stop();
}

void Slot::TakeScores(absl::Span<const TopK> tops) {
  std::vector<Candidate> scores;
  for (size_t i = 0; i < tops.size(); ++i) {
    const absl::Span<const Candidate> wanted = tops[i].wanted();
    const int token = (*job->target)[i];
    scores.push_back(wanted.empty() ? Candidate{token, -std::numeric_limits<float>::infinity()}
                                    : wanted[0]);
  }
  search.Take(scores);
}

void Slot::Verify() {
  const size_t behind = std::exchange(forced, 0);
  size_t row = behind;  // up to here they are right
  do {
    search.Advance(absl::MakeConstSpan(candidates_).subspan(row++ - behind, 1));
    if (search.done()) return;
  } while (row < tokens.size() && search.live()[0].token == tokens[row]);
  for (DecoderState& state : states) {
    state.Truncate(state.length() - static_cast<int>(tokens.size() - row));
  }
  tokens.resize(row);
  tokens.push_back(search.live()[0].token);
  draft.Append(absl::MakeConstSpan(tokens).subspan(behind + 1));
  tokens.erase(tokens.begin(), tokens.end() - 1);
}

}  // namespace nibu::internal
