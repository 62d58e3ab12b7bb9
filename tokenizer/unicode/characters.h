// Decodes the characters of UTF-8 text, and tells white space and the borders of words.
//
// A character is a code point, or negative for bytes that are not UTF-8.
#ifndef NIBU_TOKENIZER_UNICODE_CHARACTERS_H_
#define NIBU_TOKENIZER_UNICODE_CHARACTERS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// SentencePiece's sign for a blank, "▁": a piece that begins with it begins a word.
inline constexpr absl::string_view kWordMark = "\u2581";

// Returns the character at byte *i and moves *i behind it. REQUIRES: *i < text.size().
int32_t NextCharacter(absl::string_view text, size_t* i);

// Return the first and the last character, as NextCharacter does. Negative for an empty text, too.
int32_t FirstCharacter(absl::string_view text);
int32_t LastCharacter(absl::string_view text);

bool IsOneOf(int32_t character, std::u32string_view characters);

// Returns true for East Asian characters that take two columns (East_Asian_Width W and F).
bool IsWide(int32_t character);

// Returns true for white space: Unicode's property White_Space, zero width spaces (U+200B) and byte
// order marks (U+FEFF).
bool IsBlank(int32_t character);

// Returns the number of bytes of white space that a text begins with.
size_t BlankPrefix(absl::string_view text);

// Returns true if a text has nothing but white space. Bytes that are not UTF-8 are not blank.
bool IsBlank(absl::string_view text);

// Returns true if byte `at` is not inside of a character. The end of the text is a border, too.
bool IsCharacterBorder(absl::string_view text, size_t at);

// Returns true if a word may begin or end at byte `at`: everywhere except inside of a character and
// between two letters, digits or marks. In scripts without blanks between words (Chinese, Japanese,
// Thai), any two characters are a border.
bool IsWordBorder(absl::string_view text, size_t at);

// Returns true if a text has a letter or a digit.
bool HasWords(absl::string_view text);
// Returns true if a text has a letter.
bool HasLetters(absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_UNICODE_CHARACTERS_H_
