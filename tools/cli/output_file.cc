// Writes output files beside their names, and ends the program on signals.
#include "tools/cli/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "tools/cli/flags.h"
#include "tools/cli/lines.h"

namespace nibu::internal {

SignalWatcher::SignalWatcher() {
  EndInOneLine();  // in case that the thread cannot be started
  sigemptyset(&signals_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action;
    // A signal that is ignored from the start stays so (a job in the background, nohup).
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    sigaddset(&signals_, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  signal(SIGPIPE, SIG_IGN);  // write() returns an error instead, which is printed
  signal(SIGXFSZ, SIG_IGN);
  std::thread([this] {
    int number = 0;
    while (sigwait(&signals_, &number) != 0) {
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (before_end_) before_end_();
    _exit(128 + number);
  }).detach();
}

void SignalWatcher::SetBeforeEnd(std::function<void()> f) {
  const std::lock_guard<std::mutex> lock(mutex_);
  before_end_ = std::move(f);
}

void SignalWatcher::Finish(const std::function<void()>& last) {
  const std::lock_guard<std::mutex> lock(mutex_);  // waits for ever if a signal ends the program
  before_end_ = nullptr;
  last();
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (path.empty() || path == "-" || path.back() == '/') return;
  if (PendingPath::CanReplace(path)) pending_ = std::make_unique<PendingPath>(path);
}

OutputFile::~OutputFile() {
  if (fd_ > STDERR_FILENO) close(fd_);
}

absl::Status OutputFile::Failed(absl::string_view why) const {
  return absl::UnavailableError(
      absl::StrCat(path_ == "-" ? "standard output" : path_, ": cannot be written: ", why));
}

absl::Status OutputFile::Open() {
  if (path_.empty()) return WrongUsage("--out is empty; name a file, or - for standard output");
  if (pending_ == nullptr) {
    const std::filesystem::path target = FollowLinks(path_);
    std::error_code error;
    int number = 0;
    if (path_ == "-") {
      fd_ = STDOUT_FILENO;
    } else if (absl::SimpleAtoi(target.filename().string(), &number) &&
               std::filesystem::equivalent(target.parent_path(), "/proc/self/fd", error)) {
      fd_ = dup(number);  // shares the offset, so others that have the file go on where this ends
    } else {
      fd_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    }
    return fd_ >= 0 ? absl::OkStatus() : Failed(std::strerror(errno));
  }
  NIBU_ASSIGN_OR_RETURN(fd_, pending_->Create());
  return absl::OkStatus();
}

absl::StatusOr<Finished> OutputFile::OpenPart(nlohmann::ordered_json run, bool resume) {
  ABSL_ASSERT(pending_ != nullptr && fd_ < 0);
  pending_ = std::make_unique<PendingPath>(path_, ".part");
  pending_->Keep();  // it may be another run's; and a run that fails leaves it to the next
  const std::string& part = pending_->path();
  fd_ = open(part.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd_ < 0 && errno != ENOENT) return Failed(absl::StrCat(part, ": ", std::strerror(errno)));
  if (fd_ < 0) {
    NIBU_ASSIGN_OR_RETURN(fd_, pending_->Create());
  }
  // Another run may have the file, or have had it and given it its name since it was opened here.
  struct stat opened;
  struct stat named;
  const bool is_taken = flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (is_taken || fstat(fd_, &opened) != 0 || stat(part.c_str(), &named) != 0 ||
      opened.st_ino != named.st_ino) {
    return Failed(absl::StrCat("another run is writing ", part, "; wait for it or end it"));
  }
  auto record = std::make_unique<RunRecord>(part + ".json", part, std::move(run));
  if (opened.st_size > 0) {
    NIBU_ASSIGN_OR_RETURN(const Finished found, record->Read(/*must_fit=*/resume));
    if (resume) finished_ = found;
    if (static_cast<uint64_t>(opened.st_size) < finished_.bytes) {
      return absl::FailedPreconditionError(absl::StrCat(
          part, ": has fewer bytes than ", part, ".json says; leave out --resume to begin again"));
    }
  }
  const auto size = static_cast<off_t>(finished_.bytes);
  if (ftruncate(fd_, size) != 0 || lseek(fd_, size, SEEK_SET) != size) {
    return Failed(std::strerror(errno));
  }
  NIBU_RETURN_IF_ERROR(record->Write(finished_));
  recorded_ = finished_;
  record_ = std::move(record);
  earlier_units_ = finished_.units;
  return finished_;
}

void OutputFile::Record(uint64_t units) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (record_ == nullptr || fd_ < 0) return;
  finished_.units = earlier_units_ + units;
  finished_.bytes = static_cast<uint64_t>(lseek(fd_, 0, SEEK_CUR));
  // Units that the record lacks are done again, and those that it has must be on the disk, even if
  // the machine loses power. To wait for the disk each time would take longer than translating.
  const auto now = std::chrono::steady_clock::now();
  if (finished_.units == recorded_.units || now - recorded_at_ < std::chrono::seconds(1)) return;
  if (fdatasync(fd_) == 0 && record_->Write(finished_).ok()) recorded_ = finished_;
  recorded_at_ = now;
}

void OutputFile::RecordFailed(uint64_t failed, uint64_t first_failed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  finished_.failed = failed;
  finished_.first_failed = first_failed;
}

absl::Status OutputFile::Commit() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ABSL_ASSERT(fd_ >= 0);
  if (pending_ != nullptr) {
    if (fsync(fd_) != 0) return Failed(std::strerror(errno));
    NIBU_RETURN_IF_ERROR(pending_->Commit());
    if (record_ != nullptr) record_->Remove();
    pending_ = nullptr;
  }
  return close(std::exchange(fd_, -1)) == 0 ? absl::OkStatus() : Failed(std::strerror(errno));
}

std::string OutputFile::Place() const {
  if (pending_ == nullptr) return "";
  return absl::StrCat("; what was finished is in ", pending_->path(),
                      record_ != nullptr ? ", and --resume goes on behind it" : "");
}

std::string OutputFile::Abandon() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pending_ == nullptr || fd_ < 0) return "";
  if (record_ != nullptr) return AbandonPart();
  // If the disk is full, the last line may be incomplete.
  off_t size = lseek(fd_, 0, SEEK_END);
  char last = '\0';
  while (!is_binary_ && size > 0 && pread(fd_, &last, 1, size - 1) == 1 && last != '\n') --size;
  if (size <= 0) {
    pending_ = nullptr;  // removes the file
    return "";
  }
  pending_->Keep();
  if (ftruncate(fd_, size) != 0) return Place() + ", its last line in part";
  return Place();
}

std::string OutputFile::AbandonPart() {
  const bool is_kept = finished_.units > 0 &&
                       ftruncate(fd_, static_cast<off_t>(finished_.bytes)) == 0 &&
                       fdatasync(fd_) == 0 && record_->Write(finished_).ok();
  if (is_kept || recorded_.units > 0) return Place();
  unlink(pending_->path().c_str());
  record_->Remove();
  return "";
}

OutputGuard::OutputGuard(OutputFile* out, SignalWatcher* signals, std::function<void()> stop)
    : out_(out), signals_(signals) {
  signals_->SetBeforeEnd([out, stop = std::move(stop)] {
    stop();
    if (const std::string place = out->Abandon(); !place.empty()) PrintError("interrupted" + place);
  });
}

absl::Status OutputGuard::End(absl::Status written) {
  signals_->Finish([&] {
    if (written.ok()) written = out_->Commit();
    if (written.ok()) return;
    written = absl::UnavailableError(absl::StrCat(written.message(), out_->Abandon()));
  });
  return written;
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

}  // namespace nibu::internal
