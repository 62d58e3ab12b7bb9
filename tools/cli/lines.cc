// Reads files and pipes, decompresses gzip, and refuses files that are not text.
#include "tools/cli/lines.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "tools/cli/flags.h"

namespace nibu::internal {
namespace {

constexpr size_t kReadSize = size_t{1} << 16;

// A kind of file that is not plain UTF-8 text, and the bytes that it begins with; '?' is any byte.
// No UTF-8 text begins with any of these. If two entries fit, the first one counts.
struct FileKind {
  absl::string_view magic;
  const char* name;
  const char* command;  // a command that writes the text to standard output; null for gzip
};
constexpr FileKind kFormats[] = {
    {"\x1f\x8b", "compressed with gzip", nullptr},
    {"BZh?1AY&SY", "compressed with bzip2", "bzip2 -dc"},
    {"BZh?\x17rE8P\x90", "compressed with bzip2", "bzip2 -dc"},  // an empty file
    {"\xfd"
     "7zXZ",
     "compressed with xz", "xz -dc"},
    {"\x28\xb5\x2f\xfd", "compressed with zstd", "zstd -dc"},
    {"\x04\x22\x4d\x18", "compressed with lz4", "lz4 -dc"},
    {"PK\x03\x04", "compressed with zip", "unzip -p"},
    {"7z\xbc\xaf\x27\x1c", "compressed with 7z", "7z x -so"},
    // These are known by their byte order marks.
    {absl::string_view("\xff\xfe\0\0", 4), "UTF-32 text", "iconv -f UTF-32 -t UTF-8"},
    {absl::string_view("\0\0\xfe\xff", 4), "UTF-32 text", "iconv -f UTF-32 -t UTF-8"},
    {"\xff\xfe", "UTF-16 text", "iconv -f UTF-16 -t UTF-8"},
    {"\xfe\xff", "UTF-16 text", "iconv -f UTF-16 -t UTF-8"},
};

// Returns whether the shorter of the two is a beginning of the longer one.
bool Agree(absl::string_view bytes, absl::string_view magic) {
  for (size_t i = 0; i < std::min(bytes.size(), magic.size()); ++i) {
    if (magic[i] != '?' && magic[i] != bytes[i]) return false;
  }
  return true;
}

// Returns the format of a file with these first bytes, or null for plain text. `more`: there may be
// more bytes.
const FileKind* FindFormat(absl::string_view bytes, bool more) {
  const FileKind* const found =
      std::find_if(std::begin(kFormats), std::end(kFormats), [&](const FileKind& format) {
        return Agree(bytes, format.magic) && (more || bytes.size() >= format.magic.size());
      });
  return found == std::end(kFormats) ? nullptr : found;
}

}  // namespace

bool TryAgain(int fd, short event) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  struct pollfd wanted = {fd, event, 0};
  return poll(&wanted, 1, -1) >= 0 || errno == EINTR;
}

