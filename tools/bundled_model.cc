#include "tools/bundled_model.h"

#include <filesystem>
#include <system_error>

namespace nibu {

std::string BundledModelPath() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed =
      program.parent_path().parent_path() / "share/nibu/models/en-de";
  if (!error && std::filesystem::is_directory(installed, error)) return installed.string();
  return NIBU_SOURCE_DIR "/models/pretrained/en-de";
}

}  // namespace nibu
