// Ends a program with a message when a file that it has mapped into memory is cut short.
#ifndef NIBU_TOOLS_CLI_CHANGED_FILES_H_
#define NIBU_TOOLS_CLI_CHANGED_FILES_H_

#include "absl/strings/string_view.h"

namespace nibu::internal {

// Models are mapped into memory. If someone writes over such a file in place, as cp does, it has
// lost its bytes for a moment, and the system sends SIGBUS to a program that reads them. From now
// on this prints "PROGRAM: error: FILE was changed ..." and ends the program with status 1. Every
// other SIGBUS does what it did before. Only a program may call this: a library must not handle
// the signals of the process that it is loaded into.
void EndWhenMappedFilesShrink(absl::string_view program);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_CHANGED_FILES_H_
