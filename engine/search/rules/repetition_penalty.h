// The rule behind DecodingOptions::repetition_penalty: tokens that come again are less probable.
#ifndef NIBU_ENGINE_SEARCH_RULES_REPETITION_PENALTY_H_
#define NIBU_ENGINE_SEARCH_RULES_REPETITION_PENALTY_H_

#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"

namespace nibu::internal {

// Makes the tokens that a hypothesis already has less probable (Keskar et al. 2019, "CTRL: A
// Conditional Transformer Language Model for Controllable Generation").
class RepetitionPenalty final : public LogitsRule {
 public:
  explicit RepetitionPenalty(float penalty) : penalty_(penalty) {}
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    edits->Penalize(context.tokens(), penalty_);
  }

 private:
  const float penalty_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_RULES_REPETITION_PENALTY_H_
