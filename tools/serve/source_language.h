// Finds out the languages of texts whose source is "auto".
#ifndef NIBU_TOOLS_SERVE_SOURCE_LANGUAGE_H_
#define NIBU_TOOLS_SERVE_SOURCE_LANGUAGE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "tools/text/model/catalog.h"

namespace nibu::internal {

// Returns the languages that a text may be in, as LibreTranslate writes them, the most probable
// first: {"language": "de", "confidence": 51.0}. It is "en" with confidence 0 if none is found.
nlohmann::json DetectLanguages(absl::string_view text, bool is_html, const Catalog& catalog);

// Returns the one of these languages from which a text is to be translated into `target`. This is
// the most probable one, unless the text has so few letters that nobody can be sure: "Hello" may be
// German. Then it is the most probable one that can be translated into the target; if none of them
// can, it is English or else the first language of the catalog that can, with confidence 0.
nlohmann::json ChooseSource(absl::string_view text, bool is_html, const std::string& target,
                            const Catalog& catalog);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_SOURCE_LANGUAGE_H_
