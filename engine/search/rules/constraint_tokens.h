// The rule behind Request::constraints: tokens of their phrases are always candidates.
#ifndef NIBU_ENGINE_SEARCH_RULES_CONSTRAINT_TOKENS_H_
#define NIBU_ENGINE_SEARCH_RULES_CONSTRAINT_TOKENS_H_

#include <vector>

#include "engine/search/constraints.h"
#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"
#include "engine/search/search_task.h"

namespace nibu::internal {

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

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_RULES_CONSTRAINT_TOKENS_H_
