// The requests of nibu-load, its check of the answers, and its counts. Connections are elsewhere
// (load_connections.h).
#ifndef NIBU_TOOLS_SERVE_LOAD_REPORT_H_
#define NIBU_TOOLS_SERVE_LOAD_REPORT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "nlohmann/json_fwd.hpp"
#include "tools/serve/load_options.h"

namespace nibu::internal {

// The requests of a run, by their indices from 0. Both arguments must outlive it.
class LoadRequests {
 public:
  // REQUIRES: there are lines.
  LoadRequests(const LoadOptions& options, const std::vector<std::string>& lines);

  size_t size() const { return size_; }
  // Returns the texts of a request: the next --texts lines; the first line follows the last one
  // again. If each line is sent once, the last request may have fewer.
  std::vector<absl::string_view> Texts(size_t index) const;
  // Returns the number of characters of these texts.
  uint64_t CountCharacters(size_t index) const;
  // Returns the JSON of a request for /translate. Bytes that are not UTF-8 are replaced.
  std::string Body(size_t index) const;
  // Reads the JSON of an answer with this status. Returns a message if it is malformed, else an
  // empty string. If the answer has translations, they replace those in `translations`.
  std::string ReadAnswer(size_t index, unsigned status, const std::string& body,
                         std::vector<std::string>* translations) const;

 private:
  const LoadOptions& options_;
  const std::vector<std::string>& lines_;
  const size_t texts_;  // number of texts of each request
  const size_t size_;
};

// Durations, of which percentiles are reported in seconds.
class LoadLatencies {
 public:
  void Add(std::chrono::steady_clock::duration duration);
  // Returns {"p50": ..., "max": ...} with these percentiles (nearest rank), or null if there are no
  // durations. REQUIRES: each of them is from 1 to 100.
  nlohmann::ordered_json Report(const std::vector<int>& percentiles) const;

 private:
  std::vector<double> seconds_;
};

// The counts of a run.
struct LoadCounts {
  uint64_t requests = 0;
  std::map<unsigned, uint64_t> answered;  // by status
  uint64_t abandoned = 0;
  uint64_t connection_errors = 0;
  uint64_t characters = 0;  // the sum over the texts that were translated
  double seconds = 0;
  LoadLatencies translated;  // times of answers with 200
  LoadLatencies refused;     // times of answers with 429 or 503
  LoadLatencies health;
  uint64_t health_failures = 0;
  uint64_t held_connections_closed = 0;  // idle and slow connections that the server has closed

  // Returns the JSON object that nibu-load prints.
  std::string Json(const LoadOptions& options) const;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_LOAD_REPORT_H_
