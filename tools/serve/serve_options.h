// The options of nibu-serve, except those of models and translations.
#ifndef NIBU_TOOLS_SERVE_SERVE_OPTIONS_H_
#define NIBU_TOOLS_SERVE_SERVE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {

enum class LogFormat : uint8_t { kText, kJson };

struct ServeOptions {
  std::string model;  // The last one; FlagValues has all.
  std::string models;
  std::vector<std::string> pin;
  int max_models = 0;
  int idle_minutes = 0;
  std::string config;

  std::string host = "127.0.0.1";
  int port = 5000;
  std::string url_prefix;
  int max_connections = 1024;
  float connection_timeout = 60;  // in seconds
  int drain_seconds = 0;

  int max_body_bytes = 4 << 20;
  int max_texts = 1000;
  int max_characters = 100'000;
  int max_alternatives = 10;
  float request_timeout = 0;  // in seconds

  int max_queue = 512;
  int max_queue_characters = 2'000'000;
  int cache_megabytes = 64;
  std::string glossaries;

  std::string api_keys;
  int requests_per_minute = 0;
  int characters_per_day = 0;
  std::vector<std::string> trusted_proxies;
  bool log_requests = true;
  LogFormat log_format = LogFormat::kText;

  bool metrics = true;
  std::string metrics_address;
  std::string metrics_token;
};

absl::Span<const OptionRow> ServeOptionRows();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_SERVE_OPTIONS_H_
