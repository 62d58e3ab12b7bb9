// The rule behind DecodingOptions::no_repeat_ngram_size: no n-gram comes twice.
#ifndef NIBU_ENGINE_SEARCH_RULES_NO_REPEAT_NGRAM_H_
#define NIBU_ENGINE_SEARCH_RULES_NO_REPEAT_NGRAM_H_

#include <cstddef>

#include "absl/types/span.h"
#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"
#include "engine/search/search_task.h"

namespace nibu::internal {

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

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_RULES_NO_REPEAT_NGRAM_H_
