// Writes the scripts that complete a program's options in bash and zsh.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "tools/cli/help.h"

namespace nibu::internal {
namespace {

constexpr char kHelpKinds[] = "all man markdown bash zsh";

// Returns the words that an option's value may be, with blanks between them, or an empty string if
// they are not known.
std::string ValuesOf(const ProgramOption& option) {
  const absl::string_view type = option.row->info.type;
  if (type == "bool") return "true false";
  if (type == "auto") return "true false auto";
  return option.row->info.values;
}

bool IsPath(const ProgramOption& option) {
  return absl::string_view(option.row->info.type) == "path";
}

// Returns whether --noNAME is worth showing.
bool HasNo(const ProgramOption& option) {
  return option.is_switch() && option.row->default_value != "false";
}

// Returns the lines of the function that complete a program's flags. `first` has the words that the
// first argument may be.
std::string BashBody(const ProgramInfo& program, absl::string_view first) {
  std::vector<std::string> flags = {"--help", "--version"};
  std::vector<std::string> paths;
  std::string cases;
  for (const ProgramOption& option : OptionsOf(program)) {
    const std::string flag = absl::StrCat("--", option.name());
    flags.push_back(absl::StrCat(flag, option.is_switch() ? "" : "="));
    if (HasNo(option)) flags.push_back(absl::StrCat("--no", option.name()));
    if (IsPath(option)) paths.push_back(flag);
    const std::string values = ValuesOf(option);
    if (values.empty()) continue;
    absl::StrAppend(&cases, "    ", flag, ") ", option.is_switch() ? "[[ $joined ]] && " : "",
                    "values='", values, "' ;;\n");
  }
  if (!paths.empty()) absl::StrAppend(&cases, "    ", absl::StrJoin(paths, "|"), ") files=1 ;;\n");
  return absl::StrCat(
      "  local word=${COMP_WORDS[COMP_CWORD]} flag='' joined='' prefix='' values='' files=''\n"
      "  COMPREPLY=()\n"
      "  # Bash usually cuts --flag=value into three words.\n"
      "  if [[ $word == --*=* ]]; then\n"
      "    flag=${word%%=*} prefix=${word%%=*}= word=${word#*=} joined=1\n"
      "  elif [[ $word == = ]]; then\n"
      "    flag=${COMP_WORDS[COMP_CWORD - 1]} word='' joined=1\n"
      "  elif (( COMP_CWORD > 1 )) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then\n"
      "    flag=${COMP_WORDS[COMP_CWORD - 2]} joined=1\n"
      "  elif [[ $word != -?* ]]; then\n"
      "    flag=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  fi\n"
      "  case $flag in\n"
      "    --help) [[ $joined ]] && values='",
      kHelpKinds, "' ;;\n", cases,
      "  esac\n"
      "  if [[ $values ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -P \"$prefix\" -W \"$values\" -- \"$word\")\n"
      "  elif [[ $files ]]; then\n"
      "    compopt -o filenames\n"
      "    mapfile -t COMPREPLY < <(compgen -P \"$prefix\" -f -- \"$word\")\n"
      "  elif [[ $word == -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W '",
      absl::StrJoin(flags, " "),
      "' -- \"$word\")\n"
      "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n",
      first.empty() ? ""
                    : absl::StrCat("  elif (( COMP_CWORD == 1 )); then\n"
                                   "    mapfile -t COMPREPLY < <(compgen -W '",
                                   first, "' -- \"$word\")\n"),
      "  fi\n"
      "  return 0\n");
}

std::string FunctionName(const ProgramInfo& program) {
  return absl::StrCat("_", absl::StrReplaceAll(program.name, {{"-", "_"}, {" ", "_"}}));
}

// Returns the last word of a command's name: "attention" of "nibu-inspect attention".
std::string WordOf(const ProgramInfo& command) {
  return command.name.substr(command.name.rfind(' ') + 1);
}

std::vector<std::string> WordsOf(const ProgramInfo& program) {
  std::vector<std::string> words;
  for (const ProgramInfo& command : program.commands) words.push_back(WordOf(command));
  return words;
}

// Returns a call of zsh's _arguments, which completes a program's flags.
std::string ZshArguments(const ProgramInfo& program) {
  std::string text = absl::StrCat("_arguments \\\n  '--help=-[show help]::kind:(", kHelpKinds,
                                  ")' \\\n  '--version[show the version]'");
  for (const ProgramOption& option : OptionsOf(program)) {
    const std::string help = absl::StrReplaceAll(
        FirstSentence(option.row->info.help),
        {{"'", "'\\''"}, {"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
    absl::StrAppend(&text, " \\\n  '--", option.name(), option.is_switch() ? "" : "=", "[", help,
                    "]");
    if (!option.is_switch()) {
      const std::string values = ValuesOf(option);
      absl::StrAppend(&text, ":", option.name(), ":",
                      !values.empty()  ? absl::StrCat("(", values, ")")
                      : IsPath(option) ? "_files"
                                       : " ");
    }
    absl::StrAppend(&text, "'");
    if (HasNo(option)) absl::StrAppend(&text, " \\\n  '--no", option.name(), "'");
  }
  if (!program.commands.empty()) {
    absl::StrAppend(&text, " \\\n  '1:command:(", absl::StrJoin(WordsOf(program), " "), ")'");
  }
  return text + "\n";
}

}  // namespace

std::string BashCompletion(const ProgramInfo& program) {
  std::string text = absl::StrCat("# bash completion for ", program.name, "\n");
  std::string choice;
  for (const ProgramInfo& command : program.commands) {
    absl::StrAppend(&text, FunctionName(command), "() {\n", BashBody(command, ""), "}\n");
    absl::StrAppend(&choice,
                    "  if (( COMP_CWORD > 1 )) && [[ ${COMP_WORDS[1]} == ", WordOf(command),
                    " ]]; then\n    ", FunctionName(command), "\n    return\n  fi\n");
  }
  const std::string words = absl::StrJoin(WordsOf(program), " ");
  return absl::StrCat(text, FunctionName(program), "() {\n", choice, BashBody(program, words),
                      "}\ncomplete -F ", FunctionName(program), " ", program.name, "\n");
}

std::string ZshCompletion(const ProgramInfo& program) {
  std::string text = absl::StrCat("#compdef ", program.name, "\n");
  for (const ProgramInfo& command : program.commands) {
    absl::StrAppend(&text, "if (( CURRENT > 2 )) && [[ $words[2] == ", WordOf(command),
                    " ]]; then\nshift words\n(( CURRENT-- ))\n", ZshArguments(command),
                    "return\nfi\n");
  }
  return absl::StrCat(text, ZshArguments(program));
}

}  // namespace nibu::internal
