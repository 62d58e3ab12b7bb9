// Scripts that complete a program's options in a shell, made from the table of options.
#ifndef NIBU_TOOLS_CLI_COMPLETION_H_
#define NIBU_TOOLS_CLI_COMPLETION_H_

#include <string>

#include "tools/cli/flags.h"

namespace nibu::internal {

// Returns a script for bash that defines the function _nibu_NAME and registers it. It completes
// flags, words that are values of flags, and names of files.
std::string BashCompletion(const ProgramInfo& program);

// Returns the same for zsh: the contents of a file _nibu-NAME in a folder of $fpath.
std::string ZshCompletion(const ProgramInfo& program);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_COMPLETION_H_
