// Changes the case of letters with ICU.
#include "tokenizer/unicode/capitals.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <cstdint>

#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

icu::UnicodeString Decode(absl::string_view text) {
  return icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
}

icu::Locale LocaleOf(const std::string& language) {
  return language.empty() ? icu::Locale::getRoot() : icu::Locale::createCanonical(language.c_str());
}

bool IsOfWord(int32_t character) {
  return u_isalpha(character) || (U_GET_GC_MASK(character) & U_GC_M_MASK) != 0;
}

}  // namespace

std::string ToLower(absl::string_view text, const std::string& language) {
  std::string lower;
  return Decode(text).toLower(LocaleOf(language)).toUTF8String(lower);
}

std::string ToUpper(absl::string_view text, const std::string& language) {
  std::string upper;
  return Decode(text).toUpper(LocaleOf(language)).toUTF8String(upper);
}

std::vector<TextSpan> CapitalWords(absl::string_view text) {
  std::vector<TextSpan> words;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    size_t end = at;
    bool has_capitals = false;
    bool has_others = false;
    for (; at < text.size(); end = at) {
      const int32_t character = NextCharacter(text, &at);
      if (!IsOfWord(character)) break;
      has_capitals |= u_isUUppercase(character) != 0;
      has_others |= u_isalpha(character) && !u_isUUppercase(character);
    }
    if (has_capitals && !has_others) words.push_back({begin, end});
  }
  return words;
}

bool HasSmallLetters(absl::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (u_isULowercase(NextCharacter(text, &at))) return true;
  }
  return false;
}

}  // namespace nibu::internal
