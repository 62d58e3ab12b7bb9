// Writes translations, n-best lists, alignments and scores as Marian writes them, and its log.
#ifndef NIBU_TOOLS_MARIAN_MARIAN_OUTPUT_H_
#define NIBU_TOOLS_MARIAN_MARIAN_OUTPUT_H_

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nibu/result.h"
#include "tools/marian/marian_options.h"

namespace nibu::internal {

// What a line of output has.
struct MarianFormat {
  enum class Alignment { kNone, kHard, kSoft };

  bool n_best = false;
  bool word_scores = false;
  Alignment alignment = Alignment::kNone;
  // With kHard: 1 for the one source token of each target token that it attends to most; below 1,
  // all pairs with a greater attention.
  double threshold = 1;
  // Marian adds up the weighted scores of an ensemble's models, and nibu takes their weighted mean.
  // Scores are multiplied by this sum of the weights.
  float weight_sum = 1;
};

// Reads the format from the options. A malformed --alignment is a UsageError.
absl::StatusOr<MarianFormat> MarianFormatOf(const MarianOptions& options);

// Returns the line of a hypothesis, its line feed included, in one of the forms
//   TEXT[ ||| ALIGNMENT][ ||| WordScores= -0.04088 ...]
//   INDEX ||| TEXT[ ||| ...][ ||| ...] ||| F0= -1.66408[ F1= ...] ||| -0.184897
// The hypothesis is that of a plan with Options::return_ends, and with AlignmentKind::kSoft if the
// format has an alignment. `features` has the score of each model, in order.
std::string FormatMarianLine(const MarianFormat& format, uint64_t index, absl::string_view text,
                             const nibu::Hypothesis& hypothesis,
                             const std::vector<float>& features);

// The log, on standard error and in a file. Thread-safe, except for Open.
class MarianLog {
 public:
  MarianLog() = default;
  ~MarianLog();
  MarianLog(const MarianLog&) = delete;
  MarianLog& operator=(const MarianLog&) = delete;

  // Opens the log as the options say. Returns Unavailable if the file cannot be opened, and a
  // UsageError if the level is none. REQUIRES: no other thread reads the environment meanwhile,
  // since a time zone is set there.
  absl::Status Open(const MarianOptions& options);
  // Adds a line "[2024-01-01 12:00:00] TEXT" of the level info.
  void Info(absl::string_view text);
  // Does the same on the level warn.
  void Warn(absl::string_view text);
  // Adds "Total time: 3.14159s wall", which scripts look for in the last line.
  void TotalTime(double seconds);

 private:
  void Add(int level, absl::string_view text);

  std::mutex mutex_;
  bool is_quiet_ = false;
  int level_ = 0;
  std::FILE* file_ = nullptr;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_MARIAN_MARIAN_OUTPUT_H_
