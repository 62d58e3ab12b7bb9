// Help, man pages, completion and the page of flags, from a program's options.

#include "tools/cli/help.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tools/text/layout.h"

namespace nibu::internal {
namespace {

constexpr size_t kColumns = 96;
// A program with more options than this shows only the common ones on its first screen.
constexpr size_t kMostOnScreen = 20;

struct Group {
  std::string title;
  std::vector<ProgramOption> options;
};

// The groups whose place does not follow from the order of the tables.
int Height(absl::string_view title) {
  if (absl::StartsWith(title, "Speed")) return 1;
  return title == "Output" || title == "Measuring" ? 2 : 0;
}

std::vector<Group> GroupsOf(const ProgramInfo& program) {
  std::vector<Group> groups;
  for (const ProgramOption& option : OptionsOf(program)) {
    const absl::string_view title = option.row->info.group;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& each) { return each.title == title; });
    if (group == groups.end()) group = groups.insert(group, {std::string(title), {}});
    group->options.push_back(option);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return Height(a.title) < Height(b.title);
  });
  return groups;
}

// "--name=DEFAULT"; a default value that is empty is shown as "".
std::string FlagOf(const ProgramOption& option) {
  const std::string& value = option.row->default_value;
  return absl::StrCat("--", option.name(), "=", value.empty() ? "\"\"" : value);
}

std::string FirstSentence(absl::string_view help) {
  const size_t end = help.find(". ");
  return std::string(help.substr(0, end == help.npos ? end : end + 1));
}

// "Exactly one of: a, b or c" is said by the words themselves, where the help does not name them
// all.
std::string Values(const ProgramOption& option) {
  const OptionInfo& info = option.row->info;
  for (const absl::string_view word : absl::StrSplit(info.values, ' ', absl::SkipEmpty())) {
    if (!absl::StrContains(info.help, word)) {
      return absl::StrCat(" One of ", absl::StrReplaceAll(info.values, {{" ", ", "}}), ".");
    }
  }
  return "";
}

std::string Intro(const ProgramInfo& program) {
  return absl::StrCat("Usage: ", program.name, " ", program.usage, "\n\n", program.description,
                      "\n");
}

std::string Screen(const ProgramInfo& program) {
  constexpr size_t kIndent = 30;
  const bool all = OptionsOf(program).size() <= kMostOnScreen;
  std::string text = Intro(program);
  for (const Group& group : GroupsOf(program)) {
    std::string lines;
    for (const ProgramOption& option : group.options) {
      if (!all && !option.row->info.is_common) continue;
      std::string flag = absl::StrCat("  ", FlagOf(option), " ");
      if (flag.size() < kIndent) flag.resize(kIndent, ' ');
      const Paragraph help = {flag, std::string(kIndent, ' ')};
      absl::StrAppend(&lines, LayOut(help, FirstSentence(option.row->info.help), kColumns), "\n");
    }
    if (!lines.empty()) absl::StrAppend(&text, "\n", group.title, "\n", lines);
  }
  absl::StrAppend(&text, "\nBooleans are set by --name and unset by --noname. --help");
  return absl::StrCat(text, all ? "" : "=all", " shows ",
                      all ? "this, --help=all whole sentences" : "every option",
                      ", --version the version.\n");
}

std::string All(const ProgramInfo& program) {
  std::string text = Intro(program);
  for (const Group& group : GroupsOf(program)) {
    absl::StrAppend(&text, "\n", group.title, "\n");
    for (const ProgramOption& option : group.options) {
      const Paragraph help = {"      ", "      "};
      const std::string sentences = absl::StrCat(option.row->info.help, Values(option));
      absl::StrAppend(&text, "  ", FlagOf(option), "\n", LayOut(help, sentences, kColumns), "\n");
    }
  }
  return absl::StrCat(text,
                      "\nBooleans are set by --name and unset by --noname. --help shows the most "
                      "used options,\n--help=man, markdown, bash or zsh a man page, a page in "
                      "Markdown, or completion for a shell;\n--version the version.\n");
}

std::string Markdown(const ProgramInfo& program) {
  std::string text = absl::StrCat("## ", program.name, "\n\n`", program.name, " ", program.usage,
                                  "`\n\n", program.description, "\n");
  for (const Group& group : GroupsOf(program)) {
    absl::StrAppend(&text, "\n### ", group.title,
                    "\n\n| flag | default | meaning |\n|---|---|---|\n");
    for (const ProgramOption& option : group.options) {
      const std::string& value = option.row->default_value;
      const std::string help = absl::StrReplaceAll(
          absl::StrCat(option.row->info.help, Values(option)), {{"|", "\\|"}, {"<", "\\<"}});
      absl::StrAppend(&text, "| `--", option.name(), "` | ",
                      value.empty() ? "" : absl::StrCat("`", value, "`"), " | ", help, " |\n");
    }
  }
  return text;
}

