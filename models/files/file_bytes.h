// Maps files into memory.
#ifndef NIBU_MODELS_FILES_FILE_BYTES_H_
#define NIBU_MODELS_FILES_FILE_BYTES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace nibu::internal {

// The bytes of a regular file, mapped read-only and unmapped on destruction, so that its pages do
// not stay in this process's memory; or bytes held in memory. Immutable; threads may share it. The
// file must not be truncated while it is mapped (reading past its new end would end the process).
class FileBytes {
 public:
  // NotFound: there is no such file. FailedPrecondition: it is unreadable or not a regular file.
  // DataLoss: it is a Git LFS pointer. All of them name the file. With `copy_on_write`, bytes may
  // be written to: a page that is written to becomes this process's own, and the file stays as it
  // is.
  static absl::StatusOr<std::shared_ptr<const FileBytes>> Open(const std::string& path,
                                                               bool copy_on_write = false);
  // Bytes that are already in memory, for example an unpacked member of an archive. `path` names
  // them in messages.
  static std::shared_ptr<const FileBytes> InMemory(std::string path, std::string bytes);
  // A part of the bytes of `whole`, for example a member of an archive that is stored as it is.
  static std::shared_ptr<const FileBytes> PartOf(std::shared_ptr<const FileBytes> whole,
                                                 std::string path, absl::string_view bytes);

  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  const std::string& path() const { return path_; }
  // Valid as long as this object.
  absl::string_view bytes() const { return bytes_; }
  // The same bytes, if the file was opened with copy_on_write; otherwise empty.
  absl::Span<char> writable() const { return writable_; }

  // Returns the memory of the pages read so far to the system. They are read again from the file
  // when they are touched; what was written to them is lost.
  void DropPages() const;

 private:
  explicit FileBytes(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::string owned_;                       // InMemory
  std::shared_ptr<const FileBytes> whole_;  // PartOf
  void* mapping_ = nullptr;                 // Open
  absl::string_view bytes_;
  absl::Span<char> writable_;
};

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_FILE_BYTES_H_
