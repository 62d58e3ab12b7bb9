// Returns the version of nibu, which CMake writes into nibu/version.h.
#include "nibu/version.h"

namespace nibu {

const char* Version() { return NIBU_VERSION_STRING; }

int VersionNumber() { return NIBU_VERSION_NUMBER; }

}  // namespace nibu
