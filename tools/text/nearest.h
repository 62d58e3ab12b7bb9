#ifndef NIBU_TOOLS_TEXT_NEAREST_H_
#define NIBU_TOOLS_TEXT_NEAREST_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace nibu::internal {

// The one of `known` that `name` was meant to be, as far as one can tell; else empty.
std::string Nearest(absl::string_view name, absl::Span<const std::string> known);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_NEAREST_H_
