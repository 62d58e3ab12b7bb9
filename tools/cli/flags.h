// Parses command lines. The flags come from the table of options. Wrong usage is an error of one
// line and exit status 2.
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
#include "tools/text/options/option_table.h"

namespace nibu::internal {

// The name, description and options of a program.
struct ProgramInfo {
  std::string name;         // "nibu-translate"
  std::string key;          // the program's name in OptionInfo::programs: "translate"
  std::string usage;        // "[flags] [TEXT ...]"
  std::string description;  // some lines
  // A table of options, and the struct that their values go to. Rows for other programs are
  // skipped. A row without programs is for all programs that have the table.
  struct Part {
    absl::Span<const OptionRow> rows;
    void* values;
  };
  std::vector<Part> parts;
  bool takes_text = false;  // The program takes arguments that are no flags.
  std::string lists = "";   // Names of options that take several values, with commas between them.
  // Commands that the first argument chooses, as in "nibu-inspect attention". They parse their own
  // flags; here they are for the man page and completion.
  std::vector<ProgramInfo> commands = {};
  std::string repeats = "";  // Names of options that may be given again, and then have all values.
  // Options have values from the environment, too, as containers have them: NIBU_PORT for --port.
  bool has_environment = false;
  // A sentence of the help that says how flags and their values are written.
  std::string conventions =
      "Options are shown with their default values. --name sets a Boolean, and --noname unsets it.";
};

// A row of a program, with the struct that its value goes to.
struct ProgramOption {
  const OptionRow* row;
  void* values;

  absl::string_view name() const { return row->info.name; }
  std::string value() const { return row->get(row->info, values); }
  // Returns whether the option is a switch, which needs no value: --name and --noname.
  bool is_switch() const;
};

// Returns the options of a program, in the order of its tables.
std::vector<ProgramOption> OptionsOf(const ProgramInfo& program);

// Sets a program's options from a configuration file, if --config names one, then from the
// environment, if the program has one, and then from a
// command line (without the program's name): --name=value, --name value, --flag and --noflag for
// booleans; "--" ends the flags. Returns the other arguments. If an option takes several values,
// each is parsed, and the option keeps the last one. It is wrong usage if a flag is unknown (the
// nearest known one is named), a value is missing or malformed, options exclude each other, or an
// option lacks one that it needs.
absl::StatusOr<std::vector<std::string>> ParseFlags(const ProgramInfo& program,
                                                    absl::Span<const std::string> arguments);

// The following functions are about the options of the last ParseFlags.

// Returns the values that an option was set to, or else its present one.
std::vector<std::string> FlagValues(absl::string_view name);
// Returns whether the command line or the configuration file has set the option, even if to its
// default.
bool WasGiven(absl::string_view name);
// Sets one option. A malformed value is wrong usage; the error names the option.
absl::Status SetFlag(absl::string_view name, absl::string_view value);
// Turns a status of the library into one of the command line: an error about one of the program's
// options becomes wrong usage of that flag.
absl::Status UsageOfFlag(const absl::Status& status);

// Begins a program of this name, before it opens a file or makes a thread. No file that is opened
// later gets one of the descriptors 0, 1 and 2. Calls EndInOneLine and EndWhenMappedFilesShrink.
void BeginProgram(const std::string& name);

// Prints the answer to --help=KIND or -h, and ends the program, if one of the arguments up to "--"
// asks for it.
void AnswerHelp(const ProgramInfo& program, absl::Span<const std::string> arguments);

// Calls ParseFlags for a main(), after BeginProgram. Answers --help and --version itself (status
// 0), and ends the program with one line and status 2 on wrong usage, arguments that it does not
// take included.
std::vector<std::string> ParseCommandLineOrExit(const ProgramInfo& program, int argc, char** argv);

// Makes the program end with one line and status 1 when there is no memory left, or no thread can
// be started, on whatever thread that happens.
void EndInOneLine();

// Sets the note that is added to this last line.
void SetFatalNote(std::string note);

// Prints "NAME: error: MESSAGE" in one line on standard error. NAME is the program's name that
// BeginProgram got.
void PrintError(absl::string_view message);
void PrintWarning(absl::string_view message);
void PrintNote(absl::string_view message);

// Makes these three functions call `write` from now on, with "error", "warning" or "note" first.
void SetMessageWriter(void (*write)(absl::string_view kind, absl::string_view message));

// Marks an InvalidArgument as wrong usage.
absl::Status UsageError(absl::Status status);
template <typename T>
absl::StatusOr<T> UsageError(absl::StatusOr<T> result) {
  if (!result.ok()) return UsageError(std::move(result).status());
  return result;
}

// Returns an error of wrong usage, whose message consists of the parts.
template <typename... Parts>
absl::Status WrongUsage(const Parts&... parts) {
  return UsageError(Invalid(parts...));
}

// Returns wrong usage with the message of the first mistake that is true, or OK.
absl::Status Refuse(const std::vector<std::pair<bool, std::string>>& mistakes);

// Prints an error, if `status` is one, and returns the exit status of the program: 0, 2 for wrong
// usage, or 1 if the work failed.
int ExitStatus(const absl::Status& status);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_FLAGS_H_
