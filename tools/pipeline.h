// Lines through a translator: reading, translating and writing at the same time, in order, in
// bounded memory.
#ifndef NIBU_TOOLS_PIPELINE_H_
#define NIBU_TOOLS_PIPELINE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "tools/lines.h"

namespace nibu {

// The caller's thread reads, a thread of the pipeline writes. A line is written as soon as it and
// all before it are there, whether or not more input comes.
class Pipeline {
 public:
  // Gets a line's output, line end included; called once for each line, from any thread.
  using Deliver = std::function<void(std::string)>;
  struct Options {
    // Hands a line to whoever turns it into output. Called in order, on Run's thread.
    std::function<void(uint64_t index, const std::string& line, Deliver deliver)> submit;
    // Called now and then, from the writing thread: lines written so far, and the source's
    // progress() when the last of them was read. May be empty.
    std::function<void(uint64_t written, double progress)> report;
    // Called from the writing thread when writing fails (Cancelled: the reader of the output has
    // gone). Reading may be blocked for ever then, so it may end the process. May be empty.
    std::function<void(const absl::Status&)> write_failed;
    // What may be under way: read, but not written; bytes of the input and of finished output.
    // Reading waits beyond it.
    size_t max_lines = 1024;
    size_t max_bytes = size_t{32} << 20;
  };

  Pipeline(Options options, int out_fd);
  ~Pipeline();

  // Until the source ends and everything is written, or reading or writing fails, and everything
  // that was submitted is delivered. Call it once.
  absl::Status Run(LineSource* source);

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

  void Write();
  void Finished(Line* line, std::string output);

  const Options options_;
  const int out_fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Line> lines_;  // under way, in order
  size_t bytes_ = 0;        // of lines_
  size_t submitted_ = 0;    // of lines_, not yet delivered
  bool closed_ = false;     // no more lines will come
  bool stop_ = false;
  bool ended_ = false;         // the writing thread has ended
  absl::Status write_status_;  // the writing thread's, until it has ended
  std::thread writer_;
};

}  // namespace nibu

#endif  // NIBU_TOOLS_PIPELINE_H_
