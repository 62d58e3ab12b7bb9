// Writes metrics in Prometheus' text format.

#include "tools/serve/metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/str_cat.h"

namespace nibu::internal {

void MetricsText::Add(absl::string_view name, absl::string_view type, absl::string_view help,
                      double value) {
  AddHead(name, type, help);
  AddValue(name, "", value);
}

void MetricsText::AddHead(absl::string_view name, absl::string_view type, absl::string_view help) {
  absl::StrAppend(&text_, "# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
}

void MetricsText::AddValue(absl::string_view name, absl::string_view labels, double value) {
  absl::StrAppend(&text_, name);
  if (!labels.empty()) absl::StrAppend(&text_, "{", labels, "}");
  const auto whole = static_cast<int64_t>(value);
  if (static_cast<double>(whole) == value) {
    absl::StrAppend(&text_, " ", whole, "\n");
  } else {
    absl::StrAppend(&text_, " ", value, "\n");
  }
}

void RequestCounts::Add(const std::string& path, int status, double seconds) {
  ++answers_[{path, status}];
  if (path != "/translate" || status != 200) return;
  ++timed_;
  seconds_ += seconds;
  for (size_t i = 0; i < kBuckets.size(); ++i) {
    if (seconds <= kBuckets[i]) ++buckets_[i];
  }
}

void RequestCounts::AppendTo(MetricsText* metrics) const {
  metrics->AddHead("nibu_requests_total", "counter", "Requests that were answered.");
  for (const auto& [key, count] : answers_) {
    metrics->AddValue("nibu_requests_total",
                      absl::StrCat("path=\"", key.first, "\",status=\"", key.second, "\""),
                      static_cast<double>(count));
  }
  constexpr char kTimes[] = "nibu_translate_seconds";
  metrics->AddHead(kTimes, "histogram", "Seconds from a request to its translation.");
  for (size_t i = 0; i < kBuckets.size(); ++i) {
    metrics->AddValue(absl::StrCat(kTimes, "_bucket"), absl::StrCat("le=\"", kBuckets[i], "\""),
                      static_cast<double>(buckets_[i]));
  }
  metrics->AddValue(absl::StrCat(kTimes, "_bucket"), "le=\"+Inf\"", static_cast<double>(timed_));
  metrics->AddValue(absl::StrCat(kTimes, "_sum"), "", seconds_);
  metrics->AddValue(absl::StrCat(kTimes, "_count"), "", static_cast<double>(timed_));
}

size_t MemoryInUse() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0;
  size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace nibu::internal
