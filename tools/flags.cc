#include "tools/flags.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>
#include <set>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/marshalling.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "engine/core/status_macros.h"
#include "tools/text/nearest.h"

namespace nibu {
namespace {

constexpr char kVersion[] = NIBU_VERSION;

bool Lists(const ProgramInfo& program, absl::string_view name) {
  for (const auto& group : program.groups) {
    if (std::find(group.flags.begin(), group.flags.end(), name) != group.flags.end()) return true;
  }
  return false;
}

absl::CommandLineFlag* Find(const ProgramInfo& program, absl::string_view name) {
  return Lists(program, name) ? absl::FindCommandLineFlag(name) : nullptr;
}

absl::Status UnknownFlag(const ProgramInfo& program, absl::string_view name) {
  std::vector<std::string> flags;
  for (const auto& group : program.groups) {
    flags.insert(flags.end(), group.flags.begin(), group.flags.end());
  }
  const std::string nearest = Nearest(name, flags);
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown flag --", name,
      nearest.empty() ? "; see --help" : absl::StrCat("; did you mean --", nearest, "?")));
}

// The text broken into lines of at most `width` characters, each behind `indent` blanks.
std::string Wrap(absl::string_view text, size_t indent, size_t width) {
  std::string result;
  std::string line;
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > width) {
      absl::StrAppend(&result, std::string(indent, ' '), line, "\n");
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  return absl::StrCat(result, std::string(indent, ' '), line, "\n");
}

// Names of the flags that a command line has set.
std::set<std::string, std::less<>>& GivenFlags() {
  static auto& given = *new std::set<std::string, std::less<>>();
  return given;
}

// Flags that need no value.
bool IsSwitch(const absl::CommandLineFlag& flag) {
  return flag.IsOfType<bool>() || flag.IsOfType<AutoBool>();
}

absl::Status Set(absl::CommandLineFlag* flag, absl::string_view value) {
  std::string error;
  if (flag->ParseFrom(value, &error)) return absl::OkStatus();
  // Abseil says "Illegal value ...; why".
  const std::pair<std::string, std::string> parts = absl::StrSplit(error, absl::MaxSplits("; ", 1));
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag->Name(), ": \"", value, "\" is not a valid value",
                   parts.second.empty() ? "" : absl::StrCat(" (", parts.second, ")")));
}

}  // namespace

bool AbslParseFlag(absl::string_view text, AutoBool* value, std::string* error) {
  bool boolean = false;
  if (text == "auto") {
    *value = AutoBool::kAuto;
    return true;
  }
  if (!absl::ParseFlag(text, &boolean, error)) {
    *error = "it must be auto, true or false";
    return false;
  }
  *value = boolean ? AutoBool::kTrue : AutoBool::kFalse;
  return true;
}

std::string AbslUnparseFlag(AutoBool value) {
  if (value == AutoBool::kAuto) return "auto";
  return value == AutoBool::kTrue ? "true" : "false";
}

std::string HelpText(const ProgramInfo& program) {
  std::string text =
      absl::StrCat("Usage: ", program.name, " ", program.usage, "\n\n", program.description, "\n");
  for (const auto& group : program.groups) {
    absl::StrAppend(&text, "\n", group.title, "\n");
    for (const std::string& name : group.flags) {
      const absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
      if (flag == nullptr) continue;
      const std::string value = flag->DefaultValue();
      absl::StrAppend(&text, "  --", name, "=", value.empty() ? "\"\"" : value, "\n",
                      Wrap(flag->Help(), 6, 96));
    }
  }
  absl::StrAppend(&text,
                  "\nBooleans are set by --name and unset by --noname. --help and --version print "
                  "and exit.\n");
  return text;
}

absl::StatusOr<std::vector<std::string>> ParseFlags(const ProgramInfo& program,
                                                    absl::Span<const std::string> arguments,
                                                    FlagLists* lists) {
  std::vector<std::string> positional;
  if (lists != nullptr) {
    for (auto& [name, values] : *lists) {
      const absl::CommandLineFlag* flag = Find(program, name);
      if (flag != nullptr) values = {flag->CurrentValue()};
    }
  }
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
    absl::CommandLineFlag* flag = Find(program, name);
    if (flag == nullptr && !has_value && name.substr(0, 2) == "no") {
      flag = Find(program, name.substr(2));
      if (flag != nullptr && !IsSwitch(*flag)) flag = nullptr;
      value = "false";
    } else if (flag != nullptr && !has_value) {
      if (IsSwitch(*flag)) {
        value = "true";
      } else if (++i < arguments.size()) {
        value = arguments[i];
      } else {
        return absl::InvalidArgumentError(absl::StrCat("--", name, " needs a value"));
      }
    }
    if (flag == nullptr) return UnknownFlag(program, name);
    std::vector<std::string> values = {std::move(value)};
    if (lists != nullptr && lists->count(std::string(flag->Name())) > 0) {
      values = absl::StrSplit(values[0], ',');
      (*lists)[std::string(flag->Name())] = values;
    }
    for (const std::string& each : values) NIBU_RETURN_IF_ERROR(Set(flag, each));
    GivenFlags().emplace(flag->Name());
  }
  return positional;
}

bool WasGiven(absl::string_view flag) { return GivenFlags().count(flag) > 0; }

absl::Status SetFlag(absl::string_view name, absl::string_view value) {
  absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  if (flag == nullptr) return absl::InvalidArgumentError(absl::StrCat("no flag --", name));
  return Set(flag, value);
}

namespace {

std::string& ProgramName() {
  static std::string& name = *new std::string();
  return name;
}

std::string& FatalNote() {
  static std::string& note = *new std::string();
  return note;
}

// What std::terminate calls.
[[noreturn]] void EndOutOfMemory() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "%s: error: out of memory; free some, or use fewer threads or smaller batches%s\n",
                 ProgramName().c_str(), FatalNote().c_str());
    _exit(kExitFailure);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: fatal: %s\n", ProgramName().c_str(), e.what());
  }
  std::abort();
}

}  // namespace

void SetFatalNote(std::string note) { FatalNote() = std::move(note); }

std::vector<std::string> ParseCommandLineOrExit(const ProgramInfo& program, int argc, char** argv,
                                                FlagLists* lists) {
  ProgramName() = program.name;
  std::set_terminate(EndOutOfMemory);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument == "--help" || argument == "-h" || argument == "-help") {
      std::fputs(HelpText(program).c_str(), stdout);
      std::exit(0);
    }
    if (argument == "--version") {
      std::printf("%s %s\n", program.name.c_str(), kVersion);
      std::exit(0);
    }
  }
  absl::StatusOr<std::vector<std::string>> positional = ParseFlags(program, arguments, lists);
  if (positional.ok() && !positional->empty() && !program.takes_text) {
    positional = absl::InvalidArgumentError(
        absl::StrCat("unexpected argument \"", positional->front(), "\""));
  }
  if (!positional.ok()) std::exit(Fail(positional.status(), kExitUsage));
  return *std::move(positional);
}

namespace {

void PrintLine(const char* kind, absl::string_view message) {
  const std::string line = absl::StrReplaceAll(message, {{"\n", " "}, {"\r", " "}});
  std::fprintf(stderr, "%s: %s: %s\n", ProgramName().c_str(), kind, line.c_str());
}

}  // namespace

void PrintError(absl::string_view message) { PrintLine("error", message); }
void PrintWarning(absl::string_view message) { PrintLine("warning", message); }

int Fail(const absl::Status& status, int exit_status) {
  PrintError(status.message());
  return exit_status;
}

}  // namespace nibu