// Text of a man page: no line may begin as a request does, and a hyphen is one that can be copied.
std::string Roff(absl::string_view text) {
  std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  if (absl::StartsWith(escaped, ".") || absl::StartsWith(escaped, "'")) escaped = "\\&" + escaped;
  return absl::StrReplaceAll(escaped, {{"\n.", "\n\\&."}, {"\n'", "\n\\&'"}});
}

std::string ManPage(const ProgramInfo& program) {
  const std::string what = FirstSentence(absl::StrReplaceAll(program.description, {{"\n", " "}}));
  std::string text =
      absl::StrCat(".TH ", absl::AsciiStrToUpper(program.name), " 1 \"\" \"nibu ", NIBU_VERSION,
                   "\" \"User Commands\"\n.SH NAME\n", Roff(program.name), " \\- ", Roff(what),
                   "\n.SH SYNOPSIS\n.B ", Roff(program.name), "\n", Roff(program.usage),
                   "\n.SH DESCRIPTION\n", Roff(program.description), "\n.SH OPTIONS\n",
                   "Booleans are set by \\-\\-name and unset by \\-\\-noname.\n");
  for (const Group& group : GroupsOf(program)) {
    absl::StrAppend(&text, ".SS ", Roff(group.title), "\n");
    for (const ProgramOption& option : group.options) {
      absl::StrAppend(&text, ".TP\n.B ", Roff(FlagOf(option)), "\n",
                      Roff(absl::StrCat(option.row->info.help, Values(option))), "\n");
    }
  }
  return absl::StrCat(
      text, ".TP\n.B \\-\\-help, \\-\\-help=all\nThe most used options, or all of them.\n",
      ".TP\n.B \\-\\-version\nThe version.\n.SH EXIT STATUS\n0: done. 1: the work failed. 2: wrong "
      "usage. An error is one line on standard error.\n");
}

std::string Bash(const ProgramInfo& program) {
  std::vector<std::string> flags = {"--help", "--help=all", "--version"};
  std::string cases;
  for (const ProgramOption& option : OptionsOf(program)) {
    flags.push_back(absl::StrCat("--", option.name(), option.is_switch() ? "" : "="));
    if (*option.row->info.values == 0) continue;
    absl::StrAppend(&cases, "    --", option.name(), ") COMPREPLY=($(compgen -W '",
                    option.row->info.values, "' -- \"$word\")); return ;;\n");
  }
  std::string function = absl::StrReplaceAll(program.name, {{"-", "_"}});
  return absl::StrCat(
      "# bash completion for ", program.name, "\n_", function,
      "() {\n  local word=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  [ \"$word\" = = ] && word=\n"
      "  [ \"$flag\" = = ] && flag=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  [ \"${COMP_WORDS[COMP_CWORD]}\" = = ] && flag=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  case $flag in\n",
      cases, "  esac\n  case $word in\n    -*) compopt -o nospace\n      COMPREPLY=($(compgen -W '",
      absl::StrJoin(flags, " "),
      "' -- \"$word\")) ;;\n    *) compopt -o default; COMPREPLY=() ;;\n",
      "  esac\n}\ncomplete -F _", function, " ", program.name, "\n");
}

std::string Zsh(const ProgramInfo& program) {
  std::string text =
      absl::StrCat("#compdef ", program.name, "\n_arguments \\\n  '--help=-[show help]:kind:(all)'",
                   " \\\n  '--version[show the version]'");
  for (const ProgramOption& option : OptionsOf(program)) {
    const std::string help =
        absl::StrReplaceAll(FirstSentence(option.row->info.help),
                            {{"'", "'\\''"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
    absl::StrAppend(&text, " \\\n  '--", option.name(), option.is_switch() ? "" : "=", "[", help,
                    "]");
    if (!option.is_switch()) {
      const absl::string_view values = option.row->info.values;
      absl::StrAppend(&text, ":", option.name(), ":",
                      values.empty() ? "_files" : absl::StrCat("(", values, ")"));
    }
    absl::StrAppend(&text, "'");
  }
  return absl::StrCat(text, program.takes_text ? " \\\n  '*:text:'" : "", "\n");
}

}  // namespace

absl::StatusOr<std::string> HelpText(const ProgramInfo& program, absl::string_view kind) {
  if (kind.empty()) return Screen(program);
  if (kind == "all") return All(program);
  if (kind == "man") return ManPage(program);
  if (kind == "markdown") return Markdown(program);
  if (kind == "bash") return Bash(program);
  if (kind == "zsh") return Zsh(program);
  return WrongUsage("--help must be all, man, markdown, bash or zsh, not \"", kind, "\"");
}

}  // namespace nibu::internal
