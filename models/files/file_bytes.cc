// Maps a regular file with mmap, or holds bytes in memory.
#include "models/files/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "models/files/foreign.h"

namespace nibu::internal {
namespace {

// Returns true if `part` lies inside of `whole`.
bool IsPart(absl::string_view whole, absl::string_view part) {
  constexpr std::less_equal<const char*> is_not_behind{};
  return is_not_behind(whole.data(), part.data()) &&
         is_not_behind(part.data() + part.size(), whole.data() + whole.size());
}

}  // namespace

absl::StatusOr<std::shared_ptr<const FileBytes>> FileBytes::Open(const std::string& path,
                                                                 bool copy_on_write) {
  // O_NONBLOCK, because opening a named pipe would otherwise wait for its writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) {
      return absl::NotFoundError(absl::StrCat(path, ": no such file"));
    }
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": cannot be opened: ", std::strerror(error)));
  }
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return absl::FailedPreconditionError(absl::StrCat(path, ": not a regular file"));
  }
  auto file = std::shared_ptr<FileBytes>(new FileBytes(path));
  const auto size = static_cast<size_t>(info.st_size);
  if (size > 0) {
    const int access = copy_on_write ? PROT_READ | PROT_WRITE : PROT_READ;
    void* mapping = mmap(nullptr, size, access, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (mapping == MAP_FAILED) {
      const int error = errno;
      close(fd);
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": cannot be mapped into memory: ", std::strerror(error)));
    }
    file->mapping_ = mapping;
    file->bytes_ = absl::string_view(static_cast<const char*>(mapping), size);
    if (copy_on_write) file->writable_ = {static_cast<char*>(mapping), size};
  }
  close(fd);
  if (IsGitLfsPointer(file->bytes_)) return GitLfsPointerError(path);
  return file;
}

std::shared_ptr<const FileBytes> FileBytes::InMemory(std::string path, std::string bytes) {
  auto file = std::shared_ptr<FileBytes>(new FileBytes(std::move(path)));
  file->owned_ = std::move(bytes);
  file->bytes_ = file->owned_;
  return file;
}

std::shared_ptr<const FileBytes> FileBytes::PartOf(std::shared_ptr<const FileBytes> whole,
                                                   std::string path, absl::string_view bytes) {
  ABSL_ASSERT(IsPart(whole->bytes(), bytes));
  auto file = std::shared_ptr<FileBytes>(new FileBytes(std::move(path)));
  file->whole_ = std::move(whole);
  file->bytes_ = bytes;
  return file;
}

FileBytes::~FileBytes() {
  if (mapping_ != nullptr) munmap(mapping_, bytes_.size());
}

void FileBytes::DropPages() const {
  if (whole_ != nullptr) whole_->DropPages();
  if (mapping_ != nullptr) madvise(mapping_, bytes_.size(), MADV_DONTNEED);
}

}  // namespace nibu::internal
