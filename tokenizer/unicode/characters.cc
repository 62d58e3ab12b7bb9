// Decodes characters with ICU's macros, and classifies them by its properties.
#include "tokenizer/unicode/characters.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>

#include "absl/base/macros.h"

namespace nibu::internal {
namespace {

// Returns true for letters, digits and marks that make words with their neighbours. Those of
// scripts without blanks between words do not; the line breaking classes (UAX #14) tell them.
bool IsOfWords(int32_t character) {
  const bool is_mark = (U_GET_GC_MASK(character) & U_GC_M_MASK) != 0;  // belongs to a letter
  if (!u_isalnum(character) && !is_mark) return false;
  const int line_break = u_getIntPropertyValue(character, UCHAR_LINE_BREAK);
  return line_break != U_LB_IDEOGRAPHIC && line_break != U_LB_COMPLEX_CONTEXT &&
         line_break != U_LB_CONDITIONAL_JAPANESE_STARTER && line_break != U_LB_NONSTARTER;
}

bool HasAny(absl::string_view text, UBool (*is_one)(UChar32)) {
  for (size_t i = 0; i < text.size();) {
    if (is_one(NextCharacter(text, &i))) return true;
  }
  return false;
}

}  // namespace

int32_t NextCharacter(absl::string_view text, size_t* i) {
  ABSL_ASSERT(*i < text.size());
  int32_t character;
  U8_NEXT(text.data(), *i, text.size(), character);
  return character;
}

int32_t FirstCharacter(absl::string_view text) {
  size_t i = 0;
  return text.empty() ? -1 : NextCharacter(text, &i);
}

int32_t LastCharacter(absl::string_view text) {
  text.remove_prefix(text.size() - std::min<size_t>(text.size(), U8_MAX_LENGTH));
  int32_t character = -1;
  auto i = static_cast<int32_t>(text.size());
  if (!text.empty()) U8_PREV(text.data(), 0, i, character);
  return character;
}

bool IsOneOf(int32_t character, std::u32string_view characters) {
  return characters.find(static_cast<char32_t>(character)) != characters.npos;
}

bool IsWide(int32_t character) {
  const int width =
      character < 0x1100 ? 0 : u_getIntPropertyValue(character, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH;
}

bool IsBlank(int32_t character) {
  return u_isUWhiteSpace(character) || character == 0x200b || character == 0xfeff;
}

size_t BlankPrefix(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    if (!IsBlank(NextCharacter(text, &i))) return begin;
  }
  return text.size();
}

bool IsBlank(absl::string_view text) { return BlankPrefix(text) == text.size(); }

bool IsCharacterBorder(absl::string_view text, size_t at) {
  return at >= text.size() || !U8_IS_TRAIL(text[at]);
}

bool IsWordBorder(absl::string_view text, size_t at) {
  return at == 0 || at >= text.size() ||
         (IsCharacterBorder(text, at) && (!IsOfWords(LastCharacter(text.substr(0, at))) ||
                                          !IsOfWords(FirstCharacter(text.substr(at)))));
}

bool HasWords(absl::string_view text) { return HasAny(text, u_isalnum); }

bool HasLetters(absl::string_view text) { return HasAny(text, u_isalpha); }

}  // namespace nibu::internal
