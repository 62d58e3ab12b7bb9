// Command lines: Abseil flags, with errors of one line and exit status 2.
#ifndef NIBU_TOOLS_FLAGS_H_
#define NIBU_TOOLS_FLAGS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
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
  bool takes_text = false;  // arguments that are no flags
};

// What --help prints.
std::string HelpText(const ProgramInfo& program);

// Flags that take several values, separated by commas, and those values.
using FlagLists = std::map<std::string, std::vector<std::string>>;

// Sets the flags of a command line (without the program's name): --name=value, --name value,
// --flag and --noflag for booleans; "--" ends the flags. Returns the other arguments.
// `lists`, if any: the flags that are its keys take lists. Each value is parsed as the flag's, the
// flag keeps the last one, and all are handed back; a flag not given has its present value alone.
// InvalidArgument: unknown flag (with the nearest known one), missing or malformed value.
absl::StatusOr<std::vector<std::string>> ParseFlags(const ProgramInfo& program,
                                                    absl::Span<const std::string> arguments,
                                                    FlagLists* lists = nullptr);

// Sets one flag. InvalidArgument naming it: a malformed value.
absl::Status SetFlag(absl::string_view name, absl::string_view value);

// Whether ParseFlags has set the flag, be it to its default.
bool WasGiven(absl::string_view flag);

// What one of the words that a flag may be stands for. InvalidArgument with all of them.
template <typename T>
absl::StatusOr<T> Choose(absl::string_view flag, absl::string_view given,
                         const std::vector<std::pair<std::string, T>>& choices) {
  std::string words;
  for (const auto& [word, value] : choices) {
    if (word == given) return value;
    const bool is_last = word == choices.back().first;
    absl::StrAppend(&words, words.empty() ? "" : is_last ? " or " : ", ", word);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, " must be ", words, ", not \"", given, "\""));
}

// ParseFlags for a main(): answers --help and --version itself (status 0) and ends the program with
// one line and status 2 on wrong usage, arguments that it does not take included. From then on the
// program also ends with one line, and status 1, when there is no memory left, on whatever thread.
std::vector<std::string> ParseCommandLineOrExit(const ProgramInfo& program, int argc, char** argv,
                                                FlagLists* lists = nullptr);

// What is added to that last line from now on.
void SetFatalNote(std::string note);

// "NAME: error: MESSAGE" in one line on standard error; NAME is that of ParseCommandLineOrExit.
void PrintError(absl::string_view message);
void PrintWarning(absl::string_view message);

// The status of wrong usage and of work that failed.
constexpr int kExitUsage = 2;
constexpr int kExitFailure = 1;

// PrintError of the status; the exit status.
int Fail(const absl::Status& status, int exit_status);

}  // namespace nibu

#endif  // NIBU_TOOLS_FLAGS_H_
