// Paths and directories, without exceptions.
#ifndef NIBU_MODELS_FILES_DIRECTORY_H_
#define NIBU_MODELS_FILES_DIRECTORY_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace nibu::internal {

// The directory that a file is in, "." where its path does not say.
std::string DirectoryOf(const std::string& path);
// Whether a file's name, without its directory, begins with one of these.
bool NameBeginsWith(const std::string& path, std::initializer_list<absl::string_view> beginnings);

bool IsDirectory(const std::string& path);

// The paths of what is in a directory and ends in one of `endings`, in order. FailedPrecondition
// naming it: it cannot be read.
absl::StatusOr<std::vector<std::string>> FilesIn(
    const std::string& directory, std::initializer_list<absl::string_view> endings = {""});

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_DIRECTORY_H_
