// What the programs have in common that turn each line of text into one of output; and their flags
// --out, --progress, --stats and --warnings.
#ifndef NIBU_TOOLS_RUN_LINES_H_
#define NIBU_TOOLS_RUN_LINES_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/flags/declare.h"
#include "absl/status/statusor.h"
#include "tools/decoding_flags.h"
#include "tools/output_file.h"
#include "tools/pipeline.h"
#include "tools/signal_watcher.h"
#include "tools/text/text_translator.h"

ABSL_DECLARE_FLAG(std::string, out);
ABSL_DECLARE_FLAG(bool, stats);

namespace nibu {

// A model for text or, `tokenized`, pieces; its notes are printed as warnings. `text`: its decoding
// options are set from flags and the model. UsageError: they make no sense.
absl::StatusOr<TextModel> LoadForText(const ModelFlags& model, TextOptions* text);
// The same, ready to translate.
absl::StatusOr<std::unique_ptr<TextTranslator>> LoadTranslator(const ModelFlags& model,
                                                               const TranslatorOptions& options,
                                                               TextOptions* text);

// Sums over all lines. Thread-safe.
struct Totals {
  uint64_t lines = 0;
  int64_t source_tokens = 0;
  int64_t target_tokens = 0;
  uint64_t too_long = 0;
  uint64_t unfinished = 0;                              // cut at a length limit
  uint64_t looping = 0;                                 // caught in a loop
  std::array<uint64_t, kWarningNames.size()> warned{};  // lines, by Warning
  uint64_t failed = 0;
  std::string first_failure;  // its line and message
  double log_prob = 0;        // of the best hypotheses
  int64_t scored_tokens = 0;  // that have a part in it

  // Once for every unit of text, which begins in a `line` of the input; prints its warnings, in the
  // order of units, with --warnings.
  void Add(uint64_t index, uint64_t line, const absl::StatusOr<TextResult>& result);
  // InternalError naming the first line that failed, if there is one.
  absl::Status Failure(const char* what) const;

  std::mutex mutex;

 private:
  std::map<uint64_t, std::string> waiting_;  // to be printed, by index; empty: nothing
  uint64_t printed_ = 0;                     // units
};

// Runs lines through `options.submit` into a file, which it opens, with a bar on standard error as
// --progress says, beside `options.report`. Ends the program where writing fails, or on a signal.
// The seconds that it takes.
absl::StatusOr<double> RunLines(LineSource* source, Pipeline::Options options,
                                const TranslatorOptions& speed, OutputFile* out,
                                SignalWatcher* signals);

}  // namespace nibu

#endif  // NIBU_TOOLS_RUN_LINES_H_
