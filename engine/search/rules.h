// The rules about the next token. The comment of each says which option it is behind.
#ifndef NIBU_ENGINE_SEARCH_RULES_H_
#define NIBU_ENGINE_SEARCH_RULES_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "engine/search/constraints.h"
#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"
#include "engine/search/sampling.h"
#include "engine/search/search_task.h"

namespace nibu::internal {

// The rule behind DecodingOptions::return_alternatives: no alternative is an end token.
//
// Suppresses the end tokens in the step that chooses the alternatives.
class Alternatives final : public LogitsRule {
 public:
  explicit Alternatives(std::vector<int> ends) : ends_(std::move(ends)) {}
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    if (context.is_expansion()) edits->Suppress(ends_);
  }

 private:
  std::vector<int> ends_;
};

// The rule behind Request::constraints: tokens of their phrases are always candidates.
//
// Requests the tokens that begin or continue a phrase, so that they are ranked even if they are not
// among the best (Post and Vilar 2018, see constraints.h).
class ConstraintTokens final : public LogitsRule {
 public:
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    if (context.task().constraints.empty()) return;
    std::vector<int> next;
    FindNext(context.task().constraints, context.open().met, context.tokens(), &next);
    for (const int token : next) edits->Request(token);
  }
};

// The rule behind DecodingOptions::min_decoding_length: a hypothesis does not end too early.
//
// Suppresses the end tokens until a hypothesis has `least` tokens. A target that is scored may end
// where it ends.
class MinLength final : public LogitsRule {
 public:
  MinLength(int least, std::vector<int> ends)
      : least_(static_cast<size_t>(least)), ends_(std::move(ends)) {}
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    if (context.length() >= least_ || IsLastOfTarget(context)) return;
    edits->Suppress(ends_);
  }

 private:
  bool IsLastOfTarget(const RowContext& context) const {
    const std::vector<int>* const target = context.task().target;
    return target != nullptr && context.length() + 1 == target->size() &&
           absl::c_linear_search(ends_, target->back());
  }

  const size_t least_;
  std::vector<int> ends_;
};

// The rule behind DecodingOptions::no_repeat_ngram_size: no n-gram comes twice.
//
// Suppresses each token that would complete an n-gram which the hypothesis already has. The size is
// the task's, since a second pass may set it (OnRepetition::kRetry); 0 allows all n-grams.
class NoRepeatNgram final : public LogitsRule {
 public:
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    const auto n = static_cast<size_t>(context.task().no_repeat_ngram_size);
    if (n == 0 || context.length() < n) return;
    const absl::Span<const int> tokens = context.tokens();
    const absl::Span<const int> last = tokens.last(n - 1);
    for (size_t end = n - 1; end < tokens.size(); ++end) {
      if (tokens.subspan(end - (n - 1), n - 1) == last) edits->Suppress(tokens[end]);
    }
  }
};

// The rule behind DecodingOptions::prefix_bias_beta: a prefix is favoured, but not forced.
//
// Favours the next token of the prefix as long as a hypothesis follows it.
class PrefixBias final : public LogitsRule {
 public:
  explicit PrefixBias(float beta) : beta_(beta) {}
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    if (!context.open().follows_prefix) return;
    edits->Favour(context.task().prefix[context.length()], beta_);
  }

 private:
  const float beta_;
};

// The rule behind DecodingOptions::repetition_penalty: tokens that come again are less probable.
//
// Makes the tokens that a hypothesis already has less probable (Keskar et al. 2019, "CTRL: A
// Conditional Transformer Language Model for Controllable Generation").
class RepetitionPenalty final : public LogitsRule {
 public:
  // `always`: tokens that every hypothesis counts as having.
  explicit RepetitionPenalty(float penalty, std::vector<int> always = {})
      : penalty_(penalty), always_(std::move(always)) {
    absl::c_sort(always_);
    always_.erase(std::unique(always_.begin(), always_.end()), always_.end());
  }
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    edits->Penalize(context.tokens(), penalty_);
    for (const int& token : always_) {
      if (!absl::c_linear_search(context.tokens(), token)) edits->Penalize({&token, 1}, penalty_);
    }
  }

 private:
  const float penalty_;
  std::vector<int> always_;
};

// The rule behind DecodingOptions::sampling: tokens are drawn at random.
//
// Asks for samples: one for the branch of the hypothesis, or for all branches in the step that
// begins them.
class Samples final : public LogitsRule {
 public:
  Samples(const Sampling& sampling, int branches)
      : sampling_(sampling), branches_(static_cast<size_t>(branches)) {}
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    if (context.task().target != nullptr) return;
    const size_t first = context.is_expansion() ? 0 : context.branch();
    const size_t count = context.is_expansion() ? branches_ : 1;
    for (size_t n = first; n < first + count; ++n) {
      edits->Sample(sampling_, Noise(sampling_.seed, context.task().key, n, context.length()));
    }
  }

 private:
  const Sampling sampling_;
  const size_t branches_;
};

// The rule behind Request::target: it finds the scores of a given translation.
//
// Requests the token of the target that follows, if there is a target to be scored.
class ScoreTarget final : public LogitsRule {
 public:
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    const std::vector<int>* const target = context.task().target;
    if (target != nullptr) edits->Request((*target)[context.length()]);
  }
};

// The rule behind DecodingOptions::suppress_sequences: these sequences are never generated.
//
// Suppresses the last token of each sequence behind the tokens before it.
class SuppressSequences final : public LogitsRule {
 public:
  // No sequence is empty.
  explicit SuppressSequences(std::vector<std::vector<int>> sequences)
      : sequences_(std::move(sequences)) {}
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    const absl::Span<const int> tokens = context.tokens();
    for (const std::vector<int>& sequence : sequences_) {
      const size_t before = sequence.size() - 1;
      if (tokens.size() >= before &&
          tokens.last(before) == absl::MakeConstSpan(sequence).first(before)) {
        edits->Suppress(sequence.back());
      }
    }
  }

 private:
  std::vector<std::vector<int>> sequences_;
};

// The rule about tokens that are never generated.
//
// Suppresses the same tokens in every step: those that the model excludes, and <unk> with
// DecodingOptions::disable_unk; or, with `at_begin`, in the first step that is not forced
// (DecodingOptions::begin_suppress_tokens).
class SuppressTokens final : public LogitsRule {
 public:
  explicit SuppressTokens(std::vector<int> tokens, bool at_begin = false)
      : tokens_(std::move(tokens)), at_begin_(at_begin) {}
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    if (!at_begin_ || context.length() == context.task().first_chosen()) edits->Suppress(tokens_);
  }

 private:
  std::vector<int> tokens_;
  bool at_begin_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_RULES_H_
