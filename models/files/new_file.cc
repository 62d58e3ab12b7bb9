// Writes to a temporary name, syncs, and renames.
#include "models/files/new_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "models/files/directory.h"

namespace nibu::internal {
namespace {

absl::Status CannotWrite(const std::string& path, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written: ", why));
}
absl::Status CannotWrite(const std::string& path, int error) {
  return CannotWrite(path, std::strerror(error));
}

// The paths of all PendingPaths that may have to be removed.
struct PendingPaths {
  std::mutex mutex;
  std::set<std::string> paths;
};

PendingPaths& Pending() {
  static PendingPaths& pending = *new PendingPaths();
  return pending;
}

}  // namespace

absl::StatusOr<NewFile> NewFile::Create(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return CannotWrite(path, errno);
  return NewFile(path, fd);
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

NewFile::~NewFile() {
  if (fd_ >= 0) close(fd_);
}

absl::Status NewFile::Failed() const { return CannotWrite(path_, errno); }

absl::Status NewFile::Append(absl::string_view bytes) {
  const uint64_t at = size_;
  size_ += bytes.size();
  return WriteAt(at, bytes);
}

absl::Status NewFile::WriteAt(uint64_t offset, absl::string_view bytes) {
  ABSL_ASSERT(offset <= size_ && bytes.size() <= size_ - offset);
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed();
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return absl::OkStatus();
}

bool NewFile::Holds(uint64_t offset, absl::string_view bytes) const {
  char buffer[1 << 16];
  while (!bytes.empty()) {
    const size_t most = std::min(bytes.size(), sizeof(buffer));
    const ssize_t n = pread(fd_, buffer, most, static_cast<off_t>(offset));
    if (n <= 0 || std::memcmp(buffer, bytes.data(), static_cast<size_t>(n)) != 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return true;
}

absl::Status NewFile::Sync() { return fsync(fd_) == 0 ? absl::OkStatus() : Failed(); }

std::string FollowLinks(const std::string& path) {
  std::filesystem::path file = path;
  std::error_code error;
  constexpr int kMost = 40;  // the system's limit, too: with more links the path cannot be opened
  for (int i = 0; i < kMost && std::filesystem::is_symlink(file, error); ++i) {
    struct statfs system;
    if (statfs(DirectoryOf(file.string()).c_str(), &system) == 0 &&
        system.f_type == PROC_SUPER_MAGIC) {
      break;
    }
    const std::filesystem::path next = std::filesystem::read_symlink(file, error);
    if (error) break;
    file = file.parent_path() / next;
  }
  return file.string();
}

PendingPath::PendingPath(std::string target, const std::string& ending)
    : target_(std::move(target)) {
  while (target_.size() > 1 && target_.back() == '/') target_.pop_back();
  target_ = FollowLinks(target_);
  const std::string first =
      absl::StrCat(target_, ending.empty() ? absl::StrCat(".tmp-", getpid()) : ending);
  path_ = first;
  std::error_code error;
  // An earlier process of the same number may have left a file.
  for (int i = 2; ending.empty() && std::filesystem::exists(path_, error); ++i) {
    path_ = absl::StrCat(first, "-", i);
  }
  const std::lock_guard<std::mutex> lock(Pending().mutex);
  Pending().paths.insert(path_);
}

PendingPath::~PendingPath() {
  if (kept_) return;
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  Keep();  // nothing is left for RemoveAll()
}

bool PendingPath::CanReplace(const std::string& target) {
  std::error_code error;
  using Type = std::filesystem::file_type;
  const Type type = std::filesystem::symlink_status(FollowLinks(target), error).type();
  // Type::none means that the path cannot be looked at. Create() fails then, too, and says why.
  return type == Type::regular || type == Type::not_found || type == Type::none;
}

absl::StatusOr<int> PendingPath::Create() const {
  if (!CanReplace(target_)) return CannotWrite(target_, "it is not a regular file");
  struct stat info;
  const bool exists = stat(target_.c_str(), &info) == 0;
  if (exists && access(target_.c_str(), W_OK) != 0) return CannotWrite(target_, errno);
  const int fd = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                      exists ? info.st_mode & 0777 : 0666);
  // Gives the new file the owner and permissions of the old one. For other users than root, the
  // owner is the same already, or cannot be changed.
  const auto alike = [&] {
    return (geteuid() != 0 || fchown(fd, info.st_uid, info.st_gid) == 0) &&
           fchmod(fd, info.st_mode & 07777) == 0;
  };
  if (fd >= 0 && (!exists || alike())) return fd;
  const int error = errno;
  if (fd >= 0) close(fd);
  return CannotWrite(target_, absl::StrCat(path_, " cannot be made: ", std::strerror(error)));
}

void PendingPath::Keep() {
  kept_ = true;
  const std::lock_guard<std::mutex> lock(Pending().mutex);
  Pending().paths.erase(path_);
}

void PendingPath::RemoveAll() {
  const std::lock_guard<std::mutex> lock(Pending().mutex);
  for (const std::string& path : Pending().paths) {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
}

absl::Status PendingPath::Commit() {
  if (std::rename(path_.c_str(), target_.c_str()) != 0) return CannotWrite(target_, errno);
  // The name must reach the disk, too. If a directory cannot be synced, it does so later.
  const int fd = open(DirectoryOf(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    (void)fsync(fd);
    close(fd);
  }
  return absl::OkStatus();
}

}  // namespace nibu::internal