// A file that is read in pieces, and decompressed if it is gzip.
struct InputLines::File {
  // Closes `descriptor` in the end, unless it is standard input.
  File(std::string path, int descriptor) : name(std::move(path)), fd(descriptor) {
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) size = static_cast<double>(info.st_size);
  }
  ~File() {
    if (fd > STDIN_FILENO) close(fd);
    inflateEnd(&gzip);  // does nothing if the file is not gzip
  }

  // Appends the bytes that are there to `bytes`. Returns false at the end.
  absl::StatusOr<bool> Fill() {
    const size_t before = bytes.size();
    bytes.resize(before + kReadSize);
    ssize_t n;
    do {
      n = ::read(fd, bytes.data() + before, kReadSize);
    } while (n < 0 && TryAgain(fd, POLLIN));
    bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (n < 0) {
      return absl::UnavailableError(absl::StrCat(name, ": cannot be read: ", std::strerror(errno)));
    }
    read += static_cast<double>(n);
    return n > 0;
  }

  absl::Status NotText(const FileKind& format) const {
    return absl::UnimplementedError(
        absl::StrCat(name, ": is ", format.name,
                     "; only UTF-8 text is read, plain or compressed with gzip: convert it with ",
                     format.command));
  }

  // Reads until the format of the file is clear, at the first call.
  absl::Status Sniff() {
    if (std::exchange(sniffed, true)) return absl::OkStatus();
    const FileKind* format = nullptr;
    for (bool more = true; more;) {  // as long as the bytes may begin a known format
      NIBU_ASSIGN_OR_RETURN(more, Fill());
      format = FindFormat(bytes, more);
      if (format == nullptr) return absl::OkStatus();
      more = more && bytes.size() < format->magic.size();
    }
    if (format->command != nullptr) return NotText(*format);
    is_gzip = true;
    if (inflateInit2(&gzip, 16 + MAX_WBITS) == Z_OK)
      return absl::OkStatus();  // 16: no other header
    return absl::ResourceExhaustedError(absl::StrCat(name, ": no memory to decompress it"));
  }

  absl::StatusOr<bool> Inflate(std::string* to) {
    const size_t before = to->size();
    while (true) {
      // Tapes and disks may have zeros behind a gzip member.
      if (!in_member) bytes.erase(0, bytes.find_first_not_of('\0'));
      in_member = in_member || !bytes.empty();
      if (in_member) {
        to->resize(before + kReadSize);
        gzip.next_in = reinterpret_cast<Bytef*>(bytes.data());
        gzip.avail_in = static_cast<uInt>(bytes.size());
        gzip.next_out = reinterpret_cast<Bytef*>(to->data() + before);
        gzip.avail_out = static_cast<uInt>(kReadSize);
        const int result = inflate(&gzip, Z_NO_FLUSH);
        bytes.erase(0, bytes.size() - gzip.avail_in);
        to->resize(to->size() - gzip.avail_out);
        if (result == Z_STREAM_END) {
          in_member = false;
          inflateReset(&gzip);
        }
        if (to->size() > before) return true;  // the next call finds an error behind these bytes
        if (result != Z_OK && result != Z_BUF_ERROR && result != Z_STREAM_END) {
          const char* why = gzip.msg != nullptr ? gzip.msg : zError(result);
          return absl::DataLossError(
              absl::StrCat(name, ": damaged gzip data (", why, "); get the file again"));
        }
      }
      if (!bytes.empty()) continue;
      NIBU_ASSIGN_OR_RETURN(const bool more, Fill());
      if (more) continue;
      if (!in_member) return false;
      return absl::DataLossError(
          absl::StrCat(name, ": ends within its gzip data; get the whole file"));
    }
  }

  // Appends the next bytes, at least one, to `to`. Returns false at the end, and after an error
  // the same error again.
  absl::StatusOr<bool> Append(std::string* to) {
    if (!failure.ok()) return failure;
    absl::StatusOr<bool> more = AppendOnce(to);
    failure = more.status();
    return more;
  }

  absl::StatusOr<bool> AppendOnce(std::string* to) {
    NIBU_RETURN_IF_ERROR(Sniff());
    if (is_gzip) {
      const size_t before = to->size();
      NIBU_ASSIGN_OR_RETURN(const bool more, Inflate(to));
      if (std::exchange(saw_inflated, true)) return more;
      // The decompressed bytes may not be UTF-8 text either.
      const FileKind* const format = FindFormat(absl::string_view(*to).substr(before), false);
      if (format == nullptr) return more;
      to->resize(before);
      if (format->command != nullptr) return NotText(*format);
      return absl::UnimplementedError(
          absl::StrCat(name, ": is compressed with gzip twice; run gunzip"));
    }
    if (bytes.empty()) NIBU_RETURN_IF_ERROR(Fill().status());
    to->append(bytes);
    return !std::exchange(bytes, "").empty();
  }

  const std::string name;  // its name in messages
  const int fd;
  double size = 0;         // the size of a regular file, else 0
  double read = 0;         // number of bytes read
  std::string bytes = {};  // bytes that have been read, but not used
  absl::Status failure = {};
  bool sniffed = false;
  bool is_gzip = false;
  bool saw_inflated = false;  // the beginning of the decompressed bytes has been checked
  bool in_member = false;     // within a gzip member, of which a file may have several
  z_stream gzip = {};
};

