#ifndef NIBU_TOKENIZER_BLANK_H_
#define NIBU_TOKENIZER_BLANK_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace nibu {

// Whether a character is white space: Unicode's property White_Space, zero width spaces and byte
// order marks.
bool IsBlank(int32_t character);

// How many bytes of white space a text begins with.
size_t BlankPrefix(absl::string_view text);

// Whether there is nothing but white space in a text (UTF-8). What is not UTF-8 is not blank.
bool IsBlank(absl::string_view text);

}  // namespace nibu

#endif  // NIBU_TOKENIZER_BLANK_H_
