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

// Returns the first sentence of a help text, which says by itself what the option does.
std::string FirstSentence(absl::string_view help);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_HELP_H_
