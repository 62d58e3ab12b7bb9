// Parses command lines, and ends programs with an error of one line.

#include "tools/cli/flags.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "tools/cli/changed_files.h"
#include "tools/cli/config_file.h"
#include "tools/cli/help.h"
#include "tools/text/options/nearest.h"

namespace nibu::internal {
namespace {

// The state of the process: its name, its options, and the values that they were given.
struct State {
  std::string program = program_invocation_short_name;
  std::vector<ProgramOption> options;
  std::string lists;  // ProgramInfo::lists
  std::string repeats;
  std::map<std::string, std::vector<std::string>, std::less<>> given;  // options with their values
  std::string fatal_note;
  void (*write_message)(absl::string_view kind, absl::string_view message) = nullptr;
};

State& TheState() {
  static State& state = *new State();
  return state;
}

// Returns whether the words, which have blanks between them, include this one.
bool HasWord(absl::string_view words, absl::string_view word) {
  for (const absl::string_view each : absl::StrSplit(words, ' ')) {
    if (each == word) return true;
  }
  return false;
}

// Returns the option of this name, or null if the program has none.
const ProgramOption* Find(absl::string_view name) {
  for (const ProgramOption& option : TheState().options) {
    if (option.name() == name) return &option;
  }
  return nullptr;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const ProgramOption& option : TheState().options) names.emplace_back(option.name());
  return names;
}

// Returns whether --config names a file of options; in some programs it names a model's shape.
bool HasConfigFile() { return *Find("config")->row->info.programs != 0; }

absl::Status ApplyConfigFile(const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(const std::vector<ConfigEntry> entries,
                        UsageError(ReadConfigEntries(path)));
  for (const ConfigEntry& entry : entries) {
    const ProgramOption* const option = entry.name == "config" ? nullptr : Find(entry.name);
    if (option == nullptr) {
      const std::string nearest = Nearest(entry.name, Names());
      return WrongUsage(
          entry.place, ": unknown option ", entry.name,
          nearest.empty() ? "; see --help=all" : absl::StrCat("; did you mean ", nearest, "?"));
    }
    const absl::Status status = option->row->set(option->row->info, entry.value, option->values);
    if (!status.ok()) return WrongUsage(entry.place, ": ", status.message());
    const bool is_several = HasWord(TheState().repeats, entry.name) && !entry.elements.empty();
    TheState().given[entry.name] =
        is_several ? entry.elements : std::vector<std::string>{entry.value};
  }
  return absl::OkStatus();
}

// Returns the environment variable of an option, and its value, which is empty if it is not set.
std::pair<std::string, std::string> VariableOf(absl::string_view option) {
  const std::string name = absl::StrCat("NIBU_", absl::AsciiStrToUpper(option));
  const char* const value = std::getenv(name.c_str());
  return {name, value == nullptr ? "" : value};
}

absl::Status ApplyEnvironment() {
  for (const ProgramOption& option : TheState().options) {
    const auto [variable, value] = VariableOf(option.name());
    if (value.empty()) continue;
    const absl::Status status = option.row->set(option.row->info, value, option.values);
    if (!status.ok()) return WrongUsage(variable, ": ", status.message());
    TheState().given[std::string(option.name())] = {value};
  }
  return absl::OkStatus();
}

// Opens /dev/null for those of the descriptors 0, 1 and 2 that are closed. Otherwise a file that is
// opened later would get the number, and with it the text for standard output or error. Reading and
// writing them fails as before.
void ReserveStandardDescriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    // `fd` is the lowest free number, so open returns it.
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

// Prints an error and ends the program, without allocating memory.
[[noreturn]] void EndFor(const char* error) {
  std::fprintf(stderr, "%s: error: %s%s\n", TheState().program.c_str(), error,
               TheState().fatal_note.c_str());
  _exit(1);
}

// Ends the program for want of memory or threads; std::terminate calls it.
[[noreturn]] void EndExhausted() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    EndFor("out of memory; free some, or use fewer threads or smaller batches");
  } catch (const std::exception& e) {
    const auto* error = dynamic_cast<const std::system_error*>(&e);
    if (error != nullptr && error->code() == std::errc::resource_unavailable_try_again) {
      EndFor("the system has no more threads; use fewer, or end other programs");
    }
    std::fprintf(stderr, "%s: fatal: %s\n", TheState().program.c_str(), e.what());
  }
  std::abort();
}

