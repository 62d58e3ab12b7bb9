#include "tokenizer/between_sentences.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>

namespace nibu {
namespace {

// Whether a character is of a script without blanks: Han, kana, their punctuation, wide forms.
bool IsWithoutBlanks(int32_t character) {
  if (character < 0 || u_hasBinaryProperty(character, UCHAR_EMOJI_PRESENTATION)) return false;
  const int width = u_getIntPropertyValue(character, UCHAR_EAST_ASIAN_WIDTH);
  UErrorCode status = U_ZERO_ERROR;
  return (width == U_EA_WIDE || width == U_EA_FULLWIDTH) &&
         uscript_getScript(character, &status) != USCRIPT_HANGUL;
}

// Thai and its neighbours have blanks, but between sentences.
bool IsWithoutBlanksInside(int32_t character) {
  return IsWithoutBlanks(character) ||
         u_getIntPropertyValue(character, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT;
}

int32_t First(absl::string_view text) {
  int32_t character = -1;
  size_t i = 0;
  if (!text.empty()) U8_NEXT(text.data(), i, text.size(), character);
  return character;
}

int32_t Last(absl::string_view text) {
  text.remove_prefix(text.size() - std::min<size_t>(text.size(), U8_MAX_LENGTH));
  int32_t character = -1;
  auto i = static_cast<int32_t>(text.size());
  if (!text.empty()) U8_PREV(text.data(), 0, i, character);
  return character;
}

}  // namespace

absl::string_view BetweenTranslations(absl::string_view between, absl::string_view before,
                                      absl::string_view after) {
  if (between.empty()) return IsWithoutBlanks(Last(before)) ? "" : " ";
  const bool without = IsWithoutBlanks(Last(before)) && IsWithoutBlanks(First(after));
  return between == " " && without ? "" : between;
}

absl::string_view BetweenLines(absl::string_view before, absl::string_view after) {
  const bool without = IsWithoutBlanksInside(Last(before)) && IsWithoutBlanksInside(First(after));
  return without ? "" : " ";
}

}  // namespace nibu
