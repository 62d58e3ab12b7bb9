// The folders of this build and its sources, which the build passes as macros.
#include "tests/paths.h"

#include "absl/strings/str_cat.h"

namespace nibu::internal {

std::string SourcePath(absl::string_view name) { return absl::StrCat(NIBU_SOURCE_DIR "/", name); }

std::string TestdataPath(absl::string_view name) {
  return absl::StrCat(NIBU_SOURCE_DIR "/tests/testdata/", name);
}

std::string SharedPath(absl::string_view name) {
  return absl::StrCat(NIBU_SOURCE_DIR "/../shared/", name);
}

std::string CaptionsModelPath(absl::string_view name) {
  return absl::StrCat(NIBU_CAPTIONS_MODEL, name.empty() ? "" : "/", name);
}

std::string ProgramPath(absl::string_view name) {
  return absl::StrCat(NIBU_BINARY_DIR "/bin/", name);
}

std::string CaptionsProgram(absl::string_view name) {
  return absl::StrCat(Program(name), " ", CaptionsModelOption());
}

std::string CaptionsModelOption() { return absl::StrCat("--model='", CaptionsModelPath(), "'"); }

std::string Program(absl::string_view name) { return absl::StrCat("'", ProgramPath(name), "'"); }

}  // namespace nibu::internal
