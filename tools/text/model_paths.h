// Where models lie: what a user writes in place of a path, and the model that comes with nibu.
#ifndef NIBU_TOOLS_TEXT_MODEL_PATHS_H_
#define NIBU_TOOLS_TEXT_MODEL_PATHS_H_

#include <string>
#include <vector>

namespace nibu::internal {

// The paths that a text names: one that exists as it is written, or several with commas between
// them, an ensemble. "\," is a comma within a path.
std::vector<std::string> SplitPaths(const std::string& paths);

// The directory of the bundled English-German model: share/nibu/models/en-de in one of the folders
// above the program, or above the shared library. Empty: there is none.
std::string BundledModelPath();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MODEL_PATHS_H_
