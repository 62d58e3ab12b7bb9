// Joins and measures text by ICU's properties of characters and its line break iterator.
#include "tokenizer/unicode/typesetting.h"

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utext.h>

#include <cstdint>
#include <memory>

#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

// Returns the columns that a character takes. A soft hyphen (U+00AD) counts as one that is seen.
size_t Width(UChar32 c) {
  if (c < 0) return 1;
  if (IsWide(c)) return 2;
  const bool unseen =
      (U_GET_GC_MASK(c) & (U_GC_MN_MASK | U_GC_ME_MASK | U_GC_CF_MASK | U_GC_CC_MASK)) != 0;
  return unseen && c != 0xad ? 0 : 1;
}

// Returns true for characters of scripts without any blanks: Han, kana, their punctuation, wide
// forms. Hangul and emoji are wide, too, but have blanks beside them.
bool IsWithoutBlanks(int32_t character) {
  return IsWide(character) && !u_hasBinaryProperty(character, UCHAR_EMOJI_PRESENTATION) &&
         u_getIntPropertyValue(character, UCHAR_SCRIPT) != USCRIPT_HANGUL;
}

// Returns true for characters of scripts without blanks between words. Thai, Lao and Khmer have
// some between sentences.
bool IsWithoutBlanksInside(int32_t character) {
  return IsWithoutBlanks(character) ||
         u_getIntPropertyValue(character, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT;
}

}  // namespace

size_t ColumnBehind(absl::string_view text, size_t column) {
  for (size_t i = 0; i < text.size();) {
    const int32_t c = NextCharacter(text, &i);
    column = c == '\t' ? column / 8 * 8 + 8 : column + Width(c);
  }
  return column;
}

std::vector<size_t> LineBreaks(absl::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  UText bytes = UTEXT_INITIALIZER;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createLineInstance(icu::Locale::getRoot(), status));
  utext_openUTF8(&bytes, text.data(), static_cast<int64_t>(text.size()), &status);
  std::vector<size_t> ends;
  if (U_SUCCESS(status)) breaks->setText(&bytes, status);
  for (int32_t next; U_SUCCESS(status) && (next = breaks->next()) != icu::BreakIterator::DONE;) {
    const auto end = static_cast<size_t>(next);
    const bool is_blank = text[end - 1] == ' ' || text[end - 1] == '\t';
    if (end < text.size() &&
        (is_blank || BetweenLines(text.substr(0, end), text.substr(end)).empty())) {
      ends.push_back(end);
    }
  }
  utext_close(&bytes);
  ends.push_back(text.size());
  return ends;
}

absl::string_view BetweenLines(absl::string_view before, absl::string_view after) {
  const bool without =
      IsWithoutBlanksInside(LastCharacter(before)) && IsWithoutBlanksInside(FirstCharacter(after));
  return without ? "" : " ";
}

absl::string_view BetweenTranslations(absl::string_view between, absl::string_view before,
                                      absl::string_view after) {
  const bool ends_without = IsWithoutBlanks(LastCharacter(before));
  const bool begins_without = IsWithoutBlanks(FirstCharacter(after));
  if (between.empty()) return ends_without || begins_without ? "" : " ";
  const bool without = ends_without && begins_without;
  return between == " " && without ? "" : between;
}

bool BeginsSmall(absl::string_view text) { return u_islower(FirstCharacter(text)); }

bool BeginsCapital(absl::string_view text) {
  const UChar32 first = FirstCharacter(text);
  return u_isupper(first) || u_isdigit(first);
}

}  // namespace nibu::internal
