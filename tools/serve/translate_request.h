// A request for translations, whichever system's interface it came by.
#ifndef NIBU_TOOLS_SERVE_TRANSLATE_REQUEST_H_
#define NIBU_TOOLS_SERVE_TRANSLATE_REQUEST_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "tools/serve/http.h"
#include "tools/serve/model_store.h"
#include "tools/serve/parameters.h"
#include "tools/serve/result_cache.h"
#include "tools/serve/serve_options.h"
#include "tools/text/model/catalog.h"

namespace nibu::internal {

class Glossaries;
class TranslatedFiles;

// What requests are checked against.
struct RequestContext {
  const Catalog& catalog;
  const ServeOptions& options;
  const Glossaries& glossaries;
  TranslatedFiles* files;
};

// The texts of a request that have the same source language.
struct TextGroup {
  std::string source;         // A code, of the catalog unless the texts are in no language.
  std::vector<size_t> texts;  // their indices
  // The models to be used. It is nullopt if the texts themselves are the answer, since source and
  // target are the same language, or the texts are in no language.
  std::optional<Route> route;
};

// A valid request.
struct TranslateRequest {
  std::vector<std::string> texts;
  std::vector<size_t> characters;  // of each text
  bool is_list = false;            // The answer is to be a list, too.
  PlanChoice choice;
  double timeout = 0;  // In seconds; 0: none.
  std::string target;  // a code of the catalog
  // The detected language of each text, for a source "auto"; otherwise empty.
  std::vector<nlohmann::json> detected;
  std::vector<TextGroup> groups;  // Each text is in one of them.

  // Returns the answer, from the translations of each text, best first. The texts may be gone by
  // then.
  std::function<HttpAnswer(const TranslateRequest& request,
                           const std::vector<Translations>& translations)>
      write;

  // Returns the code of each text's language.
  std::vector<std::string> sources() const {
    std::vector<std::string> sources(characters.size());
    for (const TextGroup& group : groups) {
      for (const size_t text : group.texts) sources[text] = group.source;
    }
    return sources;
  }
};

// Reads the request of an interface. Returns NotFound if the request names a glossary that is not
// there, OutOfRange if it is too large, and InvalidArgument if it makes no sense.
using ReadRequest = absl::StatusOr<TranslateRequest> (*)(const HttpRequest& http,
                                                         const Parameters& parameters,
                                                         const RequestContext& context);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_TRANSLATE_REQUEST_H_
