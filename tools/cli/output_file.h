// Where a program writes, a line after the other; and what signals leave of it.
#ifndef NIBU_TOOLS_CLI_OUTPUT_FILE_H_
#define NIBU_TOOLS_CLI_OUTPUT_FILE_H_

#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "models/files/new_file.h"

namespace nibu::internal {

// Ends the program on SIGINT, SIGTERM and SIGHUP, with the status 128 + number. Create it before
// any other thread, which thus have the signals blocked; it must outlive main(). Ignores SIGPIPE
// and SIGXFSZ.
class SignalWatcher {
 public:
  SignalWatcher();
  // What to do before the end; nothing when empty.
  void SetBeforeEnd(std::function<void()> f);
  // Calls `last`, which a signal can no longer cut short; then there is nothing left to do before
  // the end. Where a signal came first, the program ends instead.
  void Finish(const std::function<void()>& last);

 private:
  sigset_t signals_;
  std::mutex mutex_;
  std::function<void()> before_end_;
};

// A file that appears under its name when it is whole: it is written beside it, and renamed. Of a
// symbolic link, what it names is replaced. Standard output, devices, pipes and what a descriptor
// stands for (/dev/stdout) are written directly. Thread-safe but for Open.
class OutputFile {
 public:
  // "-": standard output.
  explicit OutputFile(const std::string& path);
  ~OutputFile();

  // The path, where bytes end up at once; else empty.
  std::string direct() const { return pending_ == nullptr ? path_ : ""; }
  // Unavailable naming the file; UsageError: it has no name. A file that is there keeps its
  // permissions.
  absl::Status Open();
  // REQUIRES: it is open.
  int fd() const { return fd_; }
  // Unavailable: it cannot be written, and why.
  absl::Status Failed(absl::string_view why) const;

  // The file is whole. Unavailable: it cannot be; nothing but Abandon makes sense then.
  absl::Status Commit();
  // Where the lines are until then, as the end of a message; nothing if it is written directly.
  std::string Place() const;
  // Nothing more will be written. Leaves whole lines alone, and says Place(); removes the file, and
  // says nothing, if there are none.
  std::string Abandon();

 private:
  std::string path_;
  std::unique_ptr<PendingPath> pending_;  // null: written directly
  std::mutex mutex_;
  int fd_ = -1;
};

// Writes an open file by `write`: it is whole if that is OK, else abandoned. The status, of Commit
// too, with the place. A signal meanwhile calls `stop`, says where the lines are that were
// finished, and ends the program.
absl::Status WriteOutput(OutputFile* out, SignalWatcher* signals,
                         const std::function<absl::Status()>& write,
                         const std::function<void()>& stop);

// Writes all bytes. Unavailable with the reason; Cancelled when the reader of a pipe is gone.
absl::Status WriteAll(int fd, absl::string_view bytes);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_OUTPUT_FILE_H_
