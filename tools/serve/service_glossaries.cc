// Answers the paths of glossaries.

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "tools/serve/deepl.h"
#include "tools/serve/service_call.h"

namespace nibu::internal {

// Answers the requests of DeepL's clients for glossaries. Those that change a file are answered
// when that is done, also if the client has gone away meanwhile.
HttpCancel Service::ChangeGlossaries(const Call& call) {
  const std::shared_ptr<Exchange> exchange = call.exchange;
  const auto end = [&](HttpAnswer answer) {
    End(exchange.get(), std::move(answer));
    return nullptr;
  };
  const bool is_post = call.http.method == "POST";
  if (is_post && !glossaries_.is_open()) {
    return end(ErrorAnswer(400, "Glossaries are disabled on this server; it has no --glossaries."));
  }
  if (is_post) {
    auto read = ReadDeepLGlossary(call.parameters, store_.catalog());
    if (!read.ok()) return end(RefusedAnswer(read.status(), exchange->errors));
    glossaries_.Add(read->name, std::move(read->terms),
                    [this, exchange](const absl::StatusOr<std::string>& id) {
                      if (absl::IsResourceExhausted(id.status())) {
                        const std::string message(id.status().message());
                        return End(exchange.get(), ErrorAnswer(456, message));
                      }
                      if (!id.ok())
                        return End(exchange.get(),
                                   FailedAnswer(absl::InternalError(id.status().message())));
                      const nlohmann::json info = DeepLGlossaryInfo(*id, *glossaries_.Find(*id));
                      End(exchange.get(), JsonAnswer(info, 201));
                    });
    return nullptr;
  }
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(call.rest, absl::MaxSplits('/', 1));
  const bool wants_entries = parts.second == "entries";
  if (!parts.second.empty() && (!wants_entries || call.http.method == "DELETE")) {
    return end(ErrorAnswer(404, "there is nothing here; see /spec"));
  }
  HttpAnswer found = DeepLGlossaryAnswer(parts.first, wants_entries, glossaries_);
  if (call.http.method != "DELETE" || found.status != 200) return end(std::move(found));
  glossaries_.Delete(parts.first, [this, exchange](const absl::Status& status) {
    if (!status.ok())
      return End(exchange.get(), FailedAnswer(absl::InternalError(status.message())));
    HttpAnswer gone;
    gone.status = 204;
    End(exchange.get(), std::move(gone));
  });
  return nullptr;
}

}  // namespace nibu::internal
