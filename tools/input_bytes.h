// Bytes of a file descriptor, decompressed where they are gzip's.
#ifndef NIBU_TOOLS_INPUT_BYTES_H_
#define NIBU_TOOLS_INPUT_BYTES_H_

#include <cstddef>
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

  // Reads up to `most` bytes, at least one; 0: the end. Waits for bytes, but not for more of them
  // than it needs to see what they are. An error names the file: it cannot be read, its gzip data
  // is damaged or not whole (what comes before the damage has been handed out), or it is compressed
  // in another way.
  absl::StatusOr<size_t> Read(char* to, size_t most);

  // Bytes of the file that have been used up.
  double used() const { return used_ - static_cast<double>(end_ - begin_); }
  bool is_gzip() const { return gzip_ != nullptr; }
  int fd() const { return fd_; }

 private:
  struct EndInflate {
    void operator()(z_stream_s* stream) const;
  };

  absl::StatusOr<size_t> ReadFile(char* to, size_t most);
  // Reads until it is clear what the file is, into buffer_.
  absl::Status Sniff();
  absl::StatusOr<size_t> Inflate(char* to, size_t most);

  const std::string name_;
  const int fd_;
  double used_ = 0;  // what has been read, buffer_ included
  bool sniffed_ = false;
  absl::Status status_;                           // what is wrong with the file
  std::unique_ptr<z_stream_s, EndInflate> gzip_;  // null: plain text
  bool in_member_ = false;                        // of a gzip file, which may have several
  std::string buffer_;                            // [begin_, end_) has been read, but not used
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace nibu

#endif  // NIBU_TOOLS_INPUT_BYTES_H_
