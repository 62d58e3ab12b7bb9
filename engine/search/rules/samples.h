// The rule behind DecodingOptions::sampling: tokens are drawn at random.
#ifndef NIBU_ENGINE_SEARCH_RULES_SAMPLES_H_
#define NIBU_ENGINE_SEARCH_RULES_SAMPLES_H_

#include <cstddef>

#include "engine/search/logit_edits.h"
#include "engine/search/logits_rule.h"
#include "engine/search/sampling.h"
#include "engine/search/search_task.h"

namespace nibu::internal {

// Asks for samples: one for the branch of the hypothesis, or for all branches in the step that
// begins them.
class Samples final : public LogitsRule {
 public:
  Samples(const Sampling& sampling, int branches)
      : sampling_(sampling), branches_(static_cast<size_t>(branches)) {}
  void Apply(const RowContext& context, LogitEdits* edits) const override {
    if (context.task().target != nullptr) return;
    const size_t first = context.is_expansion() ? 0 : context.branch();
    const size_t count = context.is_expansion() ? branches_ : 1;
    for (size_t n = first; n < first + count; ++n) {
      edits->Sample(sampling_, Noise(sampling_.seed, context.task().key, n, context.length()));
    }
  }

 private:
  const Sampling sampling_;
  const size_t branches_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_RULES_SAMPLES_H_
