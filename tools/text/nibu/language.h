// Tells which language a text is in.
#ifndef NIBU_LANGUAGE_H_
#define NIBU_LANGUAGE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "nibu/export.h"
#include "nibu/options.h"

namespace nibu {

namespace internal {
class LanguageDetector;
}

// A language that a text may be in.
struct DetectedLanguage {
  std::string code = {};
  // The probability, 0 to 1, that the text is in this language. It is low for a few letters, for a
  // text of several languages, and for one in a language that the detector does not know.
  float confidence = 0;
};

// Tells the languages of a list apart. A short list helps: among two languages, far more short
// texts are recognized than among all. Immutable: any number of threads may use one detector.
class NIBU_EXPORT LanguageDetector {
 public:
  // `among` has the codes of the languages that a text may be in, in any common form (de, deu,
  // de-DE, deu_Latn), such as ModelInfo::source_languages; an empty list stands for all languages
  // that are known. If several codes name one language, the first of them is found. A language that
  // is not known is found only if no other one of the list has its script. Returns
  // ResourceExhausted if there is not enough memory.
  static absl::StatusOr<std::unique_ptr<const LanguageDetector>> Create(
      absl::Span<const std::string> among = {});
  ~LanguageDetector();
  LanguageDetector(const LanguageDetector&) = delete;
  LanguageDetector& operator=(const LanguageDetector&) = delete;

  // Returns the languages that a text may be in, the most probable first, with the codes that
  // `among` has. The list is empty if the text has no letters, none of the languages' scripts, or
  // too few. With markup, tags and scripts do not count. Any bytes are allowed; only the first 32
  // KiB of letters count. Returns ResourceExhausted if there is not enough memory.
  absl::StatusOr<std::vector<DetectedLanguage>> Detect(absl::string_view text,
                                                       Markup markup = Markup::kNone) const;

  // Returns the codes (BCP 47, sorted) of the languages that are known.
  static std::vector<std::string> KnownLanguages();

 private:
  explicit LanguageDetector(std::unique_ptr<const internal::LanguageDetector> detector);
  std::unique_ptr<const internal::LanguageDetector> detector_;
};

// Returns a language's code in the form of BCP 47 that web interfaces use, as short as it can be:
// "de" for deu, de-DE and deu_Latn, "zh-Hant" for zh_TW and zho_Hant, "sr-Latn" for srp_Latn,
// "pt-BR" for pt_BR. A script is named if it is not the language's usual one, and for Chinese
// ("zh-Hans"); a region only for Brazilian Portuguese. Returns an empty string if `code` is no
// language's code.
NIBU_EXPORT std::string ShortLanguageCode(absl::string_view code);

// Returns the English name of a language: "German", "Chinese (Traditional)". An unknown code is
// returned as it is.
NIBU_EXPORT std::string LanguageName(absl::string_view code);

}  // namespace nibu

#endif  // NIBU_LANGUAGE_H_
