// The rule behind DecodingOptions::min_decoding_length: a hypothesis does not end too early.
#ifndef NIBU_ENGINE_SEARCH_RULES_MIN_LENGTH_H_
#define NIBU_ENGINE_SEARCH_RULES_MIN_LENGTH_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"
#include "engine/search/search_task.h"

namespace nibu::internal {

// Suppresses the end tokens until a hypothesis has `least` tokens. A target that is scored may end
// where it ends.
class MinLength final : public LogitsRule {
 public:
  MinLength(int least, std::vector<int> ends)
      : least_(static_cast<size_t>(least)), ends_(std::move(ends)) {}
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    if (context.length() >= least_ || IsLastOfTarget(context)) return;
    edits->Suppress(ends_);
  }

 private:
  bool IsLastOfTarget(const RowContext& context) const {
    const std::vector<int>* const target = context.task().target;
    return target != nullptr && context.length() + 1 == target->size() &&
           absl::c_linear_search(ends_, target->back());
  }

  const size_t least_;
  std::vector<int> ends_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_RULES_MIN_LENGTH_H_
