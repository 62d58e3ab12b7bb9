// The rule behind DecodingOptions::prefix_bias_beta: a prefix is favoured, but not forced.
#ifndef NIBU_ENGINE_SEARCH_RULES_PREFIX_BIAS_H_
#define NIBU_ENGINE_SEARCH_RULES_PREFIX_BIAS_H_

#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"
#include "engine/search/search_task.h"

namespace nibu::internal {

// Favours the next token of the prefix as long as a hypothesis follows it.
class PrefixBias final : public LogitsRule {
 public:
  explicit PrefixBias(float beta) : beta_(beta) {}
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    if (!context.open().follows_prefix) return;
    edits->Favour(context.task().prefix[context.length()], beta_);
  }

 private:
  const float beta_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_RULES_PREFIX_BIAS_H_
