// DecodingOptions::return_alternatives.
#ifndef NIBU_ENGINE_SEARCH_RULES_ALTERNATIVES_H_
#define NIBU_ENGINE_SEARCH_RULES_ALTERNATIVES_H_

#include <utility>
#include <vector>

#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"

namespace nibu::internal {

// No alternative is an end token: suppresses them in the step that chooses the alternatives.
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
