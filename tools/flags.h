// Command lines: Abseil flags, with errors of one line and exit status 2.
#ifndef NIBU_TOOLS_FLAGS_H_
#define NIBU_TOOLS_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace nibu {

// A boolean that is decided by the circumstances unless it is set: --name, --noname, --name=auto.
enum class AutoBool { kAuto, kTrue, kFalse };
bool AbslParseFlag(absl::string_view text, AutoBool* value, std::string* error);
std::string AbslUnparseFlag(AutoBool value);

// What a program tells of itself. Flags are defined with ABSL_FLAG; only those listed here can be
// set.
struct ProgramInfo {
  std::string name;         // "nibu-translate"
  std::string usage;        // "[flags] [TEXT ...]"
  std::string description;  // some lines
  struct Group {
    std::string title;
    std::vector<std::string> flags;
  };
  std::vector<Group> groups;
};

// What --help prints.
std::string HelpText(const ProgramInfo& program);

// Sets the flags of a command line (without the program's name): --name=value, --name value,
// --flag and --noflag for booleans; "--" ends the flags. Returns the other arguments.
// InvalidArgument: unknown flag (with the nearest known one), missing or malformed value.
absl::StatusOr<std::vector<std::string>> ParseFlags(const ProgramInfo& program,
                                                    absl::Span<const std::string> arguments);

// ParseFlags for a main(): answers --help and --version itself (status 0) and ends the program with
// one line and status 2 on wrong usage.
std::vector<std::string> ParseCommandLineOrExit(const ProgramInfo& program, int argc, char** argv);

// "NAME: error: MESSAGE" in one line on standard error.
void PrintError(const ProgramInfo& program, absl::string_view message);
void PrintWarning(const ProgramInfo& program, absl::string_view message);

// The status of wrong usage and of work that failed.
constexpr int kExitUsage = 2;
constexpr int kExitFailure = 1;

}  // namespace nibu

#endif  // NIBU_TOOLS_FLAGS_H_
