// Counts characters, sentence ends and numbers in one pass over the text.
#include "tokenizer/unicode/text_measure.h"

#include <unicode/uchar.h>

#include "absl/strings/ascii.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

// Signs that may stand between the digits of a number.
constexpr std::u32string_view kSeparators = U".,:'\u2019\u066b\u066c";

// Returns true for closing brackets and for all quotes.
bool Closes(int32_t c) {
  return u_charType(c) == U_END_PUNCTUATION || u_hasBinaryProperty(c, UCHAR_QUOTATION_MARK);
}

}  // namespace

TextMeasure Measure(absl::string_view text) {
  TextMeasure measure;
  enum class Last : uint8_t { kOther, kDigit, kSeparator };  // a separator right behind a digit
  Last last = Last::kOther;
  enum class Stop : uint8_t { kNone, kStop, kWide };  // a wide mark needs no blank behind it
  Stop stop = Stop::kNone;
  for (size_t i = 0; i < text.size();) {
    const int32_t c = NextCharacter(text, &i);
    if (c < 0x80 && (absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == ' ') &&
        stop == Stop::kNone) {  // a short way for most characters
      ++measure.characters;
      last = Last::kOther;
      continue;
    }
    const bool wide = IsWide(c);
    measure.characters += !wide ? 1 : u_hasBinaryProperty(c, UCHAR_IDEOGRAPHIC) ? 3 : 2;
    if (u_charType(c) == U_CURRENCY_SYMBOL) measure.currencies.push_back(c);
    const int digit = u_charDigitValue(c);
    if (digit >= 0) {
      if (last != Last::kDigit) {
        const bool alone = last == Last::kOther;
        if (!alone) measure.numbers.back().alone = false;
        measure.numbers.push_back({"", alone});
      }
      measure.numbers.back().digits += static_cast<char>('0' + digit);
      last = Last::kDigit;
    } else {
      last = last == Last::kDigit && IsOneOf(c, kSeparators) ? Last::kSeparator : Last::kOther;
    }
    if (u_hasBinaryProperty(c, UCHAR_S_TERM)) {
      stop = wide ? Stop::kWide : Stop::kStop;
    } else if (stop != Stop::kNone && !Closes(c)) {
      if (stop == Stop::kWide || IsBlank(c)) ++measure.sentence_ends;
      stop = Stop::kNone;
    }
  }
  if (stop != Stop::kNone) ++measure.sentence_ends;
  // "07" becomes "7".
  for (TextMeasure::Number& number : measure.numbers) {
    if (number.digits.size() == 2 && number.digits[0] == '0') number.digits.erase(0, 1);
  }
  return measure;
}

}  // namespace nibu::internal
