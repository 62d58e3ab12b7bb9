// The rule behind DecodingOptions::repetition_penalty: tokens that come again are less probable.
#ifndef NIBU_ENGINE_SEARCH_RULES_REPETITION_PENALTY_H_
#define NIBU_ENGINE_SEARCH_RULES_REPETITION_PENALTY_H_

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"

namespace nibu::internal {

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

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_RULES_REPETITION_PENALTY_H_
