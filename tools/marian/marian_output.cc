// Formats hypotheses and the log.
#include "tools/marian/marian_output.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/core/status_macros.h"
#include "tools/cli/flags.h"

namespace nibu::internal {
namespace {

constexpr absl::string_view kLevels[] = {"trace", "debug",    "info", "warn",
                                         "error", "critical", "off"};
constexpr int kInfo = 2;
constexpr int kWarn = 3;

// Returns "0-0 1-1 3-2", ordered by the source.
std::string HardAlignment(const nibu::Hypothesis& hypothesis, double threshold) {
  std::vector<std::pair<size_t, size_t>> pairs;
  if (threshold >= 1) {
    pairs = hypothesis.alignment;
  } else {
    for (size_t t = 0; t < hypothesis.attention.size(); ++t) {
      for (size_t s = 0; s < hypothesis.attention[t].size(); ++s) {
        if (static_cast<double>(hypothesis.attention[t][s]) > threshold) pairs.emplace_back(s, t);
      }
    }
  }
  std::sort(pairs.begin(), pairs.end());
  return absl::StrJoin(pairs, " ", absl::PairFormatter("-"));
}

}  // namespace

absl::StatusOr<MarianFormat> MarianFormatOf(const MarianOptions& options) {
  MarianFormat format;
  format.n_best = options.IsOn("n-best");
  format.word_scores = options.IsOn("word-scores");
  const std::string alignment = options.Text("alignment");
  if (alignment == "soft") {
    format.alignment = MarianFormat::Alignment::kSoft;
  } else if (alignment == "hard") {
    format.alignment = MarianFormat::Alignment::kHard;
  } else if (!alignment.empty() && alignment != "false") {
    if (alignment != "true" && (!absl::SimpleAtod(alignment, &format.threshold) ||
                                !(format.threshold >= 0 && format.threshold <= 1))) {
      return WrongUsage("--alignment must be hard, soft or a number from 0 to 1, not \"", alignment,
                        "\"");
    }
    format.alignment = MarianFormat::Alignment::kHard;
  }
  return format;
}

std::string FormatMarianLine(const MarianFormat& format, uint64_t index, absl::string_view text,
                             const nibu::Hypothesis& hypothesis,
                             const std::vector<float>& features) {
  std::string line = format.n_best ? absl::StrCat(index, " ||| ", text) : std::string(text);
  if (format.alignment == MarianFormat::Alignment::kHard) {
    absl::StrAppend(&line, " ||| ", HardAlignment(hypothesis, format.threshold));
  } else if (format.alignment == MarianFormat::Alignment::kSoft) {
    const auto join = [](std::string* out, const auto& row) { *out += absl::StrJoin(row, ","); };
    absl::StrAppend(&line, " ||| ", absl::StrJoin(hypothesis.attention, " ", join));
  }
  if (format.word_scores) {
    line += " ||| WordScores=";
    for (const float score : hypothesis.token_scores) {
      absl::StrAppendFormat(&line, " %.5f", score * format.weight_sum);
    }
  }
  if (format.n_best) {
    line += " |||";
    for (size_t i = 0; i < features.size(); ++i) {
      absl::StrAppend(&line, " F", i, "= ", features[i]);
    }
    absl::StrAppend(&line, " ||| ", hypothesis.score * format.weight_sum);
  }
  return line + "\n";
}

MarianLog::~MarianLog() {
  if (file_ != nullptr) std::fclose(file_);
}

absl::Status MarianLog::Open(const MarianOptions& options) {
  const std::string level = options.Text("log-level");
  const auto* const found =
      std::find(std::begin(kLevels), std::end(kLevels), level == "err" ? "error" : level);
  if (found == std::end(kLevels)) {
    return WrongUsage("--log-level must be ", absl::StrJoin(kLevels, ", "), ", not \"", level,
                      "\"");
  }
  level_ = static_cast<int>(found - std::begin(kLevels));
  is_quiet_ = options.IsOn("quiet");
  if (const std::string zone = options.Text("log-time-zone"); !zone.empty()) {
    setenv("TZ", zone.c_str(), /*overwrite=*/1);
    tzset();
  }
  const std::string path = options.Text("log");
  if (path.empty()) return absl::OkStatus();
  file_ = std::fopen(path.c_str(), "ae");
  if (file_ != nullptr) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written: ", std::strerror(errno)));
}

void MarianLog::Info(absl::string_view text) { Add(kInfo, text); }
void MarianLog::TotalTime(double seconds) {
  Info(absl::StrFormat("Total time: %.5fs wall", seconds));
}

void MarianLog::Warn(absl::string_view text) { Add(kWarn, text); }

void MarianLog::Add(int level, absl::string_view text) {
  if (level < level_) return;
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  char time[32];
  std::strftime(time, sizeof(time), "[%Y-%m-%d %H:%M:%S] ", &local);
  const std::string line = absl::StrCat(time, text, "\n");
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is_quiet_) std::fwrite(line.data(), 1, line.size(), stderr);
  if (file_ == nullptr) return;
  std::fwrite(line.data(), 1, line.size(), file_);
  std::fflush(file_);  // so that the log can be followed while the program runs
}

}  // namespace nibu::internal
