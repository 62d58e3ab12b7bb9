// The file that a program writes line by line, and the signals that may end the program meanwhile.
#ifndef NIBU_TOOLS_CLI_OUTPUT_FILE_H_
#define NIBU_TOOLS_CLI_OUTPUT_FILE_H_

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "absl/base/macros.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/files/new_file.h"
#include "nlohmann/json.hpp"
#include "tools/cli/run_record.h"

namespace nibu::internal {

// Ends the program on SIGINT, SIGTERM and SIGHUP, with the status 128 + number. Ignores SIGPIPE and
// SIGXFSZ. It must be created before any other thread, so that these inherit the blocked signals,
// and it must outlive main().
class SignalWatcher {
 public:
  SignalWatcher();
  // Sets a function that is called before the program ends. May be empty.
  void SetBeforeEnd(std::function<void()> f);
  // Calls `last`, which no signal can interrupt, and removes the function of SetBeforeEnd. If a
  // signal came first, the program ends instead.
  void Finish(const std::function<void()>& last);

 private:
  sigset_t signals_;
  std::mutex mutex_;
  std::function<void()> before_end_;
};

// A file that appears under its name only when it is complete: it is written beside this name and
// then renamed. A symbolic link stays, and the file that it names is replaced. Standard output,
// devices, pipes and names of descriptors (/dev/stdout) are written directly. Thread-safe except
// for Open.
class OutputFile {
 public:
  // `path`: a file, or "-" for standard output.
  explicit OutputFile(const std::string& path);
  ~OutputFile();

  // Returns the path if the file is written directly, else an empty string.
  std::string direct() const { return pending_ == nullptr ? path_ : ""; }
  // Opens the file. A file that exists keeps its permissions. Returns Unavailable that names the
  // file if it cannot be opened, and a UsageError if the path has no file name.
  absl::Status Open();
  // Opens the file for output that a later run can go on with: it is written to OUT.part, and
  // OUT.part.json says that `run` made it (see DescribeRun). With `resume`, goes on behind what an
  // earlier run finished, which it returns; otherwise begins again. One run at a
  // time has the file. FailedPrecondition: OUT.part is that of another run, or is not one's at all;
  // Unavailable names a file that cannot be written. REQUIRES: the file is not written directly.
  absl::StatusOr<Finished> OpenPart(nlohmann::ordered_json run, bool resume);
  bool is_open() const { return fd_ >= 0; }
  // Notes that so many units of this run are written, for OUT.part.json if there is one.
  void Record(uint64_t units);
  // Notes that so many of all units that are written could not be translated; for Record.
  void RecordFailed(uint64_t failed, uint64_t first_failed);
  // Says that what is written has no lines, so that Abandon keeps all of it.
  void SetBinary() { is_binary_ = true; }
  // REQUIRES: it is open.
  int fd() const {
    ABSL_ASSERT(fd_ >= 0);
    return fd_;
  }
  // Returns Unavailable, which says that the file cannot be written, and why.
  absl::Status Failed(absl::string_view why) const;

  // Gives the complete file its name, and closes it. Returns Unavailable if that fails; then only
  // Abandon may be called. REQUIRES: it is open.
  absl::Status Commit();
  // Returns the end of a message that says where the lines are until Commit, or an empty string if
  // the file is written directly.
  std::string Place() const;
  // Ends an incomplete file: keeps its complete lines and returns Place(), or removes the file and
  // returns an empty string if there are none.
  std::string Abandon();

 private:
  // Ends an incomplete OUT.part behind the last unit that is noted.
  std::string AbandonPart();

  std::string path_;
  std::unique_ptr<PendingPath> pending_;  // null if the file is written directly
  std::mutex mutex_;
  int fd_ = -1;
  std::unique_ptr<RunRecord> record_;  // null: no later run can go on
  uint64_t earlier_units_ = 0;         // finished by earlier runs
  bool is_binary_ = false;
  Finished finished_;
  Finished recorded_;
  std::chrono::steady_clock::time_point recorded_at_;
};

// Stands around the writing of an open file. If a signal comes meanwhile, it calls `stop`, prints
// where the finished lines are, and ends the program.
class OutputGuard {
 public:
  OutputGuard(
      OutputFile* out, SignalWatcher* signals, std::function<void()> stop = [] {});
  // Calls Commit if all was written, else Abandon. Returns the status of either, with the place of
  // the lines in its message. To be called once, at the end.
  absl::Status End(absl::Status written);

 private:
  OutputFile* const out_;
  SignalWatcher* const signals_;
};

// Writes all bytes. Returns Unavailable with the reason, or Cancelled if the reader of a pipe is
// gone.
absl::Status WriteAll(int fd, absl::string_view bytes);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_OUTPUT_FILE_H_
