// Opens the files of a folder, which may lie on disk or in a zip archive.
#ifndef NIBU_MODELS_FILES_FOLDER_H_
#define NIBU_MODELS_FILES_FOLDER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/files/file_bytes.h"
#include "models/files/zip.h"

namespace nibu::internal {

// A folder; cheap to copy. Its files on disk are mapped. So are the members of an archive that are
// stored as they are; deflated ones are inflated into memory.
class Folder {
 public:
  // A directory on disk, which need not exist. Readers take the path of a directory in its place.
  Folder(std::string path) : path_(std::move(path)) {}     // NOLINT(google-explicit-constructor)
  Folder(const char* path) : Folder(std::string(path)) {}  // NOLINT(google-explicit-constructor)

  // The folder `name` in an archive whose path is `path`; "" is the archive itself.
  Folder(std::string path, std::shared_ptr<const ZipArchive> archive, std::string name);

  // The folder `name` in this one.
  Folder Below(absl::string_view name) const;

  // The path for messages, in which an archive looks like a directory.
  const std::string& path() const { return path_; }
  // The path of a file in this folder, for messages.
  std::string PathOf(absl::string_view name) const;

  // Opens a file. Errors are those of FileBytes::Open; for a member of an archive also
  // InvalidArgument if it is damaged (its checksum is checked), and ResourceExhausted if it would
  // inflate to more than kMostInflated (gzip.h).
  absl::StatusOr<std::shared_ptr<const FileBytes>> Open(absl::string_view name) const;

 private:
  std::string path_;
  std::shared_ptr<const ZipArchive> archive_;  // null: a directory on disk
  std::string inside_;                         // the folder in the archive, "" or with a slash
};

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_FOLDER_H_
