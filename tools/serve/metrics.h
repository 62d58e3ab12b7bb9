// Counts what a server has done so far, for Prometheus.
#ifndef NIBU_TOOLS_SERVE_METRICS_H_
#define NIBU_TOOLS_SERVE_METRICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// Writes the text format of Prometheus,
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format.
class MetricsText {
 public:
  // Adds a metric of one value. `type`: "counter" or "gauge".
  void Add(absl::string_view name, absl::string_view type, absl::string_view help, double value);
  // Adds the head of a metric, whose values follow by AddValue. `labels`: `path="/translate"`.
  void AddHead(absl::string_view name, absl::string_view type, absl::string_view help);
  void AddValue(absl::string_view name, absl::string_view labels, double value);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Counts the answers to requests. Used by one thread.
class RequestCounts {
 public:
  // `path` must be one of a fixed set, since each makes a line of the metrics.
  void Add(const std::string& path, int status, double seconds);
  void AppendTo(MetricsText* metrics) const;

 private:
  // Upper ends of the histogram's buckets, in seconds.
  static constexpr std::array<double, 12> kBuckets = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                      0.5,   1,    2.5,   5,    10,  30};

  std::map<std::pair<std::string, int>, uint64_t> answers_;
  // The histogram of the times of answers with status 200 to the path that translates.
  std::array<uint64_t, kBuckets.size()> buckets_{};
  uint64_t timed_ = 0;
  double seconds_ = 0;
};

// Return the bytes of memory that the process holds now, and the seconds of CPU time that it has
// used.
size_t MemoryInUse();
double CpuSeconds();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_METRICS_H_
