// The common part of programs that turn each line of text into a line of output: they read,
// translate and write at the same time, in order and in bounded memory.
#ifndef NIBU_TOOLS_CLI_RUN_LINES_H_
#define NIBU_TOOLS_CLI_RUN_LINES_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "nibu/nibu.h"
#include "tools/cli/cli_options.h"
#include "tools/cli/lines.h"
#include "tools/cli/output_file.h"

namespace nibu::internal {

// Reads units on the caller's thread and writes their output on a thread of its own. A line is
// written as soon as it and all lines before it are finished, even if no more input comes.
class Pipeline {
 public:
  // Gets a line's output, line end included; called once for each line, from any thread.
  using Deliver = std::function<void(std::string)>;
  struct Options {
    // Turns a unit into output, now or later. Called in order, on Run's thread.
    std::function<void(uint64_t index, const InputUnit& unit, Deliver deliver)> submit;
    // Called now and then on the writing thread, even while no line is finished. Gets the index of
    // the first line that is not written, and the source's progress() when the one before it was
    // read. May be empty.
    std::function<void(uint64_t written, double progress)> report;
    // Turns the bytes of finished lines into those that are written, on the writing thread; called
    // once with `is_last`, behind the last line. Null: they are written as they are.
    std::function<std::string(const std::string& bytes, bool is_last)> encode;
    // Called on the writing thread when writing fails (Cancelled: the reader of the output is
    // gone). It may end the process, since reading may be blocked for ever. May be empty.
    std::function<void(const absl::Status&)> write_failed;
    uint64_t first = 0;  // the index of the first line
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

// Opens the output file, unless it is open, and runs a pipeline that writes the units there. Calls
// `options.report`, and shows a progress bar on standard error as cli.progress says. Without a
// value, it is shown if standard error is a terminal, the output is not, and no warnings are
// printed. Ends the program if writing fails, or on a signal. Returns the seconds that it took.
absl::StatusOr<double> RunLines(UnitSource* source, Pipeline::Options options,
                                const nibu::Translator& translator, const SpeedOptions& speed,
                                const CliOptions& cli, OutputFile* out, SignalWatcher* signals);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_RUN_LINES_H_
