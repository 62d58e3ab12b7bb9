// Lists the paths of the server, and what answers each.

#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/serve/deepl.h"
#include "tools/serve/libre_translate.h"
#include "tools/serve/other_clients.h"
#include "tools/serve/page.h"
#include "tools/serve/service_call.h"

namespace nibu::internal {
namespace {

// Returns a path without empty parts, since a base address that ends in a slash is common:
// "http://127.0.0.1:5000//translate".
std::string PlainPath(absl::string_view path) {
  std::string plain;
  for (const absl::string_view part : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    absl::StrAppend(&plain, "/", part);
  }
  return plain.empty() ? "/" : plain;
}

}  // namespace

const Service::Endpoint* Service::Find(const std::string& path, std::string* rest) {
  constexpr absl::string_view kGet = "GET, HEAD";
  constexpr absl::string_view kPost = "POST";
  constexpr absl::string_view kBoth = "GET, HEAD, POST";
  const auto refuse_document = [](const Service&, const Call&) {
    return ErrorAnswer(400, "Documents are not translated by this server.");
  };
  const auto page_file = [](const Service&, const Call& call) {
    return PageFileAnswer(call.exchange->log.path);
  };
  static const auto& endpoints = *new std::vector<Endpoint>{
      {"/", kGet, true,
       [](const Service& service, const auto&) {
         return PageAnswer(service.store_.catalog(), service.access_.has_keys());
       }},
      {"/page", kPost, false, nullptr, ReadPage},
      {"/align", kPost, false, nullptr, nullptr, &Service::Align},
      {"/docs", kGet, true, page_file},
      {"/page_style.css", kGet, true, page_file},
      {"/page_program.js", kGet, true, page_file},
      {"/docs_program.js", kGet, true, page_file},
      {"/translate", kPost, false, nullptr, ReadTranslate},
      {"/detect", kPost, false,
       [](const Service& service, const Call& call) {
         return DetectAnswer(call.parameters, service.store_.catalog(), service.options_);
       }},
      {"/languages", kGet, true,
       [](const Service& service, const auto&) {
         return LanguagesAnswer(service.store_.catalog());
       }},
      {"/frontend/settings", kGet, true,
       [](const Service& service, const auto&) {
         return SettingsAnswer(service.store_.catalog(), service.options_,
                               service.access_.needs_key());
       }},
      {"/spec", kGet, true,
       [](const Service& service, const auto&) { return SpecAnswer(service.options_.url_prefix); }},
      {"/health", kGet, true,
       [](const auto&, const auto&) {
         return JsonAnswer({{"status", "ok"}});
       }},
      {"/ready", kGet, true, [](const Service& service, const auto&) { return service.Ready(); }},
      {"/metrics", kGet, true,
       [](const Service& service, const auto&) { return service.Metrics(); }},
      {"/suggest", kPost, true,
       [](const auto&, const auto&) {
         return ErrorAnswer(403, "Suggestions are disabled on this server.");
       }},
      {"/translate_file", kPost, false, nullptr, ReadFileRequest},
      {"/download_file/", kGet, true,
       [](const Service& service, const Call& call) { return service.files_.Download(call.rest); }},
      {"/imme", kPost, false, nullptr, ReadImmersive},
      {"/v1/translate", kBoth, false, nullptr, ReadDeepL},
      {"/v2/translate", kBoth, false, nullptr, ReadDeepL},
      {"/v2/languages", kBoth, false,
       [](const Service& service, const Call& call) {
         return DeepLLanguagesAnswer(call.parameters, service.store_.catalog());
       }},
      {"/v3/languages", kGet, false,
       [](const Service& service, const Call& call) {
         return DeepLLanguagesV3Answer(call.parameters, service.store_.catalog(),
                                       service.glossaries_.is_open());
       }},
      {"/v2/usage", kBoth, false,
       [](const Service& service, const Call& call) {
         return DeepLUsageAnswer(
             service.access_.CharactersOf(call.client, std::chrono::steady_clock::now()),
             service.jobs_.counts().characters);
       }},
      {"/v2/glossary-language-pairs", kGet, false,
       [](const Service& service, const auto&) {
         return DeepLGlossaryPairsAnswer(service.store_.catalog(), service.glossaries_.is_open());
       }},
      {"/v2/glossaries", kBoth, false, nullptr, nullptr, &Service::ChangeGlossaries},
      {"/v2/glossaries/", "DELETE, GET, HEAD", false, nullptr, nullptr, &Service::ChangeGlossaries},
      {"/v2/document", kPost, false, refuse_document},
      {"/v2/document/", kBoth, false, refuse_document},
  };
  for (const Endpoint& endpoint : endpoints) {
    const bool has_rest = absl::EndsWith(endpoint.path, "/") && endpoint.path != "/";
    if (has_rest ? absl::StartsWith(path, endpoint.path) : path == endpoint.path) {
      *rest = path.substr(endpoint.path.size());
      return &endpoint;
    }
  }
  return nullptr;
}

const Service::Endpoint* Service::FindServed(const HttpRequest& request, std::string* rest) const {
  std::string path = PlainPath(request.path);
  // Load balancers and Prometheus ask the server itself, without the prefix of a proxy.
  const auto is_watching = [&] {
    return path == "/metrics" || path == "/health" || path == "/ready";
  };
  if (!options_.url_prefix.empty() && !is_watching()) {
    if (path != options_.url_prefix &&
        !absl::StartsWith(path, absl::StrCat(options_.url_prefix, "/"))) {
      return nullptr;
    }
    path = PlainPath(path.substr(options_.url_prefix.size()));
  }
  if (request.is_operators && !is_watching()) return nullptr;
  const bool has_metrics =
      options_.metrics && (request.is_operators || options_.metrics_address.empty());
  // Rules of proxies that keep /metrics from others know no other spelling of it.
  const bool is_as_written = request.path == "/metrics";
  if (path == "/metrics" && !(has_metrics && is_as_written)) return nullptr;
  return Find(path, rest);
}

}  // namespace nibu::internal
