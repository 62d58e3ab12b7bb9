// LibreTranslate's interface, as its version 1.9.6 has it: reads requests, and makes answers and
// errors.
//
// Source: https://github.com/LibreTranslate/LibreTranslate, libretranslate/app.py and language.py.
// Differences: entities of HTML stay escaped in the answer, parameters of wrong types are errors of
// the client (400, not 500), and the parameters "timeout", "glossary" and "do_not_translate" are
// nibu's own.
#ifndef NIBU_TOOLS_SERVE_LIBRE_TRANSLATE_H_
#define NIBU_TOOLS_SERVE_LIBRE_TRANSLATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/serve/http.h"
#include "tools/serve/parameters.h"
#include "tools/serve/result_cache.h"
#include "tools/serve/serve_options.h"
#include "tools/serve/translate_request.h"
#include "tools/text/model/catalog.h"

namespace nibu::internal {

// Reads a request, and checks it in LibreTranslate's order.
absl::StatusOr<TranslateRequest> ReadLibreTranslate(const HttpRequest& http,
                                                    const Parameters& parameters,
                                                    const RequestContext& context);

// Returns the answer to a request with the translations of each text, best first.
HttpAnswer TranslateAnswer(const TranslateRequest& request,
                           const std::vector<Translations>& translations);

// Returns whether another language of the catalog is translated into this one, which is of it.
bool IsTarget(const Catalog& catalog, const ServedLanguage& language);

// Answers /detect, /languages and /frontend/settings.
HttpAnswer DetectAnswer(const Parameters& parameters, const Catalog& catalog,
                        const ServeOptions& options);
HttpAnswer LanguagesAnswer(const Catalog& catalog);
HttpAnswer SettingsAnswer(const Catalog& catalog, const ServeOptions& options, bool needs_key);
// Answers /spec with the description of the interface (Swagger 2.0), whose paths have a prefix.
HttpAnswer SpecAnswer(const std::string& url_prefix);

// Returns the parameter "api_key" or, as others call it, "auth_key" or "token". It is empty if it
// is missing, and must be a text.
absl::StatusOr<std::string> ApiKeyOf(const Parameters& parameters);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_LIBRE_TRANSLATE_H_
