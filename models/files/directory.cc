// Paths and directories, by std::filesystem.
#include "models/files/directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace nibu::internal {

std::string DirectoryOf(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

bool NameBeginsWith(const std::string& path, std::initializer_list<absl::string_view> beginnings) {
  const std::string name = std::filesystem::path(path).filename().string();
  return std::any_of(beginnings.begin(), beginnings.end(), [&](absl::string_view beginning) {
    return absl::StartsWith(name, beginning);
  });
}

bool IsDirectory(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

absl::StatusOr<std::vector<std::string>> FilesIn(const std::string& directory,
                                                 std::initializer_list<absl::string_view> endings) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    const std::string path = it->path().string();
    if (std::any_of(endings.begin(), endings.end(),
                    [&](absl::string_view ending) { return absl::EndsWith(path, ending); })) {
      files.push_back(path);
    }
  }
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory, ": cannot be read: ", error.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace nibu::internal
