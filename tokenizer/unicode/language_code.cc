// Parses language codes with ICU's locales, and compares their parts.
#include "tokenizer/unicode/language_code.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace nibu::internal {
namespace {

// Returns true if one language is the macrolanguage of the other. Other such pairs need no entry,
// because ICU gives both the same code.
bool AreKin(absl::string_view a, absl::string_view b) {
  static constexpr std::pair<absl::string_view, absl::string_view> kKin[] = {
      {"no", "nb"}, {"no", "nn"}, {"ps", "pbt"}, {"qu", "quy"}, {"ff", "fuv"}};
  return std::any_of(std::begin(kKin), std::end(kKin), [&](const auto& kin) {
    return kin == std::pair(a, b) || kin == std::pair(b, a);
  });
}

}  // namespace

LanguageCode::LanguageCode(absl::string_view code) {
  icu::Locale locale = icu::Locale::createCanonical(std::string(code).c_str());
  if (locale.isBogus()) return;
  language = locale.getLanguage();
  region = locale.getCountry();
  if (region == "XX") region.clear();  // mBART's word for no region: "ar_XX" is one of its codes
  says_script = *locale.getScript() != 0 || !region.empty();
  UErrorCode status = U_ZERO_ERROR;
  locale.addLikelySubtags(status);
  script = locale.getScript();
}

bool IsOneLanguage(absl::string_view code) {
  const LanguageCode parts(code);
  return !parts.language.empty() && !parts.script.empty();
}

bool IsLanguageCode(absl::string_view code) {
  const absl::string_view language = code.substr(0, code.find_first_of("-_"));
  return (language.size() == 2 || language.size() == 3) &&
         std::all_of(language.begin(), language.end(), absl::ascii_isalpha);
}

std::vector<std::string> SameLanguage(absl::string_view code, absl::Span<const std::string> codes) {
  const LanguageCode wanted(code);
  std::vector<std::string> same;
  std::vector<std::string> same_region;
  std::vector<std::string> kin;
  if (wanted.language.empty()) return same;
  for (const std::string& known : codes) {
    const LanguageCode language(known);
    if (AreKin(language.language, wanted.language)) kin.push_back(known);
    if (language.language != wanted.language) continue;
    if (wanted.says_script && language.script != wanted.script) continue;
    same.push_back(known);
    if (!wanted.region.empty() && language.region == wanted.region) same_region.push_back(known);
  }
  if (same.empty()) return kin;
  return same_region.empty() ? same : same_region;
}

std::string ShortLanguageCode(absl::string_view code) {
  const LanguageCode full(code);
  if (full.language == "pt" && full.region == "BR") return "pt-BR";
  const bool is_usual = LanguageCode(full.language).script == full.script;
  if (full.script.empty() || (is_usual && full.language != "zh")) return full.language;
  return absl::StrCat(full.language, "-", full.script);
}

std::string LanguageName(absl::string_view code) {
  const icu::Locale locale = icu::Locale::createCanonical(std::string(code).c_str());
  icu::UnicodeString name;
  std::string text;
  locale.getDisplayName(icu::Locale::getEnglish(), name).toUTF8String(text);
  return text.empty() ? std::string(code) : text;
}

}  // namespace nibu::internal
