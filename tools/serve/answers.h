// Makes answers in JSON.
#ifndef NIBU_TOOLS_SERVE_ANSWERS_H_
#define NIBU_TOOLS_SERVE_ANSWERS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
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

inline std::string HtmlEscaped(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

inline HttpAnswer HtmlAnswer(std::string body) {
  HttpAnswer answer;
  answer.content_type = "text/html; charset=utf-8";
  answer.body = std::move(body);
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
  kPage,            // a page of HTML
};

// Returns the form of the errors of a path, which may have a prefix.
inline ErrorForm ErrorFormOf(absl::string_view path) {
  for (const absl::string_view part : {"/v1/", "/v2/", "/v3/"}) {
    if (absl::StrContains(path, part)) return ErrorForm::kDeepL;
  }
  return absl::EndsWith(path, "/page") ? ErrorForm::kPage : ErrorForm::kLibreTranslate;
}

// Gives an error its form; other answers stay as they are.
inline HttpAnswer WithErrorForm(HttpAnswer answer, ErrorForm form) {
  if (answer.error.empty() || form == ErrorForm::kLibreTranslate) return answer;
  if (form == ErrorForm::kPage) {
    HttpAnswer page = HtmlAnswer(absl::StrCat(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Error - "
        "nibu</title><link rel=\"stylesheet\" href=\"page_style.css\"></head><body><p "
        "role=\"alert\">",
        HtmlEscaped(answer.error), "</p><p><a href=\"./\">Back</a></p></body></html>\n"));
    answer.content_type = std::move(page.content_type);
    answer.body = std::move(page.body);
    return answer;
  }
  nlohmann::json json = {{"message", answer.error}};
  if (form == ErrorForm::kDeepLX) json["code"] = answer.status;
  answer.body = JsonAnswer(json).body;
  return answer;
}

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_ANSWERS_H_
