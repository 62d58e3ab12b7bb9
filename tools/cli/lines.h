// Lines of text, from files and pipes.
#ifndef NIBU_TOOLS_CLI_LINES_H_
#define NIBU_TOOLS_CLI_LINES_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/text/layout.h"

namespace nibu::internal {

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

// Lines of a file or pipe, of any length and any bytes (gzip is decompressed); or of given texts.
// Waits for bytes, but not for more of them than a line needs. An error names the file: it cannot
// be read, its gzip data is damaged or not whole (lines in front of the damage have been handed
// out), or it is compressed in another way. After an error Next returns the same error again.
class InputLines : public LineSource {
 public:
  // "-": standard input. NotFound naming the file, or directory. A regular file that is not text
  // is refused here already.
  static absl::StatusOr<InputLines> Open(const std::string& path);
  // Lines that are there already; a text with line feeds is several.
  explicit InputLines(const std::vector<std::string>& texts);

  absl::StatusOr<bool> Next(std::string* line) override;
  double progress() const override;
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

// Paragraphs of lines. Lines of a source are read up to the one that ends a paragraph.
class InputParagraphs : public LineSource {
 public:
  explicit InputParagraphs(LineSource* lines) : lines_(lines) {}
  // `text`: all that it has.
  absl::StatusOr<bool> Next(std::string* text) override;
  double progress() const override { return lines_->progress(); }
  // The last one that Next gave.
  const Paragraph& current() const { return waiting_.front(); }

 private:
  LineSource* const lines_;
  ParagraphReader reader_;
  std::deque<Paragraph> waiting_;  // from current() on
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
