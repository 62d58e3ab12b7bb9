// Makes answers in JSON.
#ifndef NIBU_TOOLS_SERVE_ANSWERS_H_
#define NIBU_TOOLS_SERVE_ANSWERS_H_

#include <string>

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
  answer.retry_after = retry_after;
  return answer;
}

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_ANSWERS_H_
