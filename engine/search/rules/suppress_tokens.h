// The rule about tokens that are never generated.
#ifndef NIBU_ENGINE_SEARCH_RULES_SUPPRESS_TOKENS_H_
#define NIBU_ENGINE_SEARCH_RULES_SUPPRESS_TOKENS_H_

#include <utility>
#include <vector>

#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"
#include "engine/search/search_task.h"

namespace nibu::internal {

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

#endif  // NIBU_ENGINE_SEARCH_RULES_SUPPRESS_TOKENS_H_
