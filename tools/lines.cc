#include "tools/lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "tools/flags.h"

namespace nibu {

absl::StatusOr<InputLines> InputLines::Open(const std::string& path) {
  if (path == "-") return InputLines("standard input", STDIN_FILENO);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  }
  return InputLines(path, fd);
}

InputLines::InputLines(std::string path, int fd)
    : input_(std::make_unique<InputBytes>(std::move(path), fd)), more_(true) {
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) size_ = static_cast<double>(info.st_size);
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
    NIBU_ASSIGN_OR_RETURN(more_, input_->Append(&buffer_));
    end = buffer_.find('\n', searched);
  }
  if (start_ == buffer_.size()) return false;
  end = std::min(end, buffer_.size());
  line->assign(buffer_, start_, end - start_);
  start_ = std::min(end + 1, buffer_.size());
  if (!line->empty() && line->back() == '\r') line->pop_back();
  return true;
}

double InputLines::progress() const {
  if (size_ <= 0) return -1;
  const double waiting = input_->is_gzip() ? 0 : static_cast<double>(buffer_.size() - start_);
  // The file may have grown since it was opened.
  return std::min(1.0, (input_->used() - waiting) / size_);
}

bool InputLines::IsSameFile(const std::string& out) const {
  struct stat mine;
  struct stat other;
  const int failed = fstat(input_->fd(), &mine) +
                     (out == "-" ? fstat(STDOUT_FILENO, &other) : stat(out.c_str(), &other));
  return failed == 0 && S_ISREG(mine.st_mode) && mine.st_dev == other.st_dev &&
         mine.st_ino == other.st_ino;
}

absl::StatusOr<bool> InputParagraphs::Next(std::string* text) {
  if (!waiting_.empty()) waiting_.pop_front();
  for (bool more = true; more && waiting_.empty();) {
    NIBU_ASSIGN_OR_RETURN(more, lines_->Next(text));
    more ? reader_.Add(*text, &waiting_) : reader_.End(&waiting_);
  }
  if (waiting_.empty()) return false;
  *text = absl::StrCat(waiting_.front().first, waiting_.front().text);
  return true;
}

absl::StatusOr<InputLines> OpenLines(const std::vector<std::string>& texts, const std::string& src,
                                     const std::string& out) {
  if (!texts.empty()) {
    if (src == "-") return InputLines(texts);
    return WrongUsage("give either TEXT or --src, not both");
  }
  NIBU_ASSIGN_OR_RETURN(InputLines file, InputLines::Open(src));
  if (!out.empty() && file.IsSameFile(out)) {
    return WrongUsage(out == "-" ? "standard output" : out,
                      ": is the file that is read; give the output another name");
  }
  return file;
}

}  // namespace nibu
