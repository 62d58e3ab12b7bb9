// Range checks whose messages name what is out of range.
#ifndef NIBU_ENGINE_CORE_CHECK_RANGE_H_
#define NIBU_ENGINE_CORE_CHECK_RANGE_H_

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/core/option_error.h"

namespace nibu::internal {

// The values that an option may have, both ends included. A range stands beside the option's field,
// for everything that checks the option: the engine, the table of options, readers of model files.
template <typename T>
struct Range {
  T least;
  T most;
};

// Checks that low <= value <= high. InvalidArgument: "NAME must be LOW to HIGH, not VALUE", or
// "must be at least LOW" if HIGH is the largest number of its type. NaN is out of every range.
// OptionOf returns the name from the status.
template <typename T>
absl::Status CheckRange(absl::string_view name, T value, T low,
                        T high = std::numeric_limits<T>::max()) {
  if (value >= low && value <= high) return absl::OkStatus();
  const bool is_open = high == std::numeric_limits<T>::max();
  return is_open ? InvalidOption(name, " must be at least ", low, ", not ", value)
                 : InvalidOption(name, " must be ", low, " to ", high, ", not ", value);
}

// The ends are compared in the option's type: a float of 1e-6 is less than the double.
template <typename T, typename R>
absl::Status CheckRange(absl::string_view name, T value, const Range<R>& range) {
  return CheckRange<T>(name, value, static_cast<T>(range.least), static_cast<T>(range.most));
}

// Checks that all ids are between low and high. InvalidArgument: "WHAT has KIND ID, expected LOW to
// HIGH".
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
