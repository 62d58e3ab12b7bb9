// Spells a number by each of ICU's rule sets for words and looks for the result in a text.
#include "tokenizer/sentences/number_words.h"

#include <unicode/locid.h>
#include <unicode/rbnf.h>
#include <unicode/uchar.h>
#include <unicode/ucurr.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/strings/numbers.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

constexpr UChar kSoftHyphen = 0xad;  // ICU puts it between the parts of long words

// Returns the text in lower case and without soft hyphens, as it is compared.
icu::UnicodeString Folded(icu::UnicodeString text) {
  return text.toLower(icu::Locale::getRoot())
      .findAndReplace(icu::UnicodeString(kSoftHyphen), icu::UnicodeString());
}

icu::UnicodeString Folded(absl::string_view text) {
  return Folded(icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<int32_t>(text.size()))));
}

// Returns true for letters of scripts with capitals, all of which put blanks between words.
bool IsWordLetter(UChar32 c) { return u_hasBinaryProperty(c, UCHAR_CASED) != 0; }

// Returns true if the text has `words` at the beginning of a word, with at most two letters behind
// them. Characters of scripts without capitals, which need no blanks between words, may be next to
// them.
bool HasWords(const icu::UnicodeString& text, const icu::UnicodeString& words) {
  constexpr int kEnding = 2;
  for (int32_t at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
    if (at > 0 && IsWordLetter(text.char32At(at - 1))) continue;
    int32_t end = at + words.length();
    while (end < text.length() && IsWordLetter(text.char32At(end))) ++end;
    if (end - at - words.length() <= kEnding) return true;
  }
  return false;
}

}  // namespace

struct NumberWords::Rules {
  std::unique_ptr<const icu::RuleBasedNumberFormat> format;
};

NumberWords::NumberWords(std::string language) : language_(std::move(language)) {}

NumberWords::~NumberWords() = default;

bool NumberWords::AreKnown() const {
  std::call_once(once_, [this] {
    const icu::Locale locale = icu::Locale::createCanonical(language_.c_str());
    UErrorCode status = U_ZERO_ERROR;
    auto format =
        std::make_unique<const icu::RuleBasedNumberFormat>(icu::URBNF_SPELLOUT, locale, status);
    if (U_FAILURE(status)) return;
    // ICU falls back to another language's rules where there are none.
    const icu::Locale found = format->getLocale(ULOC_ACTUAL_LOCALE, status);
    if (absl::string_view(found.getLanguage()) != locale.getLanguage()) return;
    rules_ = std::make_unique<const Rules>(Rules{std::move(format)});
  });
  return rules_ != nullptr;
}

bool NumberWords::Say(absl::string_view digits, absl::string_view text) const {
  ABSL_ASSERT(AreKnown());
  int64_t number = 0;
  if (!absl::SimpleAtoi(digits, &number)) return false;
  const icu::UnicodeString folded = Folded(text);
  const icu::RuleBasedNumberFormat& format = *rules_->format;
  // A language has a rule set for each gender, case and kind: "%spellout-cardinal-feminine".
  for (int32_t i = 0; i < format.getNumberOfRuleSetNames(); ++i) {
    const icu::UnicodeString name = format.getRuleSetName(i);
    if (!name.startsWith("%spellout")) continue;
    UErrorCode status = U_ZERO_ERROR;
    icu::FieldPosition position;
    icu::UnicodeString words;
    format.format(number, name, words, position, status);
    if (U_SUCCESS(status) && !words.isEmpty() && HasWords(folded, Folded(words))) return true;
  }
  return false;
}

bool NumberWords::SayCurrency(int32_t sign, absl::string_view text) const {
  static constexpr std::pair<char32_t, const char16_t*> kCodes[] = {
      {U'$', u"USD"},   {U'€', u"EUR"}, {U'£', u"GBP"}, {U'¥', u"JPY"}, {U'₹', u"INR"},
      {U'₽', u"RUB"}, {U'₩', u"KRW"}, {U'₺', u"TRY"}, {U'₴', u"UAH"}, {U'₪', u"ILS"}};
  const auto* const found = absl::c_find_if(
      kCodes, [&](const auto& each) { return static_cast<int32_t>(each.first) == sign; });
  if (found == std::end(kCodes)) return true;
  UErrorCode status = U_ZERO_ERROR;
  int32_t length = 0;
  const UChar* const name =
      ucurr_getPluralName(found->second, language_.c_str(), nullptr, "other", &length, &status);
  // Without a name in the language, ICU returns the code, or that of its own language.
  if (U_FAILURE(status) || status == U_USING_DEFAULT_WARNING) return true;
  const icu::UnicodeString folded = Folded(text);
  if (folded.indexOf(Folded(icu::UnicodeString(found->second))) >= 0) return true;
  // Any word of the name is enough ("US-Dollar"), and of it the first three letters, since others
  // decline it. Where there are no blanks, what counts are the last two ("US" stands in front).
  const icu::UnicodeString words = Folded(icu::UnicodeString(name, length));
  for (int32_t begin = 0; begin < words.length();) {
    int32_t end = begin;
    while (end < words.length() && u_isalpha(words.char32At(end))) ++end;
    const bool is_wide = IsWide(words.char32At(begin));
    const icu::UnicodeString word =
        is_wide ? words.tempSubStringBetween(std::max(begin, end - 2), end)
                : words.tempSubStringBetween(begin, std::min(end, begin + 3));
    for (int32_t at = folded.indexOf(word); end - begin > (is_wide ? 0 : 2) && at >= 0;
         at = folded.indexOf(word, at + 1)) {
      if (is_wide || at == 0 || !IsWordLetter(folded.char32At(at - 1))) return true;
    }
    begin = end + 1;
  }
  return false;
}

}  // namespace nibu::internal
