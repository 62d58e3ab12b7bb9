// Makes the texts that a program prints about itself: --help, man pages, completion for shells, and
// the page of flags. All of them come from the table of options.
#ifndef NIBU_TOOLS_CLI_HELP_H_
#define NIBU_TOOLS_CLI_HELP_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/cli/flags.h"

namespace nibu::internal {

// Returns the answer to --help=KIND: "" (one screen with the options that most users need), "all"
// (every option), "man" (a man page in roff), "markdown", "bash" or "zsh" (completion). Any other
// kind is wrong usage.
absl::StatusOr<std::string> HelpText(const ProgramInfo& program, absl::string_view kind);

// Returns a script for bash that defines the function _nibu_NAME and registers it. It completes
// flags, words that are values of flags, and names of files.
std::string BashCompletion(const ProgramInfo& program);

// Returns the same for zsh: the contents of a file _nibu-NAME in a folder of $fpath.
std::string ZshCompletion(const ProgramInfo& program);

// Returns the first sentence of a help text, which says by itself what the option does.
std::string FirstSentence(absl::string_view help);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_HELP_H_
