#include "tools/cli/flags.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <system_error>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/marshalling.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "engine/core/status_macros.h"
#include "tools/text/layout.h"
#include "tools/text/nearest.h"

namespace nibu::internal {
namespace {

// What the process has been told.
struct State {
  std::string program = program_invocation_short_name;
  std::map<std::string, std::vector<std::string>, std::less<>> given;  // flags with their values
  std::string fatal_note;
};

State& TheState() {
  static State& state = *new State();
  return state;
}

std::vector<std::string> NamesOf(const ProgramInfo::Group& group) {
  return absl::StrSplit(group.flags, ' ');
}

// Flags that need no value.
bool IsSwitch(const absl::CommandLineFlag& flag) {
  return flag.IsOfType<bool>() || flag.IsOfType<AutoBool>();
}

// Gives those of the descriptors 0, 1 and 2 that are closed to /dev/null, so that no file opened
// later gets the number and with it what is meant for standard output or error. Reading and writing
// them fails as before.
void ReserveStandardDescriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is this one.
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

// Takes no memory.
[[noreturn]] void EndFor(const char* error) {
  std::fprintf(stderr, "%s: error: %s%s\n", TheState().program.c_str(), error,
               TheState().fatal_note.c_str());
  _exit(1);
}

// What std::terminate calls.
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

void PrintLine(const char* kind, absl::string_view message) {
  const std::string line = absl::StrReplaceAll(message, {{"\n", " "}, {"\r", " "}});
  std::fprintf(stderr, "%s: %s: %s\n", TheState().program.c_str(), kind, line.c_str());
}

// Ends the program, with status 1 where standard output cannot be written.
[[noreturn]] void PrintAndExit(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) std::exit(0);
  PrintLine("error", absl::StrCat("standard output: cannot be written: ", std::strerror(errno)));
  _exit(1);
}

// Payload of a status.
constexpr char kUsage[] = "nibu/usage";

}  // namespace

bool AbslParseFlag(absl::string_view text, AutoBool* value, std::string* error) {
  *value = {};
  *error = "it must be auto, true or false";
  return text == "auto" || absl::ParseFlag(text, &value->given.emplace(), error);
}

std::string AbslUnparseFlag(AutoBool value) {
  return value.given ? absl::UnparseFlag(*value.given) : "auto";
}

std::string HelpText(const ProgramInfo& program) {
  std::string text =
      absl::StrCat("Usage: ", program.name, " ", program.usage, "\n\n", program.description, "\n");
  std::set<std::string> shown;
  for (const auto& group : program.groups) {
    absl::StrAppend(&text, "\n", group.title, "\n");
    for (const std::string& name : NamesOf(group)) {
      if (!shown.insert(name).second) continue;
      const absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
      const std::string value = flag->DefaultValue();
      const Paragraph help = {"      ", "      "};
      absl::StrAppend(&text, "  --", name, "=", value.empty() ? "\"\"" : value, "\n",
                      LayOut(help, flag->Help(), /*columns=*/96), "\n");
    }
  }
  return absl::StrCat(text,
                      "\nBooleans are set by --name and unset by --noname. --help and --version "
                      "print and exit.\n");
}

absl::StatusOr<std::vector<std::string>> ParseFlags(const ProgramInfo& program,
                                                    absl::Span<const std::string> arguments) {
  std::vector<std::string> flags;  // of the program
  std::set<std::string, std::less<>> lists;
  for (const auto& group : program.groups) {
    const std::vector<std::string> names = NamesOf(group);
    flags.insert(flags.end(), names.begin(), names.end());
    if (group.lists) lists.insert(names.begin(), names.end());
  }
  const auto find = [&flags](absl::string_view name) {
    const bool is_known = std::count(flags.begin(), flags.end(), name) > 0;
    return is_known ? absl::FindCommandLineFlag(name) : nullptr;
  };
  TheState().given.clear();
  std::vector<std::string> positional;
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
    const absl::CommandLineFlag* flag = find(name);
    if (flag == nullptr && !has_value && absl::StartsWith(name, "no")) {
      flag = find(name.substr(2));
      if (flag != nullptr && !IsSwitch(*flag)) flag = nullptr;
      value = "false";
    } else if (flag != nullptr && !has_value) {
      if (!IsSwitch(*flag) && ++i == arguments.size()) {
        return WrongUsage("--", name, " needs a value");
      }
      value = IsSwitch(*flag) ? "true" : arguments[i];
    }
    if (flag == nullptr) {
      const std::string nearest = Nearest(name, flags);
      return WrongUsage(
          "unknown flag --", name,
          nearest.empty() ? "; see --help" : absl::StrCat("; did you mean --", nearest, "?"));
    }
    std::vector<std::string>& values = TheState().given[std::string(flag->Name())];
    values = {value};
    if (lists.count(flag->Name()) > 0) values = absl::StrSplit(value, ',');
    for (const std::string& each : values) NIBU_RETURN_IF_ERROR(SetFlag(flag->Name(), each));
  }
  return positional;
}

std::string FlagValue(absl::string_view flag) {
  return absl::FindCommandLineFlag(flag)->CurrentValue();
}

std::vector<std::string> FlagValues(absl::string_view flag) {
  const auto given = TheState().given.find(flag);
  if (given != TheState().given.end()) return given->second;
  return {FlagValue(flag)};
}

bool WasGiven(absl::string_view flag) { return TheState().given.count(flag) > 0; }

absl::Status SetFlag(absl::string_view name, absl::string_view value) {
  absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  if (flag == nullptr) return WrongUsage("no flag --", name);
  std::string error;
  if (flag->ParseFrom(value, &error)) return absl::OkStatus();
  // Abseil says "Illegal value ...; why".
  const std::pair<std::string, std::string> parts = absl::StrSplit(error, absl::MaxSplits("; ", 1));
  return WrongUsage("--", name, ": \"", value, "\" is not a valid value",
                    parts.second.empty() ? "" : absl::StrCat(" (", parts.second, ")"));
}

void EndInOneLine() { std::set_terminate(EndExhausted); }

void SetFatalNote(std::string note) { TheState().fatal_note = std::move(note); }

std::vector<std::string> ParseCommandLineOrExit(const ProgramInfo& program, int argc, char** argv) {
  ReserveStandardDescriptors();
  TheState().program = program.name;
  EndInOneLine();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument == "--help" || argument == "-h" || argument == "-help") {
      PrintAndExit(HelpText(program));
    }
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
