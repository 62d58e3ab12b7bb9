// DeepL's interface: texts, languages, usage and glossaries of its version 2, and the languages of
// version 3.
//
// Source: https://developers.deepl.com/api-reference and the clients deepl-python 1.30 and
// deepl-node. Differences: formality, context and preserve_formatting are checked, but change
// nothing, since the models know none of them; glossaries belong to all keys; documents are not
// translated.
#ifndef NIBU_TOOLS_SERVE_DEEPL_H_
#define NIBU_TOOLS_SERVE_DEEPL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "tools/serve/access.h"
#include "tools/serve/glossaries.h"
#include "tools/serve/http.h"
#include "tools/serve/parameters.h"
#include "tools/serve/translate_request.h"
#include "tools/text/model/catalog.h"

namespace nibu::internal {

// Reads a request for /v2/translate.
absl::StatusOr<TranslateRequest> ReadDeepL(const HttpRequest& http, const Parameters& parameters,
                                           const RequestContext& context);

// Answers /v2/languages, /v3/languages, /v2/usage and /v2/glossary-language-pairs.
HttpAnswer DeepLLanguagesAnswer(const Parameters& parameters, const Catalog& catalog);
HttpAnswer DeepLLanguagesV3Answer(const Parameters& parameters, const Catalog& catalog,
                                  bool has_glossaries);
// `own`: the characters of the client that asks, if it has a limit; `all`: those of all clients.
HttpAnswer DeepLUsageAnswer(const Access::Characters& own, uint64_t all);
HttpAnswer DeepLGlossaryPairsAnswer(const Catalog& catalog, bool has_glossaries);

// Answers a GET of /v2/glossaries and, with an id, of /v2/glossaries/ID and of
// /v2/glossaries/ID/entries.
HttpAnswer DeepLGlossaryAnswer(const std::string& id, bool wants_entries,
                               const Glossaries& glossaries);
// Returns what DeepL tells about a glossary.
nlohmann::json DeepLGlossaryInfo(const std::string& id, const StoredGlossary& glossary);

// A glossary that a client wants to be made.
struct NewGlossary {
  std::string name;
  Terms terms;
};
// Reads a POST of /v2/glossaries.
absl::StatusOr<NewGlossary> ReadDeepLGlossary(const Parameters& parameters, const Catalog& catalog);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_DEEPL_H_
