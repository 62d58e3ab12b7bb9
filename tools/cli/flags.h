// Command lines: flags from the table of options, with errors of one line and exit status 2.
#ifndef NIBU_TOOLS_CLI_FLAGS_H_
#define NIBU_TOOLS_CLI_FLAGS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/core/errors.h"
#include "tools/text/option_table.h"

namespace nibu::internal {

// The name, description and options of a program.
struct ProgramInfo {
  std::string name;         // "nibu-translate"
  std::string key;          // its name in OptionInfo::programs: "translate"
  std::string usage;        // "[flags] [TEXT ...]"
  std::string description;  // some lines
  // Tables of options, and the structs that their values go to. Rows for other programs are
  // skipped; a row without programs is for all that have its table.
  struct Part {
    absl::Span<const OptionRow> rows;
    void* values;
  };
  std::vector<Part> parts;
  bool takes_text = false;  // It takes arguments that are no flags.
  std::string lists = "";   // Names of options that take several values, with commas between them.
  // Commands that the first argument chooses, as in "nibu-inspect attention". They parse their own
  // flags; here they are for the man page and completion.
  std::vector<ProgramInfo> commands = {};
  std::string repeats = "";  // Names of options that may be given again, and then have all values.
};

// A row of a program, with the struct that its value goes to.
struct ProgramOption {
  const OptionRow* row;
  void* values;

  absl::string_view name() const { return row->info.name; }
  std::string value() const { return row->get(row->info, values); }
  // A switch needs no value: --name and --noname.
  bool is_switch() const;
};

// The options of a program, in the order of its tables.
std::vector<ProgramOption> OptionsOf(const ProgramInfo& program);

// Sets a program's options from a configuration file, if --config names one, and then from a
// command line (without the program's name): --name=value, --name value, --flag and --noflag for
// booleans;
// "--" ends the flags. Returns the other arguments. Of a list, each value is parsed as the
// option's, and the option keeps the last one. Wrong usage: an unknown flag (with the nearest known
// one), a missing or malformed value, options that exclude each other, or an option without one
// that it needs.
absl::StatusOr<std::vector<std::string>> ParseFlags(const ProgramInfo& program,
                                                    absl::Span<const std::string> arguments);

// The following are about the options of the last ParseFlags.

// The values that an option was set to, or else its present one.
std::vector<std::string> FlagValues(absl::string_view name);
// Returns whether the command line or the configuration file has set the option, be it to its
// default.
bool WasGiven(absl::string_view name);
// Sets one option. Wrong usage, naming it: a malformed value.
absl::Status SetFlag(absl::string_view name, absl::string_view value);
// A status of the library as one of the command line: an error about one of the program's options
// is wrong usage of that flag.
absl::Status UsageOfFlag(const absl::Status& status);

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

// Wrong usage, with what absl::StrCat makes of the parts as its message.
template <typename... Parts>
absl::Status WrongUsage(const Parts&... parts) {
  return UsageError(Invalid(parts...));
}

// Wrong usage: the message of the first of these mistakes that is made.
absl::Status Refuse(const std::vector<std::pair<bool, std::string>>& mistakes);

// What a program that ends so exits with, after PrintError of an error: 0, 2 for wrong usage, 1 for
// work that failed.
int ExitStatus(const absl::Status& status);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_FLAGS_H_
