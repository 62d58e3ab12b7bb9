// Makes the search plans of a text: those that are equal are made once.
#include "tools/text/search_plans.h"

#include "engine/core/status_macros.h"
#include "engine/translator.h"

namespace nibu::internal {

absl::StatusOr<SearchPlans> SearchPlans::Make(const Translator& translator,
                                              const DecodingOptions& options) {
  SearchPlans made;
  for (const bool needs_attention : {false, true}) {
    for (const bool has_alternatives : {true, false}) {
      const bool is_without = !has_alternatives && options.return_alternatives;
      std::shared_ptr<const SearchPlan>& plan =
          made.plans_[IndexOf(needs_attention, has_alternatives)];
      if (needs_attention && options.return_attention) {
        plan = made.For(/*needs_attention=*/false, has_alternatives);
      } else if (!has_alternatives && !is_without) {
        plan = made.For(needs_attention, /*has_alternatives=*/true);
      } else {
        DecodingOptions changed = options;
        changed.return_attention |= needs_attention;
        if (is_without) {
          changed.return_alternatives = false;
          changed.num_hypotheses = 1;
        }
        NIBU_ASSIGN_OR_RETURN(plan, translator.Plan(changed));
      }
    }
  }
  return made;
}

}  // namespace nibu::internal