absl::StatusOr<InputLines> InputLines::Open(const std::string& path) {
  const bool is_stdin = path == "-";
  const int fd = is_stdin ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const std::string name = is_stdin ? "standard input" : path;
  // A directory can be opened, but not read.
  if (fd < 0 || read(fd, nullptr, 0) < 0) {
    const std::string why = std::strerror(errno);
    if (fd > STDIN_FILENO) close(fd);
    return absl::NotFoundError(absl::StrCat(name, ": cannot be read: ", why));
  }
  if (is_stdin && isatty(fd) != 0) PrintNote("reads lines from the terminal; Ctrl-D ends them");
  InputLines lines({});
  lines.more_ = true;
  lines.file_ = std::make_shared<File>(name, fd);
  // A pipe is checked only when its lines are asked for, since that may have to wait.
  if (lines.file_->size > 0) NIBU_RETURN_IF_ERROR(lines.file_->Sniff());
  return lines;
}

InputLines::InputLines(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) absl::StrAppend(&buffer_, text, "\n");
}

absl::StatusOr<bool> InputLines::Next(std::string* line) {
  size_t end = buffer_.find('\n', start_);
  while (end == std::string::npos && more_) {
    buffer_.erase(0, start_);
    start_ = 0;
    const size_t searched = buffer_.size();
    NIBU_ASSIGN_OR_RETURN(more_, file_->Append(&buffer_));
    end = buffer_.find('\n', searched);
  }
  if (start_ == buffer_.size()) return false;
  end = std::min(end, buffer_.size());
  line->assign(buffer_, start_, end - start_);
  start_ = std::min(end + 1, buffer_.size());
  if (!line->empty() && line->back() == '\r') line->pop_back();
  return true;
}

absl::StatusOr<bool> InputLines::Read(std::string* bytes) {
  bytes->append(buffer_, start_, std::string::npos);
  const bool is_new = start_ < buffer_.size();
  buffer_.clear();
  start_ = 0;
  if (is_new) return true;
  if (!more_) return false;
  NIBU_ASSIGN_OR_RETURN(more_, file_->Append(bytes));
  return more_;
}

double InputLines::progress(uint64_t waiting) const {
  if (file_ == nullptr || file_->size == 0) return -1;
  const uint64_t unused =
      file_->bytes.size() + (file_->is_gzip ? 0 : buffer_.size() - start_ + waiting);
  // The file may have grown since it was opened.
  return std::min(1.0, (file_->read - static_cast<double>(unused)) / file_->size);
}

bool InputLines::IsSameFile(const std::string& out) const {
  ABSL_ASSERT(file_ != nullptr);
  struct stat mine;
  struct stat other;
  const int failed = fstat(file_->fd, &mine) +
                     (out == "-" ? fstat(STDOUT_FILENO, &other) : stat(out.c_str(), &other));
  return failed == 0 && S_ISREG(mine.st_mode) && mine.st_dev == other.st_dev &&
         mine.st_ino == other.st_ino;
}

