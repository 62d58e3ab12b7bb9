#include "tools/lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/status_macros.h"

namespace nibu {
namespace {

constexpr size_t kReadSize = size_t{1} << 16;

void StripCarriageReturn(std::string* line) {
  if (!line->empty() && line->back() == '\r') line->pop_back();
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

FileLines::FileLines(std::string path, int fd)
    : input_(std::make_unique<InputBytes>(std::move(path), fd)), size_(0) {
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) size_ = static_cast<double>(info.st_size);
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
    const absl::StatusOr<size_t> n = input_->Read(buffer_.data() + searched, kReadSize);
    buffer_.resize(searched + n.value_or(0));
    if (!n.ok()) return n.status();
    end_ = *n == 0;
  }
}

double FileLines::progress() const {
  if (size_ <= 0) return -1;
  const double waiting = input_->is_gzip() ? 0 : static_cast<double>(buffer_.size() - start_);
  // The file may have grown since it was opened.
  return std::min(1.0, (input_->used() - waiting) / size_);
}

bool FileLines::IsSameFile(const std::string& out) const {
  struct stat mine;
  struct stat other;
  const int failed = fstat(input_->fd(), &mine) +
                     (out == "-" ? fstat(STDOUT_FILENO, &other) : stat(out.c_str(), &other));
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

absl::StatusOr<std::unique_ptr<LineSource>> OpenLines(const std::vector<std::string>& texts,
                                                      const std::string& src,
                                                      const std::string& out) {
  if (!texts.empty()) {
    if (src == "-") return std::make_unique<GivenLines>(texts);
    return absl::InvalidArgumentError("give either TEXT or --src, not both");
  }
  NIBU_ASSIGN_OR_RETURN(FileLines file, FileLines::Open(src));
  if (!out.empty() && file.IsSameFile(out)) {
    return absl::InvalidArgumentError(
        absl::StrCat(out == "-" ? "standard output" : out,
                     ": is the file that is read; give the output another name"));
  }
  return std::make_unique<FileLines>(std::move(file));
}

void ReserveStandardDescriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is this one.
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

}  // namespace nibu
