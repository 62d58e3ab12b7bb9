// Lines of text, from files and pipes.
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

// Lines of a file or pipe, of any length and any bytes (gzip is decompressed); or of given texts.
// Waits for bytes, but not for more of them than a line needs. An error names the file: it cannot
// be read, its gzip data is damaged or not whole (lines in front of the damage have been handed
// out), or it is compressed in another way. After an error Next returns the same error again.
// Not thread-safe.
class InputLines {
 public:
  // "-": standard input. NotFound naming the file, or directory. A regular file that is not text
  // is refused here already.
  static absl::StatusOr<InputLines> Open(const std::string& path);
  // Lines that are there already; a text with line feeds is several.
  explicit InputLines(const std::vector<std::string>& texts);

  // The next line, without its end: a line feed, or carriage return and line feed. False at the
  // end. A last line without an end counts. May block.
  absl::StatusOr<bool> Next(std::string* line);
  // Appends the next bytes, line ends included, in place of a line. False at the end. May block.
  absl::StatusOr<bool> Read(std::string* bytes);
  // Returns the part of the input that has been handed out, less `waiting` bytes: 0 to 1, or
  // negative where the size is not known.
  double progress(uint64_t waiting = 0) const;
  // Whether this is also the regular file `out` ("-": standard output): writing there directly
  // would destroy what has not been read. REQUIRES: this is a file.
  bool IsSameFile(const std::string& out) const;

 private:
  struct File;
  std::shared_ptr<File> file_;  // null: of given texts
  std::string buffer_;
  size_t start_ = 0;   // of what has not been handed out
  bool more_ = false;  // there may be more than buffer_
};

// The units of a text that is read as they are asked for. Not thread-safe.
class UnitSource {
 public:
  // `input` outlives it.
  UnitSource(InputLines* input, const Options& options) : input_(input), reader_(options) {}

  // The next unit; false at the end. May block, but waits for no more bytes than it needs.
  absl::StatusOr<bool> Next(TextUnit* unit);
  // As InputLines::progress, up to the last unit.
  double progress() const { return input_->progress(read_ - end_); }
  bool is_open() const { return reader_.is_open(); }

 private:
  InputLines* const input_;
  nibu::TextReader reader_;
  uint64_t read_ = 0;  // bytes in all
  uint64_t end_ = 0;   // of the last unit
  bool ended_ = false;
};

// What a program reads: each of the texts, or else each line of the file `src`. `out`: the file
// that it writes, where it does so directly; else empty. UsageError: both are given, or `src` is
// `out`, or empty. Else, naming the file: it cannot be read.
absl::StatusOr<InputLines> OpenLines(const std::vector<std::string>& texts, const std::string& src,
                                     const std::string& out);

// After a failed read or write of a descriptor: whether to try again. Waits for one that somebody
// has made non-blocking. `event`: POLLIN or POLLOUT.
bool TryAgain(int fd, short event);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_LINES_H_
