// Reads lines of text from files and pipes.
#ifndef NIBU_TOOLS_CLI_LINES_H_
#define NIBU_TOOLS_CLI_LINES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nibu/text.h"

namespace nibu::internal {

// Reads lines of any length and any bytes from a file or pipe, and decompresses gzip; or has the
// lines of given texts. Waits for bytes, but not for more of them than a line needs. Errors name
// the file: it cannot be read, its gzip data is damaged or not whole (the lines in front of the
// damage have been returned by then), or it is compressed in another way. After an error, Next
// returns the same error again. Not thread-safe.
class InputLines {
 public:
  // Opens a file; "-" is standard input. Returns NotFound that names the file or directory if it
  // cannot be opened. A regular file that is not text is refused here already.
  static absl::StatusOr<InputLines> Open(const std::string& path);
  // Has the lines of the given texts. A text with line feeds is several lines.
  explicit InputLines(const std::vector<std::string>& texts);

  // Sets `line` to the next line, without its end: a line feed, or carriage return and line feed. A
  // last line without an end counts. Returns false at the end. May block.
  absl::StatusOr<bool> Next(std::string* line);
  // Appends the next bytes, line ends included. Returns false at the end. May block.
  absl::StatusOr<bool> Read(std::string* bytes);
  // Returns the share of the input that has been returned, less `waiting` bytes: 0 to 1, or a
  // negative number if the size is not known.
  double progress(uint64_t waiting = 0) const;
  // Returns whether this is also the regular file `out` ("-": standard output). Writing there
  // directly would destroy input that has not been read. REQUIRES: this is a file.
  bool IsSameFile(const std::string& out) const;

 private:
  struct File;
  std::shared_ptr<File> file_;  // null: the lines are those of given texts
  std::string buffer_;
  size_t start_ = 0;   // where the bytes begin that have not been returned
  bool more_ = false;  // there may be more bytes than those in buffer_
};

// Reads the units of a text one by one. Not thread-safe.
class UnitSource {
 public:
  // `input` must outlive it.
  UnitSource(InputLines* input, const Options& options) : input_(input), reader_(options) {}

  // Sets `unit` to the next unit. Returns false at the end. May block, but waits for no more bytes
  // than the unit needs.
  absl::StatusOr<bool> Next(TextUnit* unit);
  // Returns the share of the input up to the end of the last unit, as InputLines::progress does.
  double progress() const { return input_->progress(read_ - end_); }
  bool is_open() const { return reader_.is_open(); }

 private:
  InputLines* const input_;
  nibu::TextReader reader_;
  uint64_t read_ = 0;  // number of bytes read so far
  uint64_t end_ = 0;   // number of bytes up to the end of the last unit
  bool ended_ = false;
};

// Opens the input of a program: the given texts or, if there are none, the lines of the file `src`.
// `out` is the file that the program writes directly, or empty. It is a UsageError if texts and a
// file are given, or if `src` is empty or is `out`. Other errors name the file that cannot be read.
absl::StatusOr<InputLines> OpenLines(const std::vector<std::string>& texts, const std::string& src,
                                     const std::string& out);

// Returns whether to try again after a failed read or write. If somebody has made the descriptor
// non-blocking, waits until it is ready. `event`: POLLIN or POLLOUT.
bool TryAgain(int fd, short event);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_LINES_H_
