// The search plans for the sentences of a text: one for each combination of what a sentence needs.
#ifndef NIBU_TOOLS_TEXT_SEARCH_PLANS_H_
#define NIBU_TOOLS_TEXT_SEARCH_PLANS_H_

#include <array>
#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "engine/search/decoding_options.h"
#include "engine/search/search_plan.h"

namespace nibu::internal {

class Translator;

// Up to four plans. Combinations that are equal for the given options share one, and copies share
// all. Immutable; threads may share it.
class SearchPlans {
 public:
  SearchPlans() = default;  // without plans

  // Returns InvalidArgument whose message begins with the option's name (see Translator::Plan).
  static absl::StatusOr<SearchPlans> Make(const Translator& translator,
                                          const DecodingOptions& options);

  // Returns the plan for a sentence. `needs_attention`: Hypothesis::attention is needed, whatever
  // the options say. `has_alternatives`: if the options ask for alternatives, the sentence is the
  // one of the line that has them. Of the other sentences, only the best hypothesis is needed then.
  const std::shared_ptr<const SearchPlan>& For(bool needs_attention, bool has_alternatives) const {
    return plans_[IndexOf(needs_attention, has_alternatives)];
  }

 private:
  static size_t IndexOf(bool needs_attention, bool has_alternatives) {
    return (needs_attention ? 2 : 0) + (has_alternatives ? 1 : 0);
  }

  std::array<std::shared_ptr<const SearchPlan>, 4> plans_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_SEARCH_PLANS_H_
