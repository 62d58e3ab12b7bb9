// The rule behind Request::target: it finds the scores of a given translation.
#ifndef NIBU_ENGINE_SEARCH_RULES_SCORE_TARGET_H_
#define NIBU_ENGINE_SEARCH_RULES_SCORE_TARGET_H_

#include <vector>

#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"
#include "engine/search/search_task.h"

namespace nibu::internal {

// Requests the token of the target that follows, if there is a target to be scored.
class ScoreTarget final : public LogitsRule {
 public:
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    const std::vector<int>* const target = context.task().target;
    if (target != nullptr) edits->Request((*target)[context.length()]);
  }
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_RULES_SCORE_TARGET_H_
