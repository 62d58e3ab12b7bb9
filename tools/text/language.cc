// Implements nibu::LanguageDetector with the language detector of the tokenizer folder.
#include "nibu/language.h"

#include <utility>

#include "engine/core/exception_status.h"
#include "tokenizer/languages/language_detector.h"
#include "tokenizer/unicode/language_code.h"

namespace nibu {

absl::StatusOr<std::unique_ptr<const LanguageDetector>> LanguageDetector::Create(
    absl::Span<const std::string> among) try {
  auto detector = std::make_unique<const internal::LanguageDetector>(among);
  return std::unique_ptr<const LanguageDetector>(new LanguageDetector(std::move(detector)));
} catch (...) {
  return internal::StatusOfException();
}

LanguageDetector::LanguageDetector(std::unique_ptr<const internal::LanguageDetector> detector)
    : detector_(std::move(detector)) {}
LanguageDetector::~LanguageDetector() = default;

absl::StatusOr<std::vector<DetectedLanguage>> LanguageDetector::Detect(absl::string_view text,
                                                                       Markup markup) const try {
  std::vector<DetectedLanguage> languages;
  for (internal::DetectedLanguage& found : detector_->Detect(text, markup != Markup::kNone)) {
    languages.push_back({std::move(found.code), found.confidence});
  }
  return languages;
} catch (...) {
  return internal::StatusOfException();
}

std::vector<std::string> LanguageDetector::KnownLanguages() {
  return internal::LanguageDetector::KnownLanguages();
}

std::string ShortLanguageCode(absl::string_view code) {
  return internal::IsLanguageCode(code) ? internal::ShortLanguageCode(code) : "";
}

std::string LanguageName(absl::string_view code) { return internal::LanguageName(code); }

}  // namespace nibu
