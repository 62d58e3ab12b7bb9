// Makes answers in JSON.
#ifndef NIBU_TOOLS_SERVE_ANSWERS_H_
#define NIBU_TOOLS_SERVE_ANSWERS_H_

#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "tools/serve/http.h"

namespace nibu::internal {

// Returns a value on one line, as Flask writes it. Bytes that are not UTF-8 become U+FFFD.
inline HttpAnswer JsonAnswer(const nlohmann::json& json, int status = 200) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return answer;
}

// Returns {"error": "MESSAGE"}, with the seconds after which the client may ask again.
inline HttpAnswer ErrorAnswer(int status, const std::string& message, int retry_after = 0) {
  HttpAnswer answer = JsonAnswer({{"error", message}}, status);
  answer.error = message;
  answer.retry_after = retry_after;
  return answer;
}

// The forms that errors have.
enum class ErrorForm : uint8_t {
  kLibreTranslate,  // {"error": "MESSAGE"}
  kDeepL,           // {"message": "MESSAGE"}
  kDeepLX,          // {"code": STATUS, "message": "MESSAGE"}
};

// Returns the form of the errors of a path.
inline ErrorForm ErrorFormOf(absl::string_view path) {
  for (const absl::string_view prefix : {"/v1/", "/v2/", "/v3/"}) {
    if (absl::StartsWith(path, prefix)) return ErrorForm::kDeepL;
  }
  return ErrorForm::kLibreTranslate;
}

// Gives an error its form; other answers stay as they are.
inline HttpAnswer WithErrorForm(HttpAnswer answer, ErrorForm form) {
  if (answer.error.empty() || form == ErrorForm::kLibreTranslate) return answer;
  nlohmann::json json = {{"message", answer.error}};
  if (form == ErrorForm::kDeepLX) json["code"] = answer.status;
  answer.body = JsonAnswer(json).body;
  return answer;
}

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_ANSWERS_H_
