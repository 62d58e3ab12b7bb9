// The pages for people: one to translate, which works without JavaScript, too, and one that shows
// the description of the interface.
#ifndef NIBU_TOOLS_SERVE_PAGE_H_
#define NIBU_TOOLS_SERVE_PAGE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/serve/http.h"
#include "tools/serve/parameters.h"
#include "tools/serve/translate_request.h"
#include "tools/text/model/catalog.h"

namespace nibu::internal {

// Answers / with the page as it begins.
HttpAnswer PageAnswer(const Catalog& catalog, bool needs_key);
// Answers the file of a page: "/docs", "/page_style.css", "/page_program.js", "/docs_program.js".
HttpAnswer PageFileAnswer(absl::string_view path);

// Reads the page's form, sent by a browser without JavaScript: "q", "source", "target". The answer
// is the page with the translation.
absl::StatusOr<TranslateRequest> ReadPage(const HttpRequest& http, const Parameters& parameters,
                                          const RequestContext& context);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_PAGE_H_
