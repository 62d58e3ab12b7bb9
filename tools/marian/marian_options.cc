// Reads Marian's command lines and YAML files with the table of flags.
#include "tools/marian/marian_options.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/directory.h"
#include "nlohmann/json.hpp"
#include "tools/cli/config_file.h"
#include "tools/cli/flags.h"
#include "tools/marian/marian_flags.h"
#include "tools/text/options/nearest.h"

namespace nibu::internal {
namespace {

using Values = std::map<std::string, std::vector<std::string>, std::less<>>;

bool HasCommand(const MarianFlag& flag, MarianCommand command) {
  return absl::StrContains(flag.commands, command == MarianCommand::kScore ? "score" : "decode");
}

// Returns the flag of this name, or of this short form if it is one letter; null: there is none.
const MarianFlag* Find(MarianCommand command, absl::string_view name) {
  for (const MarianFlag& flag : MarianFlags()) {
    const bool is_letter = name.size() == 1 && flag.letter == name[0];
    if (HasCommand(flag, command) && (is_letter || flag.name == name)) return &flag;
  }
  return nullptr;
}

absl::Status Unknown(MarianCommand command, absl::string_view where, absl::string_view name) {
  std::vector<std::string> names;
  for (const MarianFlag& flag : MarianFlags()) {
    if (HasCommand(flag, command)) names.emplace_back(flag.name);
  }
  const std::string nearest = Nearest(name, names);
  return WrongUsage(
      where, name,
      nearest.empty() ? "; see --help=all" : absl::StrCat("; did you mean ", nearest, "?"));
}

std::optional<bool> ParseBool(absl::string_view text) {
  const std::string lower = absl::AsciiStrToLower(text);
  if (lower == "true" || lower == "on" || lower == "yes" || lower == "1") return true;
  if (lower == "false" || lower == "off" || lower == "no" || lower == "0") return false;
  return std::nullopt;
}

std::optional<double> ParseNumber(absl::string_view text) {
  if (const auto is_on = ParseBool(text)) return *is_on ? 1 : 0;
  double number = 0;
  if (absl::SimpleAtod(text, &number)) return number;
  return std::nullopt;
}

// Returns why the values are none of the flag's, or an empty string.
std::string WhyWrong(const MarianFlag& flag, const std::vector<std::string>& values) {
  if (flag.form != MarianFlagForm::kList && values.size() != 1) return "must be one value";
  for (const std::string& value : values) {
    const absl::string_view type = flag.type;
    const auto number = ParseNumber(value);
    int integer = 0;
    const std::string found = absl::StrCat(", not \"", value, "\"");
    if (type == "bool" && !ParseBool(value)) return "must be true or false" + found;
    if (type == "int" && !absl::SimpleAtoi(value, &integer))
      return "must be a whole number" + found;
    if (type == "float" && !number) return "must be a number" + found;
  }
  return "";
}

// Checks the values of a flag. `where` names it in errors.
absl::Status Check(const MarianFlag& flag, absl::string_view where,
                   const std::vector<std::string>& values) {
  if (flag.kind == MarianFlagKind::kRefused &&
      !(flag.form == MarianFlagForm::kSwitch && values.size() == 1 &&
        ParseBool(values[0]) == false)) {
    absl::string_view why = flag.help;
    why.remove_prefix(why.find(": ") + 2);
    return WrongUsage(where, " is refused: ", why.substr(0, why.size() - 1));
  }
  const std::string why = WhyWrong(flag, values);
  return why.empty() ? absl::OkStatus() : WrongUsage(where, " ", why);
}

// Returns whether an argument is a flag. Numbers may be negative.
bool IsFlag(absl::string_view argument) {
  return argument.size() > 1 && argument[0] == '-' && argument[1] != '.' &&
         !absl::ascii_isdigit(static_cast<unsigned char>(argument[1]));
}

// Reads a command line: --flag, --flag VALUE, --flag=VALUE, -f, -f VALUE, -fVALUE.
absl::StatusOr<Values> ReadArguments(MarianCommand command,
                                     absl::Span<const std::string> arguments) {
  Values given;
  for (size_t i = 0; i < arguments.size();) {
    const absl::string_view argument = arguments[i++];
    if (!IsFlag(argument)) return WrongUsage("unexpected argument \"", argument, "\"");
    const bool is_long = argument[1] == '-';
    absl::string_view name = argument.substr(is_long ? 2 : 1);
    std::vector<std::string> values;
    const size_t end = is_long ? name.find('=') : 1;
    if (end < name.size()) {
      values.emplace_back(name.substr(name[end] == '=' ? end + 1 : end));
      name = name.substr(0, end);
    }
    const MarianFlag* const flag = Find(command, name);
    if (flag == nullptr || is_long != (flag->name == name)) {
      return Unknown(command, is_long ? "unknown flag --" : "unknown flag -", name);
    }
    const std::string where = absl::StrCat("--", flag->name);
    switch (flag->form) {
      case MarianFlagForm::kSwitch:
        if (values.empty()) values.emplace_back("true");
        break;
      case MarianFlagForm::kOne:
        if (values.empty() && i < arguments.size()) values.push_back(arguments[i++]);
        break;
      case MarianFlagForm::kOptional:
        if (values.empty() && i < arguments.size() && !IsFlag(arguments[i])) {
          values.push_back(arguments[i++]);
        }
        break;
      case MarianFlagForm::kList:
        while (i < arguments.size() && !IsFlag(arguments[i])) values.push_back(arguments[i++]);
        break;
    }
    if (values.empty() && *flag->alone != 0) values.emplace_back(flag->alone);
    if (values.empty()) return WrongUsage(where, " needs a value");
    NIBU_RETURN_IF_ERROR(Check(*flag, where, values));
    std::vector<std::string>& all = given[flag->name];
    if (flag->form != MarianFlagForm::kList) all.clear();
    all.insert(all.end(), std::make_move_iterator(values.begin()),
               std::make_move_iterator(values.end()));
  }
  return given;
}

// Reads a YAML file of options. Marian writes its "version" into such files.
absl::StatusOr<Values> ReadConfig(MarianCommand command, const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(const std::vector<ConfigEntry> entries,
                        UsageError(ReadConfigEntries(path)));
  Values given;
  for (const ConfigEntry& entry : entries) {
    if (entry.name == "version" || entry.name == "config") continue;
    const MarianFlag* flag = Find(command, entry.name);
    if (flag == nullptr || flag->name != entry.name) {
      return Unknown(command, absl::StrCat(entry.place, ": unknown option "), entry.name);
    }
    const bool is_list = !entry.elements.empty() || entry.value.empty();
    std::vector<std::string> values =
        is_list ? entry.elements : std::vector<std::string>{entry.value};
    if (values.empty()) continue;  // Marian writes [] for lists that nothing has set
    NIBU_RETURN_IF_ERROR(Check(*flag, absl::StrCat(entry.place, ": ", entry.name), values));
    given[entry.name] = std::move(values);
  }
  return given;
}

bool IsSwitchedOn(const Values& given, absl::string_view name) {
  const auto found = given.find(name);
  return found != given.end() && ParseBool(found->second[0]).value_or(false);
}

// Calls change(path) for each path among the values. Only the first value of a shortlist is one.
template <typename Change>
absl::Status ChangePaths(Values* given, const Change& change) {
  for (const MarianFlag& flag : MarianFlags()) {
    const auto found = given->find(flag.name);
    if (found == given->end() || absl::string_view(flag.type) != "path") continue;
    for (std::string& path : found->second) {
      if (path != "stdin" && path != "stdout" && path != "-") NIBU_RETURN_IF_ERROR(change(&path));
      if (found->first == "shortlist") break;
    }
  }
  return absl::OkStatus();
}

// Replaces each ${NAME} of a path by the variable of the environment.
absl::Status Interpolate(std::string* path) {
  for (size_t begin = 0; (begin = path->find("${", begin)) != std::string::npos;) {
    const size_t end = path->find('}', begin);
    if (end == std::string::npos) break;
    const std::string name = path->substr(begin + 2, end - begin - 2);
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr) {
      return WrongUsage(*path, ": the environment has no variable ", name);
    }
    path->replace(begin, end + 1 - begin, value);
    begin += std::string(value).size();
  }
  return absl::OkStatus();
}

std::vector<std::string> DefaultsOf(const MarianFlag& flag) {
  return absl::StrSplit(flag.defaults, ' ', absl::SkipEmpty());
}

// Returns a scalar of YAML, in quotation marks where it needs them.
std::string Scalar(const std::string& value) {
  const bool is_plain = !value.empty() && absl::c_all_of(value, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("._/+-", c);
  });
  return is_plain && value != "-"
             ? value
             : nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

absl::StatusOr<MarianOptions> MarianOptions::Read(MarianCommand command,
                                                  absl::Span<const std::string> arguments) {
  NIBU_ASSIGN_OR_RETURN(Values line, ReadArguments(command, arguments));
  if (IsSwitchedOn(line, "interpolate-env-vars"))
    NIBU_RETURN_IF_ERROR(ChangePaths(&line, Interpolate));
  MarianOptions options(command);
  Values& given = options.given_;
  const auto configs = line.find("config");
  for (const std::string& path : configs == line.end() ? Values::mapped_type() : configs->second) {
    NIBU_ASSIGN_OR_RETURN(Values read, ReadConfig(command, path));
    if (IsSwitchedOn(line, "interpolate-env-vars") || IsSwitchedOn(read, "interpolate-env-vars")) {
      NIBU_RETURN_IF_ERROR(ChangePaths(&read, Interpolate));
    }
    if (IsSwitchedOn(line, "relative-paths") || IsSwitchedOn(read, "relative-paths")) {
      NIBU_RETURN_IF_ERROR(ChangePaths(&read, [&](std::string* each) {
        if (!absl::StartsWith(*each, "/")) *each = absl::StrCat(DirectoryOf(path), "/", *each);
        return absl::OkStatus();
      }));
    }
    for (auto& [name, values] : read) given[name] = std::move(values);
  }
  for (auto& [name, values] : line) given[name] = std::move(values);
  // The paths are changed now; a configuration that is printed must not say to change them again.
  given.erase("relative-paths");
  given.erase("interpolate-env-vars");
  return options;
}

std::vector<std::string> MarianOptions::List(absl::string_view name) const {
  const auto given = given_.find(name);
  if (given != given_.end()) return given->second;
  const absl::Span<const MarianFlag> flags = MarianFlags();
  const auto flag =
      absl::c_find_if(flags, [&](const MarianFlag& each) { return each.name == name; });
  ABSL_ASSERT(flag != flags.end());
  return DefaultsOf(*flag);
}

std::string MarianOptions::Text(absl::string_view name) const {
  const std::vector<std::string> values = List(name);
  return values.empty() ? "" : values[0];
}

double MarianOptions::Float(absl::string_view name) const {
  return ParseNumber(Text(name)).value_or(0);
}

std::vector<std::string> MarianOptions::Ignored() const {
  std::vector<std::string> names;
  for (const MarianFlag& flag : MarianFlags()) {
    if (flag.kind == MarianFlagKind::kIgnored && HasCommand(flag, command_) &&
        WasGiven(flag.name) && List(flag.name) != DefaultsOf(flag)) {
      names.push_back(absl::StrCat("--", flag.name));
    }
  }
  return names;
}

std::vector<std::string> MarianOptions::Yaml(bool all) const {
  std::vector<std::string> lines;
  for (const MarianFlag& flag : MarianFlags()) {
    const bool is_shown = WasGiven(flag.name) || (all && flag.kind == MarianFlagKind::kUnderstood);
    // These are answers, and not a part of the configuration.
    const bool is_answer = absl::StrContains(" config dump-config version build-info ",
                                             absl::StrCat(" ", flag.name, " "));
    if (!HasCommand(flag, command_) || !is_shown || is_answer) continue;
    const std::vector<std::string> values = List(flag.name);
    if (values.empty()) continue;
    if (flag.form != MarianFlagForm::kList) {
      lines.push_back(absl::StrCat(flag.name, ": ", Scalar(values[0])));
      continue;
    }
    lines.push_back(absl::StrCat(flag.name, ":"));
    for (const std::string& value : values) lines.push_back(absl::StrCat("  - ", Scalar(value)));
  }
  return lines;
}

absl::Span<const OptionRow> MarianOptionRows() {
  static const auto& rows = *[] {
    std::vector<OptionRow> made;
    constexpr absl::string_view kCommon =
        " config models model vocabs input train-sets output beam-size normalize max-length "
        "max-length-crop shortlist n-best alignment word-scores quiet quiet-translation log "
        "cpu-threads ";
    for (const MarianFlag& flag : MarianFlags()) {
      OptionInfo info = {.name = flag.name, .help = flag.help, .group = flag.group};
      info.type = flag.type;
      info.programs = flag.commands;
      info.is_common = absl::StrContains(kCommon, absl::StrCat(" ", flag.name, " "));
      made.push_back({info, nullptr, nullptr, nullptr, nullptr, flag.defaults});
    }
    return new std::vector<OptionRow>(OptionRows(made));
  }();
  return rows;
}

}  // namespace nibu::internal
