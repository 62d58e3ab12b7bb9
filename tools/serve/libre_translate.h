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
#include "tools/serve/catalog.h"
#include "tools/serve/http.h"
#include "tools/serve/parameters.h"
#include "tools/serve/result_cache.h"

namespace nibu::internal {

struct RequestLimits {
  size_t max_texts = 1000;
  size_t max_characters = 100'000;  // of one text
  int max_alternatives = 10;
};

// A valid request for /translate.
struct TranslateRequest {
  std::vector<std::string> texts;
  size_t characters = 0;  // the sum over all texts
  bool is_list = false;   // The answer is to be a list, too.
  bool is_html = false;
  int alternatives = 0;
  double timeout = 0;  // In seconds; 0: none.
  std::string source;  // Codes of the catalog; empty if the texts are in no language.
  std::string target;
  // The detected language, for a source "auto"; null otherwise.
  nlohmann::json detected;
  // The models to be used. It is nullopt if the texts themselves are the answer, since source and
  // target are the same language, or the texts are in no language.
  std::optional<Route> route;
};

// Checks a request, in LibreTranslate's order. Returns InvalidArgument with the answer's message if
// it makes no sense.
absl::StatusOr<TranslateRequest> ReadTranslateRequest(const Parameters& parameters,
                                                      const Catalog& catalog,
                                                      const RequestLimits& limits);

// Returns the answer to a request with the translations of each text, best first.
HttpAnswer TranslateAnswer(const TranslateRequest& request,
                           const std::vector<Translations>& translations);

// Answers /detect, /languages and /frontend/settings.
HttpAnswer DetectAnswer(const Parameters& parameters, const Catalog& catalog,
                        const RequestLimits& limits);
HttpAnswer LanguagesAnswer(const Catalog& catalog);
HttpAnswer SettingsAnswer(const Catalog& catalog, const RequestLimits& limits, bool needs_key);
// Answers /spec with the description of the interface (Swagger 2.0).
HttpAnswer SpecAnswer();

// Returns the parameter "api_key" if it is a text, else an empty string.
std::string ApiKeyOf(const Parameters& parameters);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_LIBRE_TRANSLATE_H_
