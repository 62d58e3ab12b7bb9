// LibreTranslate's interface, as its version 1.9.6 has it: reads requests, and makes answers and
// errors.
//
// Source: https://github.com/LibreTranslate/LibreTranslate, libretranslate/app.py and language.py.
// Differences: entities of HTML stay escaped in the answer, parameters of wrong types are errors of
// the client (400, not 500), and the parameter "timeout" is nibu's own.
#ifndef NIBU_TOOLS_SERVE_LIBRE_TRANSLATE_H_
#define NIBU_TOOLS_SERVE_LIBRE_TRANSLATE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "tools/serve/http.h"
#include "tools/serve/parameters.h"
#include "tools/serve/result_cache.h"
#include "tools/serve/serve_options.h"
#include "tools/text/model/catalog.h"

namespace nibu::internal {

// The texts of a request that have the same source language.
struct TextGroup {
  std::string source;         // A code, of the catalog unless the texts are in no language.
  std::vector<size_t> texts;  // their indices
  // The models to be used. It is nullopt if the texts themselves are the answer, since source and
  // target are the same language, or the texts are in no language.
  std::optional<Route> route;
};

// A valid request for /translate.
struct TranslateRequest {
  std::vector<std::string> texts;
  std::vector<size_t> characters;  // of each text
  bool is_list = false;            // The answer is to be a list, too.
  bool is_html = false;
  int alternatives = 0;
  double timeout = 0;  // In seconds; 0: none.
  std::string target;  // a code of the catalog
  // The detected language of each text, for a source "auto"; otherwise empty.
  std::vector<nlohmann::json> detected;
  std::vector<TextGroup> groups;  // Each text is in one of them.
};

// Checks a request, in LibreTranslate's order. Returns InvalidArgument with the answer's message if
// it makes no sense.
absl::StatusOr<TranslateRequest> ReadTranslateRequest(const Parameters& parameters,
                                                      const Catalog& catalog,
                                                      const ServeOptions& options);

// Returns the answer to a request with the translations of each text, best first.
HttpAnswer TranslateAnswer(const TranslateRequest& request,
                           const std::vector<Translations>& translations);

// Answers /detect, /languages and /frontend/settings.
HttpAnswer DetectAnswer(const Parameters& parameters, const Catalog& catalog,
                        const ServeOptions& options);
HttpAnswer LanguagesAnswer(const Catalog& catalog);
HttpAnswer SettingsAnswer(const Catalog& catalog, const ServeOptions& options, bool needs_key);
// Answers /spec with the description of the interface (Swagger 2.0).
HttpAnswer SpecAnswer();

// Returns the parameter "api_key", which is empty if it is missing. It must be a text.
absl::StatusOr<std::string> ApiKeyOf(const Parameters& parameters);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_LIBRE_TRANSLATE_H_
