#ifndef NIBU_TOOLS_BUNDLED_MODEL_H_
#define NIBU_TOOLS_BUNDLED_MODEL_H_

#include <string>

namespace nibu {

// Directory of the bundled English-German model: beside the installed programs
// (../share/nibu/models/en-de), or in the source tree this was built from.
std::string BundledModelPath();

}  // namespace nibu

#endif  // NIBU_TOOLS_BUNDLED_MODEL_H_
