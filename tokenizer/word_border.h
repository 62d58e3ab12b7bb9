// Where words begin and end.
#ifndef NIBU_TOKENIZER_WORD_BORDER_H_
#define NIBU_TOKENIZER_WORD_BORDER_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace nibu {

// Whether a word may begin or end at this byte of a text: not between letters, digits and marks,
// but for those of scripts without blanks between words.
bool IsWordBorder(absl::string_view text, size_t at);

// Whether a character may begin at this byte of a text: not inside of one (UTF-8).
bool IsCharacterBorder(absl::string_view text, size_t at);

// Whether there are letters or digits in a text.
bool HasWords(absl::string_view text);

}  // namespace nibu

#endif  // NIBU_TOKENIZER_WORD_BORDER_H_
