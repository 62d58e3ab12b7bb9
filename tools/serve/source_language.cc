// Asks the detector of a catalog, and mistrusts it about short texts.

#include "tools/serve/source_language.h"

#include <cmath>
#include <cstddef>

#include "absl/algorithm/container.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

// A text of fewer letters is in the language that was found only with so much confidence (in
// percent). CLD2 was made for texts of 200 letters.
constexpr size_t kFewLetters = 20;
constexpr double kSure = 90;

Json Found(const std::string& code, double confidence) {
  return {{"language", code}, {"confidence", confidence}};
}

// Counts up to kFewLetters letters of a text, without those in tags.
size_t CountLetters(absl::string_view text, bool is_html) {
  size_t count = 0;
  bool is_tag = false;
  for (size_t i = 0; i < text.size() && count < kFewLetters;) {
    const size_t begin = i;
    const int32_t character = NextCharacter(text, &i);
    if (is_html && (character == '<' || character == '>')) is_tag = character == '<';
    if (!is_tag && HasLetters(text.substr(begin, i - begin))) ++count;
  }
  return count;
}

}  // namespace

Json DetectLanguages(absl::string_view text, bool is_html, const Catalog& catalog) {
  const auto languages = catalog.detector().Detect(text, is_html ? Markup::kHtml : Markup::kNone);
  Json found = Json::array();
  if (languages.ok()) {
    for (const DetectedLanguage& language : *languages) {
      found.push_back(Found(language.code, std::round(language.confidence * 100.0)));
    }
  }
  if (found.empty()) found.push_back(Found("en", 0.0));
  return found;
}

Json ChooseSource(absl::string_view text, bool is_html, const std::string& target,
                  const Catalog& catalog) {
  const Json found = DetectLanguages(text, is_html, catalog);
  const double confidence = found[0]["confidence"];
  const size_t letters = CountLetters(text, is_html);
  if (confidence >= kSure || letters == 0 || letters >= kFewLetters) return found[0];
  const auto is_source = [&](const std::string& code) {
    const ServedLanguage* const language = catalog.FindLanguage(code);
    return language != nullptr && code != target &&
           absl::c_linear_search(language->targets, target);
  };
  for (const Json& each : found) {
    if (is_source(each["language"])) return each;
  }
  if (is_source("en")) return Found("en", 0.0);
  for (const ServedLanguage& language : catalog.languages()) {
    if (is_source(language.code)) return Found(language.code, 0.0);
  }
  return found[0];
}

}  // namespace nibu::internal
