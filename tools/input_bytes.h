// Bytes of a file descriptor, decompressed where they are gzip's.
#ifndef NIBU_TOOLS_INPUT_BYTES_H_
#define NIBU_TOOLS_INPUT_BYTES_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct z_stream_s;

namespace nibu {

// After a failed read or write of a descriptor: whether to try again. Waits for one that somebody
// has made non-blocking. `event`: POLLIN or POLLOUT.
bool TryAgain(int fd, short event);

// Not thread-safe.
class InputBytes {
 public:
  // `name` is for messages. Closes `fd` in the end, unless it is standard input.
  InputBytes(std::string name, int fd) : name_(std::move(name)), fd_(fd) {}
  InputBytes(const InputBytes&) = delete;
  InputBytes& operator=(const InputBytes&) = delete;
  ~InputBytes();

  // Appends the next bytes, at least one; false: the end. Waits for bytes, but not for more of them
  // than it needs to see what they are. An error names the file: it cannot be read, its gzip data
  // is damaged or not whole (what comes before the damage has been handed out), or it is compressed
  // in another way.
  absl::StatusOr<bool> Append(std::string* to);

  // Bytes of the file that have been used up.
  double used() const { return read_ - static_cast<double>(bytes_.size()); }
  bool is_gzip() const { return gzip_ != nullptr; }
  int fd() const { return fd_; }

 private:
  // Reads what there is, behind bytes_; false: the end.
  absl::StatusOr<bool> Fill();
  // Fills until it is clear what the file is.
  absl::Status Sniff();
  absl::StatusOr<bool> Inflate(std::string* to);

  const std::string name_;
  const int fd_;
  std::string bytes_;  // read, but not used
  double read_ = 0;    // bytes in all
  bool sniffed_ = false;
  std::shared_ptr<z_stream_s> gzip_;  // null: plain text
  bool in_member_ = false;            // of a gzip file, which may have several
};

}  // namespace nibu

#endif  // NIBU_TOOLS_INPUT_BYTES_H_