// Prints a message in one line. Messages quote names and texts of the input, whose control
// characters would steer a terminal, so these are printed as \x1b and so on.
void PrintLine(const char* kind, absl::string_view message) {
  if (TheState().write_message != nullptr) return TheState().write_message(kind, message);
  std::string line = absl::StrCat(TheState().program, ": ", kind, ": ");
  for (const char c : message) {
    if (c == '\n' || c == '\r') {
      line += ' ';
    } else if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      absl::StrAppendFormat(&line, "\\x%02x", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

// Prints a text and ends the program, with status 1 if standard output cannot be written.
[[noreturn]] void PrintAndExit(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) std::exit(0);
  PrintLine("error", absl::StrCat("standard output: cannot be written: ", std::strerror(errno)));
  _exit(1);
}

// The type of the payload that marks a status as wrong usage.
constexpr char kUsage[] = "nibu/usage";

}  // namespace

bool ProgramOption::is_switch() const {
  const absl::string_view type = row->info.type;
  return type == "bool" || type == "auto";
}

std::vector<ProgramOption> OptionsOf(const ProgramInfo& program) {
  std::vector<ProgramOption> options;
  for (const ProgramInfo::Part& part : program.parts) {
    for (const OptionRow& row : part.rows) {
      if (*row.info.programs == 0 || HasWord(row.info.programs, program.key)) {
        options.push_back({&row, part.values});
      }
    }
  }
  return options;
}

absl::StatusOr<std::vector<std::string>> ParseFlags(const ProgramInfo& program,
                                                    absl::Span<const std::string> arguments) {
  State& state = TheState();
  state.options = OptionsOf(program);
  state.lists = program.lists;
  state.repeats = program.repeats;
  state.given.clear();
  std::vector<std::string> positional;
  std::vector<std::pair<std::string, std::string>> flags;  // names and values, as they were given
  for (size_t i = 0; i < arguments.size(); ++i) {
    absl::string_view argument = arguments[i];
    if (argument == "--") {
      positional.insert(positional.end(), arguments.begin() + static_cast<long>(i) + 1,
                        arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      positional.emplace_back(argument);
      continue;
    }
    argument.remove_prefix(argument[1] == '-' ? 2 : 1);
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(argument, absl::MaxSplits('=', 1));
    const absl::string_view name = parts.first;
    const bool has_value = name.size() < argument.size();
    std::string value(parts.second);
    const ProgramOption* option = Find(name);
    if (option == nullptr && !has_value && absl::StartsWith(name, "no")) {
      option = Find(name.substr(2));
      if (option != nullptr && !option->is_switch()) option = nullptr;
      value = "false";
    } else if (option != nullptr && !has_value) {
      if (!option->is_switch() && ++i == arguments.size()) {
        return WrongUsage("--", name, " needs a value");
      }
      value = option->is_switch() ? "true" : arguments[i];
    }
    if (option == nullptr && program.takes_text && absl::StrContains(name, ' ')) {
      return WrongUsage("\"", arguments[i],
                        "\" is no flag; give -- before a TEXT that begins with -");
    }
    if (option == nullptr) {
      const std::string nearest = Nearest(name, Names());
      return WrongUsage(
          "unknown flag --", name,
          nearest.empty() ? "; see --help=all" : absl::StrCat("; did you mean --", nearest, "?"));
    }
    flags.emplace_back(option->name(), std::move(value));
  }
  const std::string config = program.has_environment ? VariableOf("config").second : "";
  if (!config.empty()) NIBU_RETURN_IF_ERROR(ApplyConfigFile(config));
  for (const auto& [name, value] : flags) {
    if (name == "config" && !value.empty() && HasConfigFile())
      NIBU_RETURN_IF_ERROR(ApplyConfigFile(value));
  }
  if (program.has_environment) NIBU_RETURN_IF_ERROR(ApplyEnvironment());
  for (const auto& [name, value] : flags) state.given[name].clear();
  for (const auto& [name, value] : flags) {
    std::vector<std::string>& values = state.given[name];
    if (!HasWord(state.repeats, name)) values.clear();
    values.push_back(value);
    if (HasWord(state.lists, name)) values = absl::StrSplit(value, ',');
    for (const std::string& each : values) NIBU_RETURN_IF_ERROR(SetFlag(name, each));
  }
  std::vector<OptionField> fields;
  for (const ProgramOption& option : state.options) fields.push_back({option.row, option.values});
  NIBU_RETURN_IF_ERROR(UsageOfFlag(CheckTogether(fields, "--")));
  for (const ProgramOption& option : state.options) {
    if (*option.row->info.replacement != 0 && WasGiven(option.name())) {
      PrintWarning(absl::StrCat("the next release has no --", option.name(), "; ",
                                option.row->info.replacement));
    }
  }
  return positional;
}

std::vector<std::string> FlagValues(absl::string_view name) {
  const auto given = TheState().given.find(name);
  if (given != TheState().given.end()) return given->second;
  return {Find(name)->value()};
}

bool WasGiven(absl::string_view name) { return TheState().given.count(name) > 0; }

absl::Status SetFlag(absl::string_view name, absl::string_view value) {
  const ProgramOption* const option = Find(name);
  if (option == nullptr) return WrongUsage("no flag --", name);
  return UsageOfFlag(option->row->set(option->row->info, value, option->values));
}

absl::Status UsageOfFlag(const absl::Status& status) {
  // An error of another kind is about the file that the option names.
  const bool is_of_flag = absl::IsInvalidArgument(status) && Find(OptionOf(status)) != nullptr &&
                          absl::StartsWith(status.message(), OptionOf(status));
  return is_of_flag ? WrongUsage("--", status.message()) : status;
}

void EndInOneLine() { std::set_terminate(EndExhausted); }

void SetFatalNote(std::string note) { TheState().fatal_note = std::move(note); }

void BeginProgram(const std::string& name) {
  ReserveStandardDescriptors();
  TheState().program = name;
  EndInOneLine();
  EndWhenMappedFilesShrink(name);
}

void AnswerHelp(const ProgramInfo& program, absl::Span<const std::string> arguments) {
  for (const absl::string_view argument : arguments) {
    if (argument == "--") return;
    absl::string_view kind = argument;
    if (argument != "-h" && !absl::ConsumePrefix(&kind, "--help") &&
        !absl::ConsumePrefix(&kind, "-help")) {
      continue;
    }
    if (argument == "-h") kind = "";
    if (!kind.empty() && kind[0] != '=') continue;
    const auto text = HelpText(program, absl::StripPrefix(kind, "="));
    if (!text.ok()) std::exit(ExitStatus(text.status()));
    PrintAndExit(*text);
  }
}

std::vector<std::string> ParseCommandLineOrExit(const ProgramInfo& program, int argc, char** argv) {
  BeginProgram(program.name);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  AnswerHelp(program, arguments);
  for (const absl::string_view argument : arguments) {
    if (argument == "--") break;
    if (argument == "--version") {
      PrintAndExit(absl::StrCat(program.name, " ", NIBU_VERSION, "\n"));
    }
  }
  absl::StatusOr<std::vector<std::string>> positional = ParseFlags(program, arguments);
  if (positional.ok() && !positional->empty() && !program.takes_text) {
    positional = WrongUsage("unexpected argument \"", positional->front(), "\"");
  }
  if (!positional.ok()) std::exit(ExitStatus(positional.status()));
  return *std::move(positional);
}

void PrintError(absl::string_view message) { PrintLine("error", message); }
void PrintWarning(absl::string_view message) { PrintLine("warning", message); }
void PrintNote(absl::string_view message) { PrintLine("note", message); }

void SetMessageWriter(void (*write)(absl::string_view kind, absl::string_view message)) {
  TheState().write_message = write;
}

absl::Status UsageError(absl::Status status) {
  if (absl::IsInvalidArgument(status)) status.SetPayload(kUsage, absl::Cord());
  return status;
}

absl::Status Refuse(const std::vector<std::pair<bool, std::string>>& mistakes) {
  for (const auto& [is_made, message] : mistakes) {
    if (is_made) return WrongUsage(message);
  }
  return absl::OkStatus();
}

int ExitStatus(const absl::Status& status) {
  if (status.ok()) return 0;
  PrintError(status.message());
  return status.GetPayload(kUsage) ? 2 : 1;
}

}  // namespace nibu::internal
