// Command lines: Abseil flags, with errors of one line and exit status 2.
#ifndef NIBU_TOOLS_CLI_FLAGS_H_
#define NIBU_TOOLS_CLI_FLAGS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/core/errors.h"

namespace nibu::internal {

// A boolean that is decided by the circumstances unless it is set: --name, --noname, --name=auto.
struct AutoBool {
  std::optional<bool> given = std::nullopt;
};
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
    std::string flags;   // names, with blanks between them
    bool lists = false;  // they take several values, separated by commas
  };
  std::vector<Group> groups;
  bool takes_text = false;  // arguments that are no flags
};

// What --help prints. A flag of several groups is in the first of them.
std::string HelpText(const ProgramInfo& program);

// Sets the flags of a command line (without the program's name): --name=value, --name value,
// --flag and --noflag for booleans; "--" ends the flags. Returns the other arguments. Of a list,
// each value is parsed as the flag's, and the flag keeps the last one.
// Wrong usage: unknown flag (with the nearest known one), missing or malformed value.
absl::StatusOr<std::vector<std::string>> ParseFlags(const ProgramInfo& program,
                                                    absl::Span<const std::string> arguments);

// A flag's present value, as text.
std::string FlagValue(absl::string_view flag);
// The values that ParseFlags has set a flag to, or else its present one.
std::vector<std::string> FlagValues(absl::string_view flag);
// Whether ParseFlags has set the flag, be it to its default.
bool WasGiven(absl::string_view flag);

// Sets one flag. Wrong usage, naming it: a malformed value.
absl::Status SetFlag(absl::string_view name, absl::string_view value);

// ParseFlags for a main(): answers --help and --version itself (status 0) and ends the program with
// one line and status 2 on wrong usage, arguments that it does not take included. Calls
// EndInOneLine; from then on descriptors 0, 1 and 2 are what they are meant for, or closed.
std::vector<std::string> ParseCommandLineOrExit(const ProgramInfo& program, int argc, char** argv);

// From now on the program ends with one line, and status 1, when there is no memory left, or no
// thread can be started, on whatever thread.
void EndInOneLine();

// What is added to that last line from now on.
void SetFatalNote(std::string note);

// "NAME: error: MESSAGE" in one line on standard error; NAME is that of ParseCommandLineOrExit.
void PrintError(absl::string_view message);
void PrintWarning(absl::string_view message);
void PrintNote(absl::string_view message);

// Marks an InvalidArgument as wrong usage.
absl::Status UsageError(absl::Status status);
template <typename T>
absl::StatusOr<T> UsageError(absl::StatusOr<T> result) {
  if (!result.ok()) return UsageError(std::move(result).status());
  return result;
}

// What absl::StrCat makes of the parts, as one.
template <typename... Parts>
absl::Status WrongUsage(const Parts&... parts) {
  return UsageError(Invalid(parts...));
}

// Wrong usage: the message of the first of these mistakes that is made.
absl::Status Refuse(const std::vector<std::pair<bool, std::string>>& mistakes);

// What one of the words that a flag may be stands for. Wrong usage, with all of them.
template <typename T>
absl::StatusOr<T> Choose(absl::string_view flag,
                         const std::vector<std::pair<std::string, T>>& choices) {
  const std::string chosen = FlagValue(flag);
  std::string words;
  for (const auto& [word, value] : choices) {
    if (word == chosen) return value;
    const bool is_last = word == choices.back().first;
    absl::StrAppend(&words, words.empty() ? "" : is_last ? " or " : ", ", word);
  }
  return WrongUsage("--", flag, " must be ", words, ", not \"", chosen, "\"");
}

// What a program that ends so exits with, after PrintError of an error: 0, 2 for wrong usage, 1 for
// work that failed.
int ExitStatus(const absl::Status& status);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_FLAGS_H_
