#include "tools/text/model_paths.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

namespace nibu::internal {
namespace {

// The model in a folder above `file`: programs are in PREFIX/bin, and libraries in PREFIX/lib, in
// PREFIX/lib/x86_64-linux-gnu, or in the build folder itself. Empty: there is none.
std::string ModelAbove(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::path prefix = file.parent_path();
  for (int level = 0; level < 3 && prefix.has_relative_path(); ++level) {
    const std::filesystem::path model = prefix / "share/nibu/models/en-de";
    if (std::filesystem::is_directory(model, error)) {
      return std::filesystem::canonical(model, error).string();
    }
    prefix = prefix.parent_path();
  }
  return "";
}

}  // namespace

std::vector<std::string> SplitPaths(const std::string& paths) {
  std::error_code error;
  if (std::filesystem::exists(paths, error)) return {paths};
  std::vector<std::string> split(1);
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i] == ',') {
      split.emplace_back();
      continue;
    }
    if (paths[i] == '\\' && i + 1 < paths.size() && paths[i + 1] == ',') ++i;
    split.back() += paths[i];
  }
  return split;
}

std::string BundledModelPath() {
  std::error_code error;
  std::string path = ModelAbove(std::filesystem::read_symlink("/proc/self/exe", error));
  Dl_info library;
  if (path.empty() && dladdr(reinterpret_cast<void*>(&BundledModelPath), &library) != 0) {
    path = ModelAbove(std::filesystem::canonical(library.dli_fname, error));
  }
  return path;
}

}  // namespace nibu::internal
