#ifndef NIBU_ENGINE_CORE_CHECK_RANGE_H_
#define NIBU_ENGINE_CORE_CHECK_RANGE_H_

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/core/option_error.h"

namespace nibu::internal {

// OK, or InvalidArgument: "NAME must be LOW to HIGH, not VALUE", "at least LOW" where HIGH is the
// largest number there is. NaN is out of any range. The status carries NAME: see OptionOf.
template <typename T>
absl::Status CheckRange(absl::string_view name, T value, T low,
                        T high = std::numeric_limits<T>::max()) {
  if (value >= low && value <= high) return absl::OkStatus();
  const bool is_open = high == std::numeric_limits<T>::max();
  return is_open ? InvalidOption(name, " must be at least ", low, ", not ", value)
                 : InvalidOption(name, " must be ", low, " to ", high, ", not ", value);
}

// The same of ids: "WHAT has ID, expected LOW to HIGH", `kind` standing before ID.
inline absl::Status CheckIds(absl::string_view what, absl::Span<const int> ids, int low, int high,
                             absl::string_view kind = "") {
  for (const int id : ids) {
    if (id >= low && id <= high) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(what, " has ", kind, id, ", expected ", low, " to ", high));
  }
  return absl::OkStatus();
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_CHECK_RANGE_H_
