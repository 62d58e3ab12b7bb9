#ifndef NIBU_TOOLS_TEXT_NEAREST_H_
#define NIBU_TOOLS_TEXT_NEAREST_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace nibu::internal {

// Returns the one of `known` that `name` was meant to be, as far as one can tell; else empty. At
// most `most_edits` letters are other ones, missing, too many or swapped with the next, and at most
// half of the name; or the name is a beginning.
std::string Nearest(absl::string_view name, absl::Span<const std::string> known,
                    size_t most_edits = 3);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_NEAREST_H_
