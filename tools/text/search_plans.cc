#include "tools/text/search_plans.h"

#include "engine/core/status_macros.h"
#include "engine/translator.h"

namespace nibu::internal {

absl::StatusOr<SearchPlans> SearchPlans::Make(const Translator& translator,
                                              const DecodingOptions& options) {
  SearchPlans made;
  for (const bool needs_attention : {false, true}) {
    for (const bool has_alternatives : {true, false}) {
      DecodingOptions changed = options;
      changed.return_attention |= needs_attention;
      if (!has_alternatives && options.return_alternatives) {
        changed.return_alternatives = false;
        changed.num_hypotheses = 1;
      }
      NIBU_ASSIGN_OR_RETURN(made.plans_[IndexOf(needs_attention, has_alternatives)],
                            translator.Plan(changed));
    }
  }
  return made;
}

}  // namespace nibu::internal
