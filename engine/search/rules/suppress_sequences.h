// The rule behind DecodingOptions::suppress_sequences: these sequences are never generated.
#ifndef NIBU_ENGINE_SEARCH_RULES_SUPPRESS_SEQUENCES_H_
#define NIBU_ENGINE_SEARCH_RULES_SUPPRESS_SEQUENCES_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"

namespace nibu::internal {

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

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_RULES_SUPPRESS_SEQUENCES_H_
