// Takes paths apart and lists directories; a file system that fails causes no exceptions.
#ifndef NIBU_MODELS_FILES_DIRECTORY_H_
#define NIBU_MODELS_FILES_DIRECTORY_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace nibu::internal {

// Returns the directory that a file is in; "." for a path without one.
std::string DirectoryOf(const std::string& path);
// Returns true if a file's name, without its directory, begins with one of `beginnings`.
bool NameBeginsWith(const std::string& path, std::initializer_list<absl::string_view> beginnings);

bool IsDirectory(const std::string& path);

// Returns the paths of all entries of a directory that end in one of `endings`, sorted.
// FailedPrecondition naming the directory: it cannot be read.
absl::StatusOr<std::vector<std::string>> FilesIn(
    const std::string& directory, std::initializer_list<absl::string_view> endings = {""});

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_DIRECTORY_H_
