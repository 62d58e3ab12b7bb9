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
  // Counts texts that were translated between two languages. The first kMostPairs pairs have lines
  // of their own; the others are counted as one, "other".
  void AddTexts(const std::string& source, const std::string& target, size_t texts);
  void AppendTo(MetricsText* metrics) const;

  static constexpr size_t kMostPairs = 100;

 private:
  // Upper ends of the histogram's buckets, in seconds.
  static constexpr std::array<double, 12> kBuckets = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                      0.5,   1,    2.5,   5,    10,  30};
  struct Histogram {
    std::array<uint64_t, kBuckets.size()> buckets{};
    uint64_t count = 0;
    double seconds = 0;
  };

  std::map<std::pair<std::string, int>, uint64_t> answers_;
  // The times of the answers to the path that translates, by the first digit of their status.
  std::map<int, Histogram> times_ = {{2, {}}, {4, {}}, {5, {}}};
  std::map<std::pair<std::string, std::string>, uint64_t> texts_;
};

// Adds the program's version and what its process uses. `start`: when it started, in seconds since
// 1970.
void AddProcess(double start, MetricsText* metrics);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_METRICS_H_
