// Writes files that appear whole under their names, or not at all.
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
  // Creates the file `path`. Unavailable naming it: it cannot be created, or is there already.
  static absl::StatusOr<NewFile> Create(const std::string& path);
  // Takes an empty file that is open, and closes it in the end. `path` names it in messages.
  NewFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  uint64_t size() const { return size_; }
  absl::Status Append(absl::string_view bytes);
  // Overwrites bytes that are there.
  absl::Status WriteAt(uint64_t offset, absl::string_view bytes);
  // Returns true if these bytes are in the file at `offset`; false if it cannot be read, too.
  bool Holds(uint64_t offset, absl::string_view bytes) const;
  // Returns when the disk has all bytes.
  absl::Status Sync();

 private:
  absl::Status Failed() const;

  std::string path_;
  int fd_;
  uint64_t size_ = 0;
};

// Returns the path that remains when symbolic links are followed; nothing need be there. Links of
// /proc stay as they are, because they stand for open files rather than for names.
std::string FollowLinks(const std::string& path);

// A temporary path for a file or directory that Commit() renames to `target`. It lies beside the
// target, or beside what the target stands for, if that is a symbolic link. The destructor removes
// what is still there, a directory with all that is in it, unless Keep() was called.
class PendingPath {
 public:
  // `ending`: what stands behind the target's name; empty: something that makes the name a new one.
  explicit PendingPath(std::string target, const std::string& ending = "");
  PendingPath(const PendingPath&) = delete;
  PendingPath& operator=(const PendingPath&) = delete;
  ~PendingPath();

  // Returns true if `target` is a regular file or not there. Devices, pipes, sockets, directories
  // and the links in /proc to open files are never replaced.
  static bool CanReplace(const std::string& target);

  const std::string& path() const { return path_; }
  // Creates a file at path(), with the permissions and owner of the one to be replaced. Returns its
  // descriptor, which the caller closes. Unavailable naming the target: it must not be written or
  // replaced, or the file cannot be created.
  absl::StatusOr<int> Create() const;
  // Removes the temporary files of all objects, for a program that ends at once. Thread-safe.
  static void RemoveAll();

  // Renames path() to the target, and replaces a file of that name. Unavailable: it cannot.
  absl::Status Commit();
  // Leaves the temporary file where it is: neither the destructor nor RemoveAll() removes it.
  void Keep();

 private:
  std::string target_;
  std::string path_;
  bool kept_ = false;
};

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_NEW_FILE_H_
