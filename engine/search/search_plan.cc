// Makes the rules of a search from its options, in the order in which they are applied.
#include "engine/search/search_plan.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"
#include "engine/search/rules.h"

namespace nibu::internal {
SearchPlan::SearchPlan(DecodingOptions options, const SearchModel& model)
    : options_(std::move(options)),
      frame_(model.frame),
      ends_(options_.end_tokens.empty() ? std::vector<int>{model.eos} : options_.end_tokens),
      positions_(model.positions),
      owner_(model.owner),
      stop_rule_(StopRule::Make(options_)) {
  ABSL_ASSERT(options_.Validate().ok());
  ABSL_ASSERT(absl::c_all_of(
      ends_, [&model](int token) { return 0 <= token && token < model.vocabulary; }));
  const auto add = [this](auto rule) {
    rules_.push_back(std::make_unique<const decltype(rule)>(std::move(rule)));
  };
  std::vector<int> suppressed = model.suppressed;
  if (options_.disable_unk) suppressed.push_back(model.unk);
  if (!suppressed.empty()) add(SuppressTokens(std::move(suppressed)));
  if (!options_.begin_suppress_tokens.empty()) {
    add(SuppressTokens(options_.begin_suppress_tokens, /*at_begin=*/true));
  }
  if (options_.min_decoding_length > 0) add(MinLength(options_.min_decoding_length, ends_));
  if (options_.repetition_penalty != 1) {
    add(RepetitionPenalty(options_.repetition_penalty,
                          options_.hugging_face_rules ? frame_.decoder_start : std::vector<int>()));
  }
  if (options_.no_repeat_ngram_size > 0 || options_.on_repetition == OnRepetition::kRetry) {
    add(NoRepeatNgram());
  }
  if (!options_.suppress_sequences.empty()) add(SuppressSequences(options_.suppress_sequences));
  if (options_.prefix_bias_beta > 0) add(PrefixBias(options_.prefix_bias_beta));
  if (options_.allow_constraints()) add(ConstraintTokens());
  if (options_.return_alternatives) add(Alternatives(ends_));
  if (options_.sampling.is_on()) add(Samples(options_.sampling, options_.num_hypotheses));
  add(ScoreTarget());
}

void SearchPlan::FindEdits(const RowContext& context, LogitEdits* edits) const {
  edits->Clear();
  if (!context.task().has_rules) return ScoreTarget().Apply(context, edits);
  // Samples are drawn from probabilities that are normalized.
  edits->SetOnLogProbs(options_.edits_log_probs() && !options_.sampling.is_on());
  for (const auto& rule : rules_) rule->Apply(context, edits);
}

// The product of factor and length is compared as a float before it becomes an int, since it may be
// beyond the range of int.
int SearchPlan::MaxLength(size_t source_tokens) const {
  const int most = std::min(options_.max_decoding_length, positions_);
  if (options_.max_length_factor <= 0) return most;
  const float longest = options_.max_length_factor * static_cast<float>(source_tokens);
  if (longest >= static_cast<float>(most)) return most;
  return std::min(most, std::max({1, options_.min_decoding_length, static_cast<int>(longest)}));
}

}  // namespace nibu::internal
