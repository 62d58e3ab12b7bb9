// The rule behind DecodingOptions::return_alternatives: no alternative is an end token.
#ifndef NIBU_ENGINE_SEARCH_RULES_ALTERNATIVES_H_
#define NIBU_ENGINE_SEARCH_RULES_ALTERNATIVES_H_

#include <utility>
#include <vector>

#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"

namespace nibu::internal {

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

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_RULES_ALTERNATIVES_H_
