// Files that appear whole or not at all.
#ifndef NIBU_MODELS_FILES_NEW_FILE_H_
#define NIBU_MODELS_FILES_NEW_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace nibu::internal {

// A file being written. Move only; closed on destruction. Not thread-safe.
class NewFile {
 public:
  // Creates `path`, which must not be there.
  static absl::StatusOr<NewFile> Create(const std::string& path);
  // An empty file that is open; `path` names it in messages.
  NewFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  uint64_t size() const { return size_; }
  absl::Status Append(absl::string_view bytes);
  // Over bytes that are there.
  absl::Status WriteAt(uint64_t offset, absl::string_view bytes);
  // Forgets what comes after `size` bytes.
  absl::Status Truncate(uint64_t size);
  // Whether the bytes at `offset` are these.
  bool Holds(uint64_t offset, absl::string_view bytes) const;
  // Until the disk has it all.
  absl::Status Sync();

 private:
  absl::Status Failed() const;

  std::string path_;
  int fd_;
  uint64_t size_ = 0;
};

// What a path names, symbolic links followed; it need not be there. Those of /proc stand for open
// files, not for names: they stay.
std::string FollowLinks(const std::string& path);

// A name beside `target` (beside what it names, if it is a symbolic link) for what is to become it,
// and the end of it: removed (with what is below it) on destruction unless Commit() gave it its
// name.
class PendingPath {
 public:
  explicit PendingPath(std::string target);
  PendingPath(const PendingPath&) = delete;
  PendingPath& operator=(const PendingPath&) = delete;
  ~PendingPath();

  // Whether `target` is a file or not there: devices, pipes, sockets and directories are never
  // replaced, nor is what a descriptor stands for.
  static bool CanReplace(const std::string& target);

  const std::string& path() const { return path_; }
  // The descriptor of a file that it creates at path(), with permissions and owner of the one to be
  // replaced. Unavailable naming the target: that one must not be written or replaced, or why.
  absl::StatusOr<int> Create() const;
  // Removes all that are not committed, for a program that ends at once. Any thread.
  static void RemoveAll();

  // Renames path() to the target; a file that has that name is replaced.
  absl::Status Commit();
  // Leaves what is there where it is.
  void Keep();

 private:
  std::string target_;
  std::string path_;
  bool kept_ = false;
};

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_NEW_FILE_H_
