// Where models lie: what a user writes in place of a path, the models that have names, and the
// model that comes with nibu.
#ifndef NIBU_TOOLS_TEXT_MODEL_PATHS_H_
#define NIBU_TOOLS_TEXT_MODEL_PATHS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace nibu::internal {

// The paths that a text names: one that exists as it is written, or several with commas between
// them, an ensemble. "\," is a comma within a path.
std::vector<std::string> SplitPaths(const std::string& paths);

// The folder in which tools/get_model.sh puts models: $NIBU_MODELS or else
// ${XDG_DATA_HOME:-$HOME/.local/share}/nibu/models. Empty: none of these variables is set.
std::string ModelsFolder();

// Returns where the model lies that a user names: ModelsFolder()/`model`, if `model` has no slash
// and there is a model of this name but no file or directory, or else `model` itself.
std::string FindModel(const std::string& model);

// NotFound, with the command that fetches models, if nothing lies at a path that FindModel
// returned.
absl::Status CheckModelExists(const std::string& path);

// The directory of the bundled English-German model: share/nibu/models/en-de in one of the folders
// above the program, or above the shared library. Empty: there is none.
std::string BundledModelPath();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MODEL_PATHS_H_
