// Characters of a text (UTF-8), its white space, and where its words begin and end.
#ifndef NIBU_TOKENIZER_UNICODE_CHARACTERS_H_
#define NIBU_TOKENIZER_UNICODE_CHARACTERS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// SentencePiece's, in place of a blank: a piece that begins with it begins a word.
inline constexpr absl::string_view kWordMark = "\u2581";

// The character at byte *i, which becomes the one behind it; negative where there is no UTF-8.
// REQUIRES: *i < text.size().
int32_t NextCharacter(absl::string_view text, size_t* i);

// Negative where there is no UTF-8, and for an empty text.
int32_t FirstCharacter(absl::string_view text);
int32_t LastCharacter(absl::string_view text);

bool IsOneOf(int32_t character, std::u32string_view characters);

// Whether a character is East Asian and takes two columns.
bool IsWide(int32_t character);

// Whether a character is white space: Unicode's property White_Space, zero width spaces and byte
// order marks.
bool IsBlank(int32_t character);

// How many bytes of white space a text begins with.
size_t BlankPrefix(absl::string_view text);

// Whether there is nothing but white space in a text. What is not UTF-8 is not blank.
bool IsBlank(absl::string_view text);

// Whether a character may begin at this byte of a text: not inside of one.
bool IsCharacterBorder(absl::string_view text, size_t at);

// Whether a word may begin or end at this byte of a text: not between letters, digits and marks,
// but for those of scripts without blanks between words.
bool IsWordBorder(absl::string_view text, size_t at);

// Whether there are letters or digits in a text.
bool HasWords(absl::string_view text);
// Whether there are letters.
bool HasLetters(absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_UNICODE_CHARACTERS_H_
