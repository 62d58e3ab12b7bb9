// The places of this build and its sources. Only paths.cc is compiled with these folders in its
// command line, so that a compiler cache finds the objects of all other test files again in another
// clone.
#ifndef NIBU_TESTS_PATHS_H_
#define NIBU_TESTS_PATHS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// The path of NAME, relative to the root of the sources.
std::string SourcePath(absl::string_view name);

// The path of NAME in tests/testdata.
std::string TestdataPath(absl::string_view name);

// The path of NAME in the folder of real models, texts and reference outputs beside the sources.
// The folder need not exist: tests that need it are skipped.
std::string SharedPath(absl::string_view name);

// The path of NAME in the small English-German model for captions, or of its folder.
std::string CaptionsModelPath(absl::string_view name = "");

// "--model=" and the folder of the captions model, as a word of a shell's command line.
std::string CaptionsModelOption();

// The path of the program NAME of this build, such as "nibu-translate".
std::string ProgramPath(absl::string_view name);

// The same in quotes, as a word of a shell's command line.
std::string Program(absl::string_view name);

// The same with the captions model as its --model, so that what is expected does not depend on
// which model is bundled. Another --model that follows takes its place.
std::string CaptionsProgram(absl::string_view name);

}  // namespace nibu::internal

#endif  // NIBU_TESTS_PATHS_H_
