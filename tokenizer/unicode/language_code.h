// Compares language codes of different standards: "de", "deu_Latn" and "de_DE" are one language.
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
  std::string script;        // ISO 15924; the likely one if the code has none
  std::string region;        // empty: the code has none
  bool says_script = false;  // the code has a script, or a region, which implies one
};

// Returns those of `codes` that mean the language of `code`. All may have any common form: BCP 47,
// ISO 639-1 or -3, FLORES, mBART's ("de", "deu", "de-DE", "deu_Latn", "de_DE"). If `code` has a
// script, or a region, which implies one, the results have that script; and the region, too, if any
// of them has it. If there are none, codes of its macrolanguage, or of a member of it, take their
// place.
std::vector<std::string> SameLanguage(absl::string_view code, absl::Span<const std::string> codes);

// Returns true if `code` is that of one language, of which ICU knows the script, rather than of a
// family of languages such as "roa" (Romance) or "mul" (multiple languages).
bool IsOneLanguage(absl::string_view code);

// Returns true if `code` has the form of a language code: two or three letters, alone or before a
// script or region. Names such as "german" do not have it.
bool IsLanguageCode(absl::string_view code);

// See nibu/language.h.
std::string ShortLanguageCode(absl::string_view code);
std::string LanguageName(absl::string_view code);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_UNICODE_LANGUAGE_CODE_H_
