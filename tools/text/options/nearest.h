// Finds the known name that a misspelled name was meant to be.
#ifndef NIBU_TOOLS_TEXT_OPTIONS_NEAREST_H_
#define NIBU_TOOLS_TEXT_OPTIONS_NEAREST_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace nibu::internal {

// Returns the one of `known` that `name` was probably meant to be, or an empty string. That is a
// name that begins with `name`, or else the one with the fewest edits: letters that are different,
// missing, added, or swapped with the next. There may be at most `most_edits` of them, and at most
// half as many as `name` has letters.
std::string Nearest(absl::string_view name, absl::Span<const std::string> known,
                    size_t most_edits = 3);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_OPTIONS_NEAREST_H_
