// What Service knows of paths and of requests on their way. Only its own files include this one.
#ifndef NIBU_TOOLS_SERVE_SERVICE_CALL_H_
#define NIBU_TOOLS_SERVE_SERVICE_CALL_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/serve/answers.h"
#include "tools/serve/service.h"

namespace nibu::internal {

// A path, the checks that apply to it, and what answers it.
struct Service::Endpoint {
  absl::string_view path;     // One that ends in "/" stands for all paths that begin with it.
  absl::string_view methods;  // "POST"; "GET, HEAD"; ...
  bool is_free;               // Neither keys nor limits apply to it.
  // One of these answers: at once, by a translation that `read` reads, or in another way later.
  HttpAnswer (*answer)(const Service& service, const Call& call);
  ReadRequest read = nullptr;
  HttpCancel (Service::*later)(const Call& call) = nullptr;
};

// A request on its way to its answer.
struct Service::Exchange {
  HttpReply reply;
  LogEntry log;
  ErrorForm errors = ErrorForm::kLibreTranslate;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

// A request whose client may ask.
struct Service::Call {
  const HttpRequest& http;
  const std::string rest;  // The part of its path behind the endpoint's.
  const Parameters& parameters;
  const std::string client;
  const std::shared_ptr<Exchange> exchange;
};

// Returns the answer to a translation that makes no sense, or asks for what is not there.
inline HttpAnswer RefusedAnswer(const absl::Status& status, ErrorForm form) {
  int number = 400;
  if (absl::IsNotFound(status) && form == ErrorForm::kDeepL) number = 404;
  if (absl::IsOutOfRange(status) && form == ErrorForm::kDeepL) number = 413;
  if (absl::IsPermissionDenied(status)) number = 403;
  return ErrorAnswer(number, std::string(status.message()));
}

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_SERVICE_CALL_H_
