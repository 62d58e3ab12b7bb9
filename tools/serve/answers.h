// Makes answers in JSON.
#ifndef NIBU_TOOLS_SERVE_ANSWERS_H_
#define NIBU_TOOLS_SERVE_ANSWERS_H_

#include <string>
#include <utility>

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

// Returns {"error": "MESSAGE"}.
inline HttpAnswer ErrorAnswer(int status, const std::string& message) {
  return JsonAnswer({{"error", message}}, status);
}

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_ANSWERS_H_
