// LibreTranslate's interface, as its version 1.9.6 has it: what a request asks for, the errors of
// those that make no sense, and the answers.
//
// Source: https://github.com/LibreTranslate/LibreTranslate, libretranslate/app.py and language.py.
// Departures: entities of HTML stay escaped in the answer, requests of the wrong types are errors
// of the client (400, not 500), and "timeout" is a parameter of nibu's own.
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
  size_t max_characters = 100'000;  // of a text
  int max_alternatives = 10;
};

// A request of /translate that makes sense.
struct TranslateRequest {
  std::vector<std::string> texts;
  size_t characters = 0;  // of all texts
  bool is_list = false;   // The answer is to be a list, too.
  bool is_html = false;
  int alternatives = 0;
  double timeout = 0;  // In seconds; 0: none.
  std::string source;  // Codes of the catalog. Empty: the texts are in no language.
  std::string target;
  // What was detected, for a source "auto"; null otherwise.
  nlohmann::json detected;
  // The models to be asked. No value: the texts are the answer, since source and target are one
  // language, or the texts are in no language.
  std::optional<Route> route;
};

// Checks a request, in LibreTranslate's order. InvalidArgument: it makes no sense; the message is
// the answer's.
absl::StatusOr<TranslateRequest> ReadTranslateRequest(const Parameters& parameters,
                                                      const Catalog& catalog,
                                                      const RequestLimits& limits);

// The answer to it: translations of each text, the best one first.
HttpAnswer TranslateAnswer(const TranslateRequest& request,
                           const std::vector<Translations>& translations);

// Answers /detect, /languages and /frontend/settings.
HttpAnswer DetectAnswer(const Parameters& parameters, const Catalog& catalog,
                        const RequestLimits& limits);
HttpAnswer LanguagesAnswer(const Catalog& catalog);
HttpAnswer SettingsAnswer(const Catalog& catalog, const RequestLimits& limits, bool needs_key);
// Answers /spec: the description of the interface (Swagger 2.0).
HttpAnswer SpecAnswer();

// The parameter "api_key", where it is a text; else empty.
std::string ApiKeyOf(const Parameters& parameters);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_LIBRE_TRANSLATE_H_