absl::StatusOr<uint64_t> InputLines::PlainSize() const {
  if (file_ == nullptr) return Invalid("the input is TEXT of the command line");
  struct stat info;
  if (file_->fd == STDIN_FILENO) return Invalid("the input is standard input");
  if (fstat(file_->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    return Invalid(file_->name, " is a pipe or device");
  }
  if (file_->is_gzip) return Invalid(file_->name, " is compressed with gzip");
  return static_cast<uint64_t>(info.st_size);
}

absl::StatusOr<uint64_t> UnitSource::Start(const UnitRange& range, uint64_t done) {
  range_ = range;
  InputUnit unit;
  while (position() < range.begin || done > 0) {
    if (position() >= range.begin) --done;
    NIBU_ASSIGN_OR_RETURN(const bool more, Next(&unit));
    if (!more) break;
  }
  return units_;
}

double UnitSource::progress() const {
  if (range_.begin == 0 && range_.is_last) return input_->progress(read_ - end_);
  const auto share = [this](uint64_t n) { return static_cast<double>(n - range_.begin); };
  return std::min(1.0, share(position()) / share(range_.end));
}

absl::StatusOr<bool> UnitSource::Next(InputUnit* unit) {
  if (position() >= range_.end) return false;
  // A quotation mark that nothing closes must not take the rest of the file.
  constexpr size_t kMostLines = 64;
  constexpr size_t kMostBytes = size_t{1} << 16;
  std::string text;
  size_t lines = 0;
  do {
    if (lines == waiting_.size()) {
      TextUnit next;
      NIBU_ASSIGN_OR_RETURN(const bool more, Read(&next));
      if (!more) break;
      waiting_.push_back(std::move(next));
    }
    absl::StrAppend(&text, lines > 0 ? "\n" : "", waiting_[lines].source());
    ++lines;
  } while (goes_on_ != nullptr && goes_on_(text) && lines < kMostLines && text.size() < kMostBytes);
  if (lines == 0) return false;
  if (lines > 1 && goes_on_(text)) lines = 1;
  static_cast<TextUnit&>(*unit) = waiting_[0];
  unit->rest = lines > 1 ? text.substr(unit->source().size()) : "";
  end_ = waiting_[lines - 1].end();
  ++units_;
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<long>(lines));
  return true;
}

absl::StatusOr<bool> UnitSource::Read(TextUnit* unit) {
  while (!reader_.Next(unit)) {
    if (ended_) return false;
    std::string bytes;
    NIBU_ASSIGN_OR_RETURN(const bool more, input_->Read(&bytes));
    reader_.Add(bytes);
    read_ += bytes.size();
    ended_ = !more;
    if (ended_) reader_.End();
  }
  return true;
}

absl::StatusOr<InputLines> OpenLines(const std::vector<std::string>& texts, const std::string& src,
                                     const std::string& out) {
  if (!texts.empty()) {
    if (src == "-") return InputLines(texts);
    return WrongUsage("give either TEXT or --src, not both");
  }
  if (src.empty()) return WrongUsage("--src is empty; name a file, or - for standard input");
  NIBU_ASSIGN_OR_RETURN(InputLines file, InputLines::Open(src));
  if (!out.empty() && file.IsSameFile(out)) {
    return WrongUsage(out == "-" ? "standard output" : out,
                      ": is the file that is read; give the output another name");
  }
  return file;
}

absl::StatusOr<UnitRange> ShardRange(const std::string& shard, const std::string& src,
                                     const InputLines& input, bool counts_units,
                                     bool (*goes_on)(absl::string_view)) {
  if (shard.empty()) return UnitRange();
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(shard, '/');
  uint32_t k = 0;
  uint32_t n = 0;
  if (!absl::SimpleAtoi(parts.first, &k) || !absl::SimpleAtoi(parts.second, &n) || k < 1 || k > n ||
      shard != absl::StrCat(k, "/", n)) {
    return WrongUsage("--shard must be K/N with K from 1 to N, not \"", shard, "\"");
  }
  const absl::StatusOr<uint64_t> bytes = input.PlainSize();
  if (!bytes.ok()) {
    return WrongUsage("--shard takes a part of a plain file, but ", bytes.status().message(),
                      "; name such a file with --src");
  }
  uint64_t total = *bytes;
  if (counts_units) {
    NIBU_ASSIGN_OR_RETURN(InputLines file, InputLines::Open(src));
    UnitSource units(&file, Options(), goes_on);
    NIBU_ASSIGN_OR_RETURN(total, units.Start({}, std::numeric_limits<uint64_t>::max()));
  }
  // Without overflow; total * i would.
  const auto begin = [&](uint64_t i) { return total / n * i + total % n * i / n; };
  return UnitRange{begin(k - 1), begin(k), counts_units, k == n};
}

absl::Status SkipLines(uint64_t lines, InputLines* input) {
  std::string line;
  for (; lines > 0; --lines) NIBU_RETURN_IF_ERROR(input->Next(&line).status());
  return absl::OkStatus();
}

}  // namespace nibu::internal
