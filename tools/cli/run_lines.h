// The common part of programs that turn each line of text into a line of output: they read,
// translate and write at the same time, in order and in bounded memory, and translate equal lines
// once.
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

// Loads a model for text or, if tokenized, pieces, and prints its notes as warnings. Options that
// make no sense are a UsageError.
absl::StatusOr<std::shared_ptr<const nibu::Model>> LoadModel(const std::string& path,
                                                             const ModelOptions& options,
                                                             bool tokenized);

// Returns wrong usage if an option that needs text was given with --tokenized, or --split_language
// without --split_sentences.
absl::Status CheckTextFlags(const Options& options);

// Reads units on the caller's thread and writes their output on a thread of its own. A line is
// written as soon as it and all lines before it are finished, even if no more input comes.
class Pipeline {
 public:
  // Gets a line's output, line end included; called once for each line, from any thread.
  using Deliver = std::function<void(std::string)>;
  struct Options {
    // Turns a unit into output, now or later. Called in order, on Run's thread.
    std::function<void(uint64_t index, const TextUnit& unit, Deliver deliver)> submit;
    // Called now and then on the writing thread, even while no line is finished. Gets the number of
    // lines written so far, and the source's progress() when the last of them was read. May be
    // empty.
    std::function<void(uint64_t written, double progress)> report;
    // Returns for the progress bar the number of sentences that were submitted so far, and of those
    // that are translated. May be empty.
    std::function<std::pair<uint64_t, uint64_t>()> sentences;
    // Called on the writing thread when writing fails (Cancelled: the reader of the output is
    // gone). It may end the process, since reading may be blocked for ever. May be empty.
    std::function<void(const absl::Status&)> write_failed;
    // The most lines that may be read and not yet written, and the most bytes of their input and
    // finished output. Reading waits at these limits.
    size_t max_lines = 1024;
    size_t max_bytes = size_t{32} << 20;
  };

  Pipeline(Options options, int out_fd) : options_(std::move(options)), out_fd_(out_fd) {}

  // Reads, submits and writes until the source ends or an error occurs. Returns when everything
  // that was submitted has been delivered. To be called once.
  absl::Status Run(UnitSource* source);

  // Ends reading, and writes the finished lines in order; nothing is written afterwards. Returns
  // false if that took longer than `seconds`, since the output is blocked. May be called on any
  // thread.
  bool Stop(double seconds);

 private:
  struct Line {
    std::string output;
    size_t bytes = 0;      // size of the input, and of the output once it is there
    double progress = -1;  // of the source, when the line was read
    bool ready = false;
  };

  // Writes finished lines until there are no more, or writing fails.
  absl::Status Write();

  const Options options_;
  const int out_fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Line> lines_;  // lines that are read and not yet written, in order
  size_t bytes_ = 0;        // the sum over lines_
  bool closed_ = false;     // no more lines will come
  bool stop_ = false;
  bool ended_ = false;  // nothing more is written
};

// Translates a line once that comes again before its first translation is written. Thread-safe.
class Repeats {
 public:
  using Result = absl::StatusOr<nibu::Result>;
  using Done = std::function<void(uint64_t index, const Result& result)>;

  // Adds a line. `done` gets its result, on any thread, perhaps within this call. If the returned
  // function is not null, the caller has to translate the line and hand the result to it; null
  // means that an equal line has been added before. `key` has all that the result depends on. To be
  // called in the order of indices.
  nibu::Done Add(const std::string& key, uint64_t index, Done done);
  // Forgets lines of a lower index, which are done.
  void Forget(uint64_t index);

 private:
  struct Entry {
    std::vector<std::pair<uint64_t, Done>> waiting;
    std::shared_ptr<const Result> result;
    size_t lines = 0;
  };

  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  // The lines and their entries, in order. Pointers to elements of a map stay valid.
  std::deque<std::pair<uint64_t, std::pair<const std::string, Entry>*>> lines_;
};

// Sums over all lines. Thread-safe.
struct Totals {
  explicit Totals(bool prints_warnings = false) : prints(prints_warnings) {}

  const bool prints;
  uint64_t lines = 0;
  int64_t source_tokens = 0;
  int64_t target_tokens = 0;
  uint64_t too_long = 0;                                // lines that were translated nevertheless
  uint64_t scored_whole = 0;                            // see nibu::Result
  uint64_t first_scored_whole = 0;                      // the first line of these
  std::array<uint64_t, kWarningNames.size()> warned{};  // number of lines, by Warning
  uint64_t failed = 0;
  uint64_t first_failed = 0;  // line of the first unit that failed
  std::string first_failure;  // its line and message
  double log_prob = 0;        // sum over the best hypotheses
  uint64_t scored_tokens =
      0;  // tokens of the best hypotheses; for scored targets, with the ends of sentences

  // Adds a unit of text that begins in a `line` of the input; to be called once for each unit.
  // Prints its warnings, in the order of units, if `prints`.
  void Add(uint64_t index, uint64_t line, const absl::StatusOr<nibu::Result>& result);
  // Adds a unit that is copied; to be called in place of Add.
  void Skip(uint64_t index);
  // Returns an InternalError that names the first line that failed, or OK if there is none.
  absl::Status Failure(const char* what) const;

  std::mutex mutex;

 private:
  // Keeps a unit's warning (empty: none), and prints those of all units up to the first missing
  // one.
  void PrintWaiting(uint64_t index, std::string warning);

  std::map<uint64_t, std::string> waiting_;  // warnings to be printed, by index; may be empty
  uint64_t printed_ = 0;                     // number of units whose warnings are printed
};

// Opens the output file, and runs a pipeline that writes the units there. Calls `options.report`,
// and shows a progress bar on standard error as cli.progress says. Without a value, it is shown if
// standard error is a terminal, the output is not, and no warnings are printed. `speed.threads` is
// the number of threads, not 0. Ends the program if writing fails, or on a signal. Returns the
// seconds that it took.
absl::StatusOr<double> RunLines(UnitSource* source, Pipeline::Options options,
                                const SpeedOptions& speed, const CliOptions& cli, OutputFile* out,
                                SignalWatcher* signals);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_RUN_LINES_H_
