// What the programs have in common that turn each line of text into one of output: they read,
// translate and write at the same time, in order, in bounded memory, equal lines together.
#ifndef NIBU_TOOLS_CLI_RUN_LINES_H_
#define NIBU_TOOLS_CLI_RUN_LINES_H_

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "nibu/nibu.h"
#include "tools/cli/cli_options.h"
#include "tools/cli/lines.h"
#include "tools/cli/output_file.h"

namespace nibu::internal {

// Loads a model for text or, tokenized, pieces, and prints its notes as warnings. UsageError: an
// option makes no sense.
absl::StatusOr<std::shared_ptr<const nibu::Model>> LoadModel(const std::string& path,
                                                             const ModelOptions& options,
                                                             bool tokenized);

// Wrong usage: an option that needs text was given with --tokenized, or --split_language without
// --split_sentences.
absl::Status CheckTextFlags(const Options& options);

// The caller's thread reads, a thread of the pipeline writes. A line is written as soon as it and
// all before it are there, whether or not more input comes.
class Pipeline {
 public:
  // Gets a line's output, line end included; called once for each line, from any thread.
  using Deliver = std::function<void(std::string)>;
  struct Options {
    // Hands a unit to whoever turns it into output. Called in order, on Run's thread.
    std::function<void(uint64_t index, const TextUnit& unit, Deliver deliver)> submit;
    // Called now and then, from the writing thread, also while no line is finished: lines written
    // so far, and the source's progress() when the last of them was read. May be empty.
    std::function<void(uint64_t written, double progress)> report;
    // For the bar: sentences of the lines that were submitted so far, and those of them that are
    // translated. May be empty.
    std::function<std::pair<uint64_t, uint64_t>()> sentences;
    // Called from the writing thread when writing fails (Cancelled: the reader of the output has
    // gone). Reading may be blocked for ever then, so it may end the process. May be empty.
    std::function<void(const absl::Status&)> write_failed;
    // What may be under way: read, but not written; bytes of the input and of finished output.
    // Reading waits beyond it.
    size_t max_lines = 1024;
    size_t max_bytes = size_t{32} << 20;
  };

  Pipeline(Options options, int out_fd) : options_(std::move(options)), out_fd_(out_fd) {}

  // Until the source ends and everything is written, or reading or writing fails, and everything
  // that was submitted is delivered. Call it once.
  absl::Status Run(UnitSource* source);

  // Ends reading, writes what is finished, in order, and returns; nothing is written after it. From
  // any thread.
  // False: that took longer than `seconds` (the output is blocked).
  bool Stop(double seconds);

 private:
  struct Line {
    std::string output;
    size_t bytes = 0;      // of the input, and of the output once it is there
    double progress = -1;  // of the source
    bool ready = false;
  };

  // Until there is nothing more to write, or it cannot be written.
  absl::Status Write();

  const Options options_;
  const int out_fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Line> lines_;  // under way, in order
  size_t bytes_ = 0;        // of lines_
  bool closed_ = false;     // no more lines will come
  bool stop_ = false;
  bool ended_ = false;  // nothing more is written
};

// Lines that come again before the first of them is written: they are translated once. Thread-safe.
class Repeats {
 public:
  using Result = absl::StatusOr<nibu::Result>;
  using Done = std::function<void(uint64_t index, const Result& result)>;

  // `done` gets the result of this line, perhaps at once, on any thread. The caller translates the
  // line, and hands the result to what is returned; or it is null: an equal line's result is
  // awaited, or known. `key`: all that the result depends on. Call it in the order of indices.
  nibu::Done Add(const std::string& key, uint64_t index, Done done);
  // Lets go of lines of a lower index, which are done.
  void Forget(uint64_t index);

 private:
  struct Entry {
    std::vector<std::pair<uint64_t, Done>> waiting;
    std::shared_ptr<const Result> result;
    size_t lines = 0;
  };

  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  // The lines that have one, in order; elements of a map stay where they are.
  std::deque<std::pair<uint64_t, std::pair<const std::string, Entry>*>> lines_;
};

// Sums over all lines. Thread-safe.
struct Totals {
  explicit Totals(bool prints_warnings = false) : prints(prints_warnings) {}

  const bool prints;
  uint64_t lines = 0;
  int64_t source_tokens = 0;
  int64_t target_tokens = 0;
  uint64_t too_long = 0;                                // but translated
  uint64_t scored_whole = 0;                            // see nibu::Result
  uint64_t first_scored_whole = 0;                      // the first line that was
  std::array<uint64_t, kWarningNames.size()> warned{};  // lines, by Warning
  uint64_t failed = 0;
  uint64_t first_failed = 0;  // of their lines
  std::string first_failure;  // its line and message
  double log_prob = 0;        // of the best hypotheses
  uint64_t scored_tokens =
      0;  // of the best hypotheses; of targets that are scored, with the ends of sentences

  // Called once for every unit of text, which begins in a `line` of the input; prints its warnings,
  // in the order of units, if `prints`.
  void Add(uint64_t index, uint64_t line, const absl::StatusOr<nibu::Result>& result);
  // In place of Add, for a unit that is copied.
  void Skip(uint64_t index);
  // InternalError naming the first line that failed, if there is one.
  absl::Status Failure(const char* what) const;

  std::mutex mutex;

 private:
  // Prints what may be printed.
  void PrintWaiting(uint64_t index, std::string warning);

  std::map<uint64_t, std::string> waiting_;  // to be printed, by index; empty: nothing
  uint64_t printed_ = 0;                     // units
};

// Runs units through `options.submit` into a file, which it opens, with a bar on standard error as
// `progress` says (no value: where standard error is a terminal, the output is not, and no warnings
// are printed), beside `options.report`. `speed.threads` is the number of threads, not 0. Ends the
// program where writing fails, or on a signal. The seconds that it takes.
absl::StatusOr<double> RunLines(UnitSource* source, Pipeline::Options options,
                                const SpeedOptions& speed, const CliOptions& cli, OutputFile* out,
                                SignalWatcher* signals);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_RUN_LINES_H_
