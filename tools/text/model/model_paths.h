// Finds models: by a path, by the name of a model that was fetched, or the bundled model.
#ifndef NIBU_TOOLS_TEXT_MODEL_MODEL_PATHS_H_
#define NIBU_TOOLS_TEXT_MODEL_MODEL_PATHS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace nibu::internal {

// Returns the paths that a text names: one, if it exists as it is written, or several with commas
// between them (an ensemble). "\," is a comma within a path.
std::vector<std::string> SplitPaths(const std::string& paths);

// Returns the folder in which tools/get_model.sh puts models: $NIBU_MODELS or else
// ${XDG_DATA_HOME:-$HOME/.local/share}/nibu/models. It is empty if none of the variables is set.
std::string ModelsFolder();

// Returns where the model lies that a user names: ModelsFolder()/`model`, if `model` has no slash
// and there is a model of this name but no file or directory, or else `model` itself.
std::string FindModel(const std::string& model);

// Returns NotFound, with the command that fetches models, if nothing lies at `path`, a result of
// FindModel.
absl::Status CheckModelExists(const std::string& path);

// Returns the directory of the bundled English-German model: share/nibu/models/en-de in one of the
// folders above the program, or above the shared library. It is empty if there is none.
std::string BundledModelPath();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MODEL_MODEL_PATHS_H_
