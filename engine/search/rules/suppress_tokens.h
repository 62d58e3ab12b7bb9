// The rule about tokens that are never generated.
#ifndef NIBU_ENGINE_SEARCH_RULES_SUPPRESS_TOKENS_H_
#define NIBU_ENGINE_SEARCH_RULES_SUPPRESS_TOKENS_H_

#include <utility>
#include <vector>

#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"

namespace nibu::internal {

// Suppresses the same tokens in every step: those that the model excludes, and <unk> with
// DecodingOptions::disable_unk.
class SuppressTokens final : public LogitsRule {
 public:
  explicit SuppressTokens(std::vector<int> tokens) : tokens_(std::move(tokens)) {}
  void Apply(const RowContext& /*context*/, LogitEdits* edits) const override {
    edits->Suppress(tokens_);
  }

 private:
  std::vector<int> tokens_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_RULES_SUPPRESS_TOKENS_H_
