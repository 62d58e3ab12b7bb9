// Where a program writes, a line after the other.
#ifndef NIBU_TOOLS_OUTPUT_FILE_H_
#define NIBU_TOOLS_OUTPUT_FILE_H_

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "models/files/new_file.h"
#include "tools/signal_watcher.h"

namespace nibu {

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
  // Unavailable naming the file. A file that is there keeps its permissions.
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

// What a signal does before it ends the program: says where the lines are that were finished.
void PrintInterrupted(OutputFile* out);
// Ends writing: the file is whole if `status` is OK, else abandoned. The status, of Commit too,
// with the place; no signal cuts it short.
absl::Status EndOutput(absl::Status status, OutputFile* out, SignalWatcher* signals);

// Writes all bytes. Unavailable with the reason; Cancelled when the reader of a pipe is gone.
absl::Status WriteAll(int fd, absl::string_view bytes);

}  // namespace nibu

#endif  // NIBU_TOOLS_OUTPUT_FILE_H_
