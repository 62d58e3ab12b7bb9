// Writes metrics in Prometheus' text format.

#include "tools/serve/metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nibu/version.h"

namespace nibu::internal {
namespace {

// Returns the bytes of memory that the process holds now.
size_t MemoryInUse() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0;
  size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Returns the seconds of CPU time that the process has used.
double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

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
  // With fewer digits, small changes of large sums would be lost, and with them their rates.
  absl::StrAppendFormat(&text_, " %.17g\n", value);
}

void RequestCounts::Add(const std::string& path, int status, double seconds) {
  ++answers_[{path, status}];
  if (path != "/translate" || status < 200) return;
  Histogram& times = times_[status / 100];
  ++times.count;
  times.seconds += seconds;
  for (size_t i = 0; i < kBuckets.size(); ++i) {
    if (seconds <= kBuckets[i]) ++times.buckets[i];
  }
}

void RequestCounts::AddTexts(const std::string& source, const std::string& target, size_t texts) {
  std::pair<std::string, std::string> pair = {source, target};
  if (texts_.size() >= kMostPairs && texts_.count(pair) == 0) pair = {"other", "other"};
  texts_[pair] += texts;
}

void RequestCounts::AppendTo(MetricsText* metrics) const {
  metrics->AddHead("nibu_requests_total", "counter",
                   "Requests that were answered, by path (\"other\": there is no such path) and "
                   "status (499: the client went away).");
  for (const auto& [key, count] : answers_) {
    metrics->AddValue("nibu_requests_total",
                      absl::StrCat("path=\"", key.first, "\",status=\"", key.second, "\""),
                      static_cast<double>(count));
  }
  constexpr char kTimes[] = "nibu_translate_seconds";
  metrics->AddHead(
      kTimes, "histogram",
      "Seconds from the end of a request for /translate to its answer, by the class of "
      "the status.");
  for (const auto& [digit, times] : times_) {
    const std::string status = absl::StrCat("status=\"", digit, "xx\"");
    const auto add_bucket = [&](const auto& end, uint64_t count) {
      metrics->AddValue(absl::StrCat(kTimes, "_bucket"), absl::StrCat(status, ",le=\"", end, "\""),
                        static_cast<double>(count));
    };
    for (size_t i = 0; i < kBuckets.size(); ++i) add_bucket(kBuckets[i], times.buckets[i]);
    add_bucket("+Inf", times.count);
    metrics->AddValue(absl::StrCat(kTimes, "_sum"), status, times.seconds);
    metrics->AddValue(absl::StrCat(kTimes, "_count"), status, static_cast<double>(times.count));
  }
  metrics->AddHead("nibu_texts_total", "counter",
                   "Texts that were translated, by source and target language; from the 101st pair "
                   "of languages on, as \"other\".");
  for (const auto& [pair, count] : texts_) {
    metrics->AddValue("nibu_texts_total",
                      absl::StrCat("source=\"", pair.first, "\",target=\"", pair.second, "\""),
                      static_cast<double>(count));
  }
}

void AddProcess(double start, MetricsText* metrics) {
  metrics->AddHead("nibu_build_info", "gauge", "Always 1; its label is the program's version.");
  metrics->AddValue("nibu_build_info", "version=\"" NIBU_VERSION_STRING "\"", 1);
  metrics->Add("process_start_time_seconds", "gauge",
               "Time when the process started, in seconds since 1970.", start);
  metrics->Add("process_resident_memory_bytes", "gauge",
               "Bytes of memory that the process holds, mapped models included.",
               static_cast<double>(MemoryInUse()));
  metrics->Add("process_cpu_seconds_total", "counter",
               "Seconds of CPU time that all threads have used.", CpuSeconds());
}

}  // namespace nibu::internal
