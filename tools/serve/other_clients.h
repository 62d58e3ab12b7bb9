// The shapes of requests of smaller clients: browser add-ons, and marian-server's WebSocket.
//
// Sources: Immersive Translate's page on custom interfaces,
// https://immersivetranslate.com/docs/services/custom/; DeepLX,
// https://github.com/OwO-Network/DeepLX, service/service.go; nllb-serve,
// https://github.com/thammegowda/nllb-serve, nllb_serve/app.py; marian-server,
// https://github.com/marian-nmt/marian-dev, src/command/marian_server.cpp.
#ifndef NIBU_TOOLS_SERVE_OTHER_CLIENTS_H_
#define NIBU_TOOLS_SERVE_OTHER_CLIENTS_H_

#include "absl/status/statusor.h"
#include "tools/serve/answers.h"
#include "tools/serve/http.h"
#include "tools/serve/parameters.h"
#include "tools/serve/translate_request.h"

namespace nibu::internal {

// Reads Immersive Translate's requests for /imme: `source_lang`, `target_lang` and `text_list`.
absl::StatusOr<TranslateRequest> ReadImmersive(const HttpRequest& http,
                                               const Parameters& parameters,
                                               const RequestContext& context);

// Reads requests for /translate: LibreTranslate's with `q`, DeepLX' with `text`, and nllb-serve's
// with `source` and `src_lang` or `tgt_lang`.
absl::StatusOr<TranslateRequest> ReadTranslate(const HttpRequest& http,
                                               const Parameters& parameters,
                                               const RequestContext& context);
// Returns the form of the errors of such a request.
ErrorForm ErrorFormOf(const Parameters& parameters);

// Reads a message on a WebSocket: lines, whose translations are the lines of the answer, each with
// a line feed behind it. The languages are `source` and `target` of the query that has opened the
// WebSocket or, as marian-server has no others, those of the first model.
absl::StatusOr<TranslateRequest> ReadMarian(const HttpRequest& http, const Parameters& parameters,
                                            const RequestContext& context);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_OTHER_CLIENTS_H_
