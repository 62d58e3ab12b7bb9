// Makes lines of the log, and names requests.

#include "tools/serve/request_log.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <random>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostId = 128;

// Returns the time as in RFC 3339, "2026-01-31T12:00:00Z".
std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

std::string JsonLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string RequestId(const std::string& given) {
  const auto is_plain = [](unsigned char c) {
    return absl::ascii_isgraph(c) && c != '"' && c != '\\';
  };
  if (!given.empty() && given.size() <= kMostId && absl::c_all_of(given, is_plain)) return given;
  // Names of several servers, and of one that was restarted, must differ in a common log.
  static const auto own = [] {
    std::random_device random;
    return absl::StrCat(absl::Hex(random() & 0xFFFFFFFFU, absl::kZeroPad8));
  }();
  static uint64_t last = 0;
  return absl::StrCat(own, "-", ++last);
}

std::string LogLine(const LogEntry& entry, LogFormat format) {
  if (format == LogFormat::kText) {
    std::string line =
        absl::StrFormat("%s %s %s %s %d %.3fs", Now(), entry.address, entry.method,
                        entry.path.empty() ? "-" : entry.path, entry.status, entry.seconds);
    if (!entry.target.empty()) {
      absl::StrAppend(&line, " ", entry.source, ">", entry.target, " texts=", entry.texts,
                      " characters=", entry.characters);
    }
    return absl::StrCat(line, " id=", entry.id, "\n");
  }
  Json json = {{"time", Now()},          {"kind", "request"},
               {"id", entry.id},         {"address", entry.address},
               {"method", entry.method}, {"path", entry.path},
               {"status", entry.status}, {"seconds", entry.seconds}};
  if (!entry.target.empty()) {
    json["source"] = entry.source;
    json["target"] = entry.target;
    json["texts"] = entry.texts;
    json["characters"] = entry.characters;
  }
  return JsonLine(json);
}

std::string LogMessage(absl::string_view kind, absl::string_view message) {
  return JsonLine(
      {{"time", Now()}, {"kind", std::string(kind)}, {"message", std::string(message)}});
}

// A slow reader of the log must not block the network's thread.
void RequestLog::Write(const std::string& line) {
  pollfd log = {STDERR_FILENO, POLLOUT, 0};
  if (poll(&log, 1, 0) == 1 && (log.revents & POLLOUT) != 0) {
    std::fwrite(line.data(), 1, line.size(), stderr);
  } else {
    ++left_out_;
  }
}

}  // namespace nibu::internal
