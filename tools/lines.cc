#include "tools/lines.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace nibu {
namespace {

constexpr size_t kReadSize = size_t{1} << 16;

void StripCarriageReturn(std::string* line) {
  if (!line->empty() && line->back() == '\r') line->pop_back();
}

// After a failed read or write: whether to try again. Waits for a descriptor that somebody has made
// non-blocking.
bool TryAgain(int fd, short event) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  struct pollfd wanted = {fd, event, 0};
  return poll(&wanted, 1, -1) >= 0 || errno == EINTR;
}

}  // namespace

absl::StatusOr<FileLines> FileLines::Open(const std::string& path) {
  if (path == "-") return FileLines("standard input", STDIN_FILENO);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  }
  return FileLines(path, fd);
}

FileLines::FileLines(std::string path, int fd) : path_(std::move(path)), fd_(fd), size_(0) {
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) size_ = static_cast<double>(info.st_size);
}

FileLines::FileLines(FileLines&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      read_(other.read_),
      buffer_(std::move(other.buffer_)),
      start_(other.start_),
      end_(other.end_) {}

FileLines::~FileLines() {
  if (fd_ > STDIN_FILENO) close(fd_);
}

absl::StatusOr<bool> FileLines::Next(std::string* line) {
  size_t searched = start_;
  while (true) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      line->assign(buffer_, start_, end - start_);
      start_ = end + 1;
      StripCarriageReturn(line);
      return true;
    }
    if (end_) {
      if (start_ == buffer_.size()) return false;
      line->assign(buffer_, start_, std::string::npos);
      start_ = buffer_.size();
      StripCarriageReturn(line);
      return true;
    }
    buffer_.erase(0, start_);
    start_ = 0;
    searched = buffer_.size();
    buffer_.resize(searched + kReadSize);
    ssize_t n;
    do {
      n = read(fd_, buffer_.data() + searched, kReadSize);
    } while (n < 0 && TryAgain(fd_, POLLIN));
    buffer_.resize(searched + (n > 0 ? static_cast<size_t>(n) : 0));
    if (n < 0) {
      return absl::UnavailableError(
          absl::StrCat(path_, ": cannot be read: ", std::strerror(errno)));
    }
    read_ += static_cast<double>(n);
    end_ = n == 0;
  }
}

double FileLines::progress() const {
  if (size_ <= 0) return -1;
  // The file may have grown since it was opened.
  return std::min(1.0, (read_ - static_cast<double>(buffer_.size() - start_)) / size_);
}

bool FileLines::IsSameFile(const std::string& out) const {
  struct stat mine;
  struct stat other;
  const int failed =
      fstat(fd_, &mine) + (out == "-" ? fstat(STDOUT_FILENO, &other) : stat(out.c_str(), &other));
  return failed == 0 && S_ISREG(mine.st_mode) && mine.st_dev == other.st_dev &&
         mine.st_ino == other.st_ino;
}

GivenLines::GivenLines(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      lines_.emplace_back(line);
      StripCarriageReturn(&lines_.back());
    }
  }
}

absl::StatusOr<bool> GivenLines::Next(std::string* line) {
  if (next_ == lines_.size()) return false;
  *line = std::move(lines_[next_++]);
  return true;
}

void ReserveStandardDescriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is this one.
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

absl::StatusOr<int> OpenOutput(const std::string& path) {
  if (path == "-") return STDOUT_FILENO;
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) {
    return absl::UnavailableError(
        absl::StrCat(path, ": cannot be written: ", std::strerror(errno)));
  }
  return fd;
}

absl::Status WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && TryAgain(fd, POLLOUT)) continue;
    if (n < 0 && errno == EPIPE) return absl::CancelledError("the reader has gone");
    if (n < 0) return absl::UnavailableError(std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

}  // namespace nibu
