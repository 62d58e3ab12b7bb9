// Makes the requests of nibu-load and its report.

#include "tools/serve/load_report.h"

#include <algorithm>
#include <cmath>

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr unsigned kTranslated = 200;

double RoundToMillionths(double value) { return std::round(value * 1e6) / 1e6; }

}  // namespace

LoadRequests::LoadRequests(const LoadOptions& options, const std::vector<std::string>& lines)
    : options_(options),
      lines_(lines),
      texts_(static_cast<size_t>(options.texts)),
      size_(options.requests > 0 ? static_cast<size_t>(options.requests)
                                 : (lines.size() + texts_ - 1) / texts_) {
  ABSL_ASSERT(!lines.empty());
}

std::vector<absl::string_view> LoadRequests::Texts(size_t index) const {
  ABSL_ASSERT(index < size_);
  std::vector<absl::string_view> texts;
  for (size_t i = index * texts_; i < (index + 1) * texts_; ++i) {
    if (options_.requests == 0 && i >= lines_.size()) break;
    texts.emplace_back(lines_[i % lines_.size()]);
  }
  return texts;
}

uint64_t LoadRequests::CountCharacters(size_t index) const {
  uint64_t count = 0;
  for (const absl::string_view text : Texts(index)) {
    // Each character of UTF-8 has one byte that is no continuation byte.
    count += static_cast<uint64_t>(
        std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
  }
  return count;
}

std::string LoadRequests::Body(size_t index) const {
  OrderedJson texts = OrderedJson::array();
  for (const absl::string_view text : Texts(index)) texts.push_back(std::string(text));
  OrderedJson body;
  body["q"] = texts_ == 1 ? texts[0] : texts;
  body["source"] = options_.source;
  body["target"] = options_.target;
  if (!options_.format.empty()) body["format"] = options_.format;
  return body.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string LoadRequests::ReadAnswer(size_t index, unsigned status, const std::string& body,
                                     std::vector<std::string>* translations) const {
  const OrderedJson answer = OrderedJson::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) return "is not a JSON object";
  if (status != kTranslated) return "";
  const auto field = answer.find("translatedText");
  if (field == answer.end()) return "has no translatedText";
  OrderedJson found = *field;
  if (texts_ == 1) {
    found = OrderedJson::array();
    found.push_back(*field);
  }
  if (!found.is_array()) return "has a translatedText that is not an array";
  const size_t count = Texts(index).size();
  if (found.size() != count) {
    return absl::StrCat("has ", found.size(), " translations of ", count, " texts");
  }
  for (const OrderedJson& translation : found) {
    if (!translation.is_string()) return "has a translation that is not a string";
  }
  *translations = found.get<std::vector<std::string>>();
  return "";
}

void LoadLatencies::Add(std::chrono::steady_clock::duration duration) {
  seconds_.push_back(std::chrono::duration<double>(duration).count());
}

OrderedJson LoadLatencies::Report(const std::vector<int>& percentiles) const {
  if (seconds_.empty()) return nullptr;
  std::vector<double> sorted = seconds_;
  std::sort(sorted.begin(), sorted.end());
  OrderedJson report;
  for (const int percentile : percentiles) {
    ABSL_ASSERT(0 < percentile && percentile <= 100);
    const size_t rank = (sorted.size() * static_cast<size_t>(percentile) + 99) / 100;
    report[absl::StrCat("p", percentile)] = RoundToMillionths(sorted[rank - 1]);
  }
  report["max"] = RoundToMillionths(sorted.back());
  return report;
}

std::string LoadCounts::Json(const LoadOptions& options) const {
  OrderedJson by_status = OrderedJson::object();
  for (const auto& [status, count] : answered) by_status[absl::StrCat(status)] = count;
  const auto found = answered.find(kTranslated);
  const uint64_t translated_requests = found == answered.end() ? 0 : found->second;
  OrderedJson report = {
      {"requests", requests},
      {"answered", by_status},
      {"abandoned", abandoned},
      {"connection_errors", connection_errors},
      {"seconds", RoundToMillionths(seconds)},
      {"requests_per_second",
       RoundToMillionths(static_cast<double>(translated_requests) / seconds)},
      {"characters_per_second", RoundToMillionths(static_cast<double>(characters) / seconds)},
      {"latency", translated.Report({50, 90, 99})},
      {"refused_latency", refused.Report({50})},
  };
  if (options.health) {
    report["health_latency"] = health.Report({50, 99});
    report["health_failures"] = health_failures;
  }
  if (options.idle + options.slow > 0) report["held_connections_closed"] = held_connections_closed;
  return report.dump();
}

}  // namespace nibu::internal
