#ifndef NIBU_TOKENIZER_UNICODE_LANGUAGE_CODE_H_
#define NIBU_TOKENIZER_UNICODE_LANGUAGE_CODE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace nibu::internal {

// The parts of a language code, in ICU's canonical form: "deu_Latn" and "de-DE" are both "de".
struct LanguageCode {
  explicit LanguageCode(absl::string_view code);

  std::string language;      // empty: not a language code
  std::string script;        // ISO 15924; the likely one if the code does not say it
  std::string region;        // empty: the code does not say it
  bool says_script = false;  // the code names a script, or a region that implies one
};

// Those of the codes that mean the language of `code`; both in any common form: BCP-47, ISO 639-1
// or -3, FLORES, mBART's ("de", "deu", "de-DE", "deu_Latn", "de_DE"). A script or region that
// `code` says counts; one that it does not may be any. A region that no code has does not count.
std::vector<std::string> SameLanguage(absl::string_view code, absl::Span<const std::string> codes);

// Returns whether `code` has the form of one: two or three letters, alone or before a script or
// region. Names such as "german" have not.
bool IsLanguageCode(absl::string_view code);

// See nibu/language.h.
std::string ShortLanguageCode(absl::string_view code);
std::string LanguageName(absl::string_view code);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_UNICODE_LANGUAGE_CODE_H_
