// Writes the log of requests: a line for each of them.
#ifndef NIBU_TOOLS_SERVE_REQUEST_LOG_H_
#define NIBU_TOOLS_SERVE_REQUEST_LOG_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "tools/serve/serve_options.h"

namespace nibu::internal {

// A line of the log. It tells of a request, and never has a text or a key.
struct LogEntry {
  std::string id;
  std::string address;
  std::string method;
  std::string path;  // the path of its endpoint; empty: there is none
  int status = 0;
  double seconds = 0;
  // A translation has these, too.
  std::string source;
  std::string target;  // empty: it is none
  size_t texts = 0;
  size_t characters = 0;
};

// Returns the name of a request in the log: the one that its client gave it (X-Request-Id), if that
// is at most 128 visible ASCII characters without quotation marks and backslashes, or a new one.
std::string RequestId(const std::string& given);

// Returns a line with its line feed: words with blanks between them, or an object in JSON.
std::string LogLine(const LogEntry& entry, LogFormat format);

// Returns a message about the server itself, such as a warning, as a line of the log in JSON.
std::string LogMessage(absl::string_view kind, absl::string_view message);

// Writes lines to standard error. Used by one thread.
class RequestLog {
 public:
  void Write(const std::string& line);
  // Lines that were left out, since the reader of the log was too slow.
  uint64_t left_out() const { return left_out_; }

 private:
  uint64_t left_out_ = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_REQUEST_LOG_H_
