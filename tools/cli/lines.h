// Reads lines of text from files and pipes.
#ifndef NIBU_TOOLS_CLI_LINES_H_
#define NIBU_TOOLS_CLI_LINES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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
  // Returns the size of a regular file that is not compressed, in bytes. InvalidArgument names what
  // the input is instead, or the file that is compressed.
  absl::StatusOr<uint64_t> PlainSize() const;

 private:
  struct File;
  std::shared_ptr<File> file_;  // null: the lines are those of given texts
  std::string buffer_;
  size_t start_ = 0;   // where the bytes begin that have not been returned
  bool more_ = false;  // there may be more bytes than those in buffer_
};

// A unit of the input.
struct InputUnit : TextUnit {
  std::string rest;  // further lines that belong to it, each with a line feed in front
  size_t size() const { return TextUnit::size() + rest.size(); }
};

// The units that begin at positions from `begin` to `end`, without `end`. A position is a number of
// bytes or of units.
struct UnitRange {
  uint64_t begin = 0;
  uint64_t end = std::numeric_limits<uint64_t>::max();
  bool counts_units = false;
  bool is_last = true;  // no units of the input follow
};

// Reads the units of a text one by one. Not thread-safe.
class UnitSource {
 public:
  // `input` must outlive it.
  // `goes_on`, if not null, says of lines, with line feeds in between, that they belong together
  // and are not whole. They are one unit, unless too many lines follow that do not complete them.
  UnitSource(InputLines* input, const Options& options,
             bool (*goes_on)(absl::string_view) = nullptr)
      : input_(input), reader_(options), goes_on_(goes_on) {}

  // Leaves out the units in front of the range, and then `done` further ones; Next ends behind the
  // range. Returns the number of units left out. They are read, because what a unit is may depend
  // on those before it (markup, cells of several lines). To be called once, before Next.
  absl::StatusOr<uint64_t> Start(const UnitRange& range, uint64_t done);
  // Sets `unit` to the next unit. Returns false at the end. May block, but waits for no more bytes
  // than the unit needs.
  absl::StatusOr<bool> Next(InputUnit* unit);
  // Returns the share of the input, or of its range, up to the end of the last unit, as
  // InputLines::progress does.
  double progress() const;
  bool is_open() const { return reader_.is_open(); }

 private:
  absl::StatusOr<bool> Read(TextUnit* unit);
  // Returns where the next unit begins.
  uint64_t position() const { return range_.counts_units ? units_ : end_; }

  InputLines* const input_;
  nibu::TextReader reader_;
  bool (*const goes_on_)(absl::string_view);
  std::deque<TextUnit> waiting_;  // lines that have been read, and may belong to those before
  uint64_t read_ = 0;             // number of bytes read so far
  uint64_t end_ = 0;              // number of bytes up to the end of the last unit
  uint64_t units_ = 0;            // number of units up to there
  UnitRange range_;
  bool ended_ = false;
};

// Opens the input of a program: the given texts or, if there are none, the lines of the file `src`.
// `out` is the file that the program writes directly, or empty. It is a UsageError if texts and a
// file are given, or if `src` is empty or is `out`. Other errors name the file that cannot be read.
absl::StatusOr<InputLines> OpenLines(const std::vector<std::string>& texts, const std::string& src,
                                     const std::string& out);

// Returns the range of the K-th of N parts of the file `src`, for `shard` "K/N" with K from 1, or
// all of it for an empty `shard`. The parts have about as many bytes or, with `counts_units`, as
// many units, for which the file is read once. `goes_on`: see UnitSource. It is a UsageError if
// `shard` has another form, or if `input`, which is the open file, is none that can be cut; see
// InputLines::PlainSize.
absl::StatusOr<UnitRange> ShardRange(const std::string& shard, const std::string& src,
                                     const InputLines& input, bool counts_units,
                                     bool (*goes_on)(absl::string_view) = nullptr);

// Reads so many lines of a file that runs along with another one.
absl::Status SkipLines(uint64_t lines, InputLines* input);

// Returns whether to try again after a failed read or write. If somebody has made the descriptor
// non-blocking, waits until it is ready. `event`: POLLIN or POLLOUT.
bool TryAgain(int fd, short event);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_LINES_H_
