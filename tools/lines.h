// Lines of text, from files and pipes.
#ifndef NIBU_TOOLS_LINES_H_
#define NIBU_TOOLS_LINES_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/input_bytes.h"

namespace nibu {

// A sequence of lines. Not thread-safe.
class LineSource {
 public:
  virtual ~LineSource() = default;
  // The next line, without its end: a line feed, or carriage return and line feed. False at the
  // end. A last line without an end counts. May block.
  virtual absl::StatusOr<bool> Next(std::string* line) = 0;
  // What part of it has been handed out: 0 to 1, or negative where the size is not known.
  virtual double progress() const { return -1; }
};

// Lines of a file or pipe, of any length and any bytes; gzip is decompressed.
class FileLines : public LineSource {
 public:
  // "-": standard input. NotFound or Unavailable naming the file.
  static absl::StatusOr<FileLines> Open(const std::string& path);
  FileLines(FileLines&& other) noexcept = default;
  FileLines& operator=(FileLines&&) = delete;

  absl::StatusOr<bool> Next(std::string* line) override;
  double progress() const override;
  // Whether this is also the regular file `out` ("-": standard output): writing there directly
  // would destroy what has not been read.
  bool IsSameFile(const std::string& out) const;

 private:
  FileLines(std::string path, int fd);

  std::unique_ptr<InputBytes> input_;
  double size_;  // of a regular file, else 0
  std::string buffer_;
  size_t start_ = 0;  // of what has not been handed out
  bool end_ = false;
};

// Lines that are there already; a text with line feeds is several.
class GivenLines : public LineSource {
 public:
  explicit GivenLines(const std::vector<std::string>& texts);
  absl::StatusOr<bool> Next(std::string* line) override;

 private:
  std::vector<std::string> lines_;
  size_t next_ = 0;
};

// What a program reads: each of the texts, or else each line of the file `src`. `out`: the file
// that it writes, where it does so directly; else empty. InvalidArgument: both are given, or `src`
// is `out`. Else, naming the file: it cannot be read.
absl::StatusOr<std::unique_ptr<LineSource>> OpenLines(const std::vector<std::string>& texts,
                                                      const std::string& src,
                                                      const std::string& out);

// Gives those of the descriptors 0, 1 and 2 that are closed to /dev/null, so that no file opened
// later gets the number and with it what is meant for standard output or error. Reading and writing
// them fails as before.
void ReserveStandardDescriptors();

}  // namespace nibu

#endif  // NIBU_TOOLS_LINES_H_
