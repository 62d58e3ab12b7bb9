#include "tokenizer/between_sentences.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <cstdint>

#include "tokenizer/characters.h"

namespace nibu {
namespace {

// Whether a character is of a script without blanks: Han, kana, their punctuation, wide forms.
bool IsWithoutBlanks(int32_t character) {
  return IsWide(character) && !u_hasBinaryProperty(character, UCHAR_EMOJI_PRESENTATION) &&
         u_getIntPropertyValue(character, UCHAR_SCRIPT) != USCRIPT_HANGUL;
}

// Thai and its neighbours have blanks, but between sentences.
bool IsWithoutBlanksInside(int32_t character) {
  return IsWithoutBlanks(character) ||
         u_getIntPropertyValue(character, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT;
}

}  // namespace

absl::string_view BetweenTranslations(absl::string_view between, absl::string_view before,
                                      absl::string_view after) {
  if (between.empty()) return IsWithoutBlanks(LastCharacter(before)) ? "" : " ";
  const bool without =
      IsWithoutBlanks(LastCharacter(before)) && IsWithoutBlanks(FirstCharacter(after));
  return between == " " && without ? "" : between;
}

absl::string_view BetweenLines(absl::string_view before, absl::string_view after) {
  const bool without =
      IsWithoutBlanksInside(LastCharacter(before)) && IsWithoutBlanksInside(FirstCharacter(after));
  return without ? "" : " ";
}

}  // namespace nibu
