// Classifies characters by ICU's properties, and words by their forms and by the lists.
#include "tokenizer/sentences/sentence_rules.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/ures.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

using Kind = CharacterKind;

// sentence_words.txt, as a string literal that CMake writes.
constexpr absl::string_view kWords =
#include "tokenizer/sentences/sentence_words.inc"
    ;

// Returns the kind of a character in languages without exceptions of their own.
Kind Classify(UChar32 c) {
  if (c < 0) return Kind::kOther;
  if (c == kEllipsis) return Kind::kFullStop;
  if (c == 0x37e) return Kind::kStrong;            // the Greek question mark
  if (c == 0xa1 || c == 0xbf) return Kind::kOpen;  // inverted marks
  if (c == '\'') return Kind::kQuote;
  if (c == ';') return Kind::kContinue;  // as newer versions of Unicode have it
  if (IsOneOf(c, U"\u17d4\u17d5\u0f0d\u0f0e")) return Kind::kStrong;  // Khmer, Tibetan
  const int8_t category = u_charType(c);
  if (category == U_DASH_PUNCTUATION) return Kind::kDash;
  switch (u_getIntPropertyValue(c, UCHAR_SENTENCE_BREAK)) {
    // clang-format off
    case U_SB_CR: case U_SB_LF: case U_SB_SEP: return Kind::kBreak;
    case U_SB_UPPER: return Kind::kUpper;
    case U_SB_LOWER: return Kind::kLower;
    case U_SB_OLETTER: return Kind::kLetter;
    case U_SB_NUMERIC: return Kind::kDigit;
    case U_SB_ATERM: return Kind::kFullStop;
    case U_SB_STERM: return Kind::kStrong;
    case U_SB_SCONTINUE: return Kind::kContinue;
    // clang-format on
    case U_SB_CLOSE:
      if (category == U_START_PUNCTUATION) return Kind::kOpen;
      return category == U_END_PUNCTUATION ? Kind::kClose : Kind::kQuote;
    case U_SB_EXTEND:
    case U_SB_FORMAT:
      return IsBlank(c) ? Kind::kBlank : Kind::kMark;
    default:
      return IsBlank(c) ? Kind::kBlank : Kind::kOther;
  }
}

bool IsVowel(UChar32 c) {
  constexpr std::u32string_view kVowels =
      U"aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýÿāăąēĕėęěĩīĭįıōŏőœũūŭůűųơư"
      U"ạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ"
      U"αεηιουωάέήίόύώϊϋΐΰаеёиоуыэюяіїєўәөүұ";
  return IsOneOf(u_tolower(c), kVowels);
}

// Returns a language's abbreviations in ICU's data, without their last full stops. ICU's own
// iterator over them, FilteredBreakIterator, is of no use here: it also finds them at the ends of
// longer words, such as "r." in "wieder.".
std::set<std::string, std::less<>> CldrAbbreviations(const std::string& language) {
  std::set<std::string, std::less<>> words;
  UErrorCode status = U_ZERO_ERROR;
  // ures_open would give an unknown language the words of the environment's locale.
  const icu::LocalUResourceBundlePointer bundle(
      ures_openDirect(U_ICUDATA_NAME "-brkitr", language.c_str(), &status));
  const icu::LocalUResourceBundlePointer exceptions(
      ures_getByKey(bundle.getAlias(), "exceptions", nullptr, &status));
  const icu::LocalUResourceBundlePointer list(
      ures_getByKey(exceptions.getAlias(), "SentenceBreak", nullptr, &status));
  while (U_SUCCESS(status) && ures_hasNext(list.getAlias()) != 0) {
    int32_t length = 0;
    const UChar* text = ures_getNextString(list.getAlias(), &length, nullptr, &status);
    if (U_FAILURE(status)) break;
    std::string word;
    icu::UnicodeString(text, length).toUTF8String(word);
    words.emplace(absl::StripSuffix(word, "."));
  }
  return words;
}

}  // namespace

SentenceRules::SentenceRules(const std::string& language) : cldr_(CldrAbbreviations(language)) {
  constexpr absl::string_view kLists[] = {"never", "number",  "sometimes", "compounds",
                                          "ends",  "starter", "capital",   "ordinals"};
  for (absl::string_view line : absl::StrSplit(kWords, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() < 3 || (words[0] != language && words[0] != "*")) continue;
    const auto* list = std::find(std::begin(kLists), std::end(kLists), words[1]);
    if (list == std::end(kLists)) continue;
    lists_[static_cast<size_t>(list - kLists)].insert(words.begin() + 2, words.end());
  }
  ordinals_ = lists_[kOrdinals].contains(language);
  for (size_t c = 0; c < ascii_.size(); ++c) ascii_[c] = Classify(static_cast<UChar32>(c));
  if (language == "el") ascii_[';'] = Kind::kStrong;  // the Greek question mark
  if (language == "hy") ascii_[':'] = Kind::kStrong;  // for the Armenian full stop
}

CharacterKind SentenceRules::KindOf(int32_t character) const {
  return character >= 0 && character < 128 ? ascii_[static_cast<size_t>(character)]
                                           : Classify(character);
}

bool SentenceRules::EndsShort(absl::string_view word) const {
  ABSL_ASSERT(absl::c_none_of(word, absl::ascii_isupper));
  const auto& ends = lists_[kCompounds];
  return std::any_of(ends.begin(), ends.end(), [&](const std::string& end) {
    return word.size() > end.size() && absl::EndsWith(word, end);
  });
}

WordShape SentenceRules::ShapeOf(absl::string_view word) const {
  WordShape shape;
  int part = 0;
  for (size_t i = 0; i < word.size();) {
    const UChar32 c = NextCharacter(word, &i);
    ++shape.characters;
    if (c == '.') {
      ++shape.parts;
      part = 0;
      continue;
    }
    const Kind kind = KindOf(c);
    shape.letters &= IsLetter(kind) || kind == Kind::kMark;
    shape.digits &= kind == Kind::kDigit;
    shape.roman &= c == 'I' || c == 'V' || c == 'X';
    shape.near &= c < 0x700;
    shape.vowel |= IsVowel(c);
    shape.lower |= kind == Kind::kLower;
    if (kind == Kind::kUpper) ++shape.capitals;
    shape.longest = std::max(shape.longest, ++part);
  }
  return shape;
}

}  // namespace nibu::internal
