#include "tokenizer/word_border.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <cstdint>

namespace nibu {
namespace {

// Whether it is written together with its neighbours to make a word: not so in scripts without
// blanks.
bool IsOfWords(UChar32 c) {
  if (c < 0) return false;                                     // not UTF-8
  const bool is_mark = (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0;  // of the letter in front
  if (!u_isalnum(c) && !is_mark) return false;
  const int line_break = u_getIntPropertyValue(c, UCHAR_LINE_BREAK);
  return line_break != U_LB_IDEOGRAPHIC && line_break != U_LB_COMPLEX_CONTEXT &&
         line_break != U_LB_CONDITIONAL_JAPANESE_STARTER && line_break != U_LB_NONSTARTER;
}

}  // namespace

bool IsWordBorder(absl::string_view text, size_t at) {
  if (at == 0 || at >= text.size()) return true;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  auto before = static_cast<int32_t>(at);
  auto after = static_cast<int32_t>(at);
  UChar32 left;
  UChar32 right;
  U8_PREV(bytes, 0, before, left);
  U8_NEXT(bytes, after, static_cast<int32_t>(text.size()), right);
  return !IsOfWords(left) || !IsOfWords(right);
}

bool IsCharacterBorder(absl::string_view text, size_t at) {
  return at >= text.size() || (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
}

bool HasWords(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    int32_t character;
    U8_NEXT(text.data(), i, text.size(), character);
    if (u_isalnum(character)) return true;
  }
  return false;
}

}  // namespace nibu
