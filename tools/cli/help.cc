// Writes help, man pages and the page of flags from the table of a program's options.

#include "tools/cli/help.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tools/text/marked/layout.h"
#include "tools/text/options/option_groups.h"

namespace nibu::internal {
namespace {

constexpr size_t kColumns = 96;
// A program with more options than this shows only the common ones on its first screen.
constexpr size_t kMostOnScreen = 20;

struct Group {
  std::string title;
  std::vector<ProgramOption> options;
};

// Returns where a group stands: some groups come last, the others keep the order of the tables.
int Height(absl::string_view title) {
  constexpr absl::string_view kLast[] = {kSearchOnTextGroup, kLengthsGroup, kSpeedGroup,
                                         kOutputGroup, kMeasuringGroup};
  const auto* const place = std::find(std::begin(kLast), std::end(kLast), title);
  return place == std::end(kLast) ? 0 : 1 + static_cast<int>(place - std::begin(kLast));
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

// Returns "--name=DEFAULT". An empty default value is shown as "".
std::string FlagOf(const ProgramOption& option) {
  const std::string& value = option.row->default_value;
  return absl::StrCat("--", option.name(), "=", value.empty() ? "\"\"" : value);
}

// Returns the flags "--a=b" and "--c" of the words "a=b c", except those that the program lacks.
std::string Flags(const ProgramInfo& program, absl::string_view words) {
  std::vector<std::string> flags;
  for (const absl::string_view word : absl::StrSplit(words, ' ', absl::SkipEmpty())) {
    const absl::string_view name = word.substr(0, word.find('='));
    for (const ProgramOption& option : OptionsOf(program)) {
      if (option.name() == name) flags.push_back(absl::StrCat("--", word));
    }
  }
  return absl::StrJoin(flags, " or ");
}

// Returns a sentence with the values of an option that its help does not name.
std::string Values(const OptionInfo& info) {
  for (const absl::string_view word : absl::StrSplit(info.values, ' ', absl::SkipEmpty())) {
    if (!absl::StrContains(info.help, word)) {
      return absl::StrCat(" One of ", absl::StrReplaceAll(info.values, {{" ", ", "}}), ".");
    }
  }
  return "";
}

// Returns a sentence with the range of a number. Limits that only refuse nonsense, such as a
// million, are left out.
std::string Range(const OptionInfo& info) {
  const auto is_told = [](double limit) {
    return limit == 0 || (std::abs(limit) >= 1e-3 && std::abs(limit) < 1e6);
  };
  const std::string least = absl::StrCat(info.is_above_least ? "above " : "", info.least);
  if (is_told(info.least) && is_told(info.most)) {
    return absl::StrCat(" Range: ", least, " to ", info.is_below_most ? "below " : "", info.most,
                        ".");
  }
  if (is_told(info.least)) {
    return absl::StrCat(" Range: ", least, info.is_above_least ? "." : " or more.");
  }
  return is_told(info.most) ? absl::StrCat(" Range: ", info.most, " or less.") : "";
}

// Returns the help and the sentences that the other fields of the row make.
std::string Sentences(const ProgramInfo& program, const ProgramOption& option) {
  const OptionInfo& info = option.row->info;
  std::string text = absl::StrCat(info.help, Values(info), Range(info));
  if (const std::string needs = Flags(program, info.needs); !needs.empty()) {
    absl::StrAppend(&text, " It needs ", needs, ".");
  }
  if (const std::string excludes = Flags(program, info.excludes); !excludes.empty()) {
    absl::StrAppend(&text, " It does not go with ", excludes, ".");
  }
  if (*info.replacement != 0) {
    absl::StrAppend(&text, " The next release does not have it; ", info.replacement, ".");
  }
  return text;
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
      absl::StrAppend(&lines, Reflow(help, FirstSentence(option.row->info.help), kColumns), "\n");
    }
    if (!lines.empty()) absl::StrAppend(&text, "\n", group.title, "\n", lines);
  }
  absl::StrAppend(&text, "\n", program.conventions, "\n");
  return absl::StrCat(text,
                      all ? "--help=all shows whole sentences" : "--help=all shows every option",
                      ", and --version the version.\n");
}

std::string All(const ProgramInfo& program) {
  std::string text = Intro(program);
  for (const Group& group : GroupsOf(program)) {
    absl::StrAppend(&text, "\n", group.title, "\n");
    for (const ProgramOption& option : group.options) {
      const Paragraph help = {"      ", "      "};
      absl::StrAppend(&text, "  ", FlagOf(option), "\n",
                      Reflow(help, Sentences(program, option), kColumns), "\n");
    }
  }
  return absl::StrCat(text, "\n", program.conventions,
                      "\n--help shows the options that most users need; --help=man, markdown, bash "
                      "or zsh a man page,\na page in Markdown, or completion for a shell; and "
                      "--version the version.\n");
}

// Returns a text for a Markdown table: flags in backquotes, and Markdown's own characters escaped.
std::string MarkdownText(absl::string_view text) {
  std::vector<std::string> words;
  for (const absl::string_view word : absl::StrSplit(text, absl::ByAnyChar(" \n"))) {
    const size_t end = absl::StartsWith(word, "--")
                           ? std::min(word.size(), word.find_last_not_of(".,;:)") + 1)
                           : 0;
    words.push_back(absl::StrCat(
        end > 0 ? absl::StrCat("`", word.substr(0, end), "`") : "",
        absl::StrReplaceAll(word.substr(end),
                            {{"\\", "\\\\"}, {"|", "\\|"}, {"<", "\\<"}, {"*", "\\*"}})));
  }
  return absl::StrJoin(words, " ");
}

std::string Markdown(const ProgramInfo& program) {
  std::string text = absl::StrCat("## ", program.name, "\n\n`", program.name, " ", program.usage,
                                  "`\n\n", MarkdownText(program.description), "\n");
  for (const Group& group : GroupsOf(program)) {
    absl::StrAppend(&text, "\n### ", MarkdownText(group.title),
                    "\n\n| flag | default | meaning |\n|---|---|---|\n");
    for (const ProgramOption& option : group.options) {
      const std::string& value = option.row->default_value;
      absl::StrAppend(&text, "| `--", option.name(), "` | ",
                      value.empty() ? "" : absl::StrCat("`", value, "`"), " | ",
                      MarkdownText(Sentences(program, option)), " |\n");
    }
  }
  return text;
}

// Returns a text for a man page: no line begins like a request, and hyphens and quotes stay ASCII.
std::string Roff(absl::string_view text) {
  std::string escaped = absl::StrReplaceAll(
      text, {{"\\", "\\e"}, {"-", "\\-"}, {"^", "\\(ha"}, {"~", "\\(ti"}, {"`", "\\(ga"}});
  if (absl::StartsWith(escaped, ".") || absl::StartsWith(escaped, "'")) escaped = "\\&" + escaped;
  return absl::StrReplaceAll(escaped, {{"\n.", "\n\\&."}, {"\n'", "\n\\&'"}});
}

std::string SynopsisOf(const ProgramInfo& program) {
  return absl::StrCat(".B ", Roff(program.name), "\n", Roff(program.usage), "\n");
}

// Returns the options in their groups, each group below a title.
std::string RoffOptions(const ProgramInfo& program) {
  std::string text;
  for (const Group& group : GroupsOf(program)) {
    absl::StrAppend(&text, ".SS ", Roff(group.title), "\n");
    for (const ProgramOption& option : group.options) {
      const std::string& value = option.row->default_value;
      absl::StrAppend(&text, ".TP\n\\fB", Roff(absl::StrCat("--", option.name())),
                      "\\fR=", value.empty() ? "\"\"" : absl::StrCat("\\fI", Roff(value), "\\fR"),
                      "\n", Roff(Sentences(program, option)), "\n");
    }
  }
  return text;
}

std::string ManPage(const ProgramInfo& program) {
  const std::string page = absl::StrReplaceAll(program.name, {{" ", "-"}});
  std::string what = FirstSentence(absl::StrReplaceAll(program.description, {{"\n", " "}}));
  what[0] = absl::ascii_tolower(static_cast<unsigned char>(what[0]));
  std::string text =
      absl::StrCat(".TH ", Roff(absl::AsciiStrToUpper(page)), " 1 \"\" \"nibu ", NIBU_VERSION,
                   "\" \"User Commands\"\n.ad l\n.SH NAME\n", Roff(page), " \\- ",
                   Roff(absl::StripSuffix(what, ".")), "\n.SH SYNOPSIS\n", SynopsisOf(program));
  for (const ProgramInfo& command : program.commands) {
    absl::StrAppend(&text, ".br\n", SynopsisOf(command));
  }
  absl::StrAppend(&text, ".SH DESCRIPTION\n", Roff(program.description), "\n.SH OPTIONS\n",
                  Roff(program.conventions), "\n", RoffOptions(program));
  for (const ProgramInfo& command : program.commands) {
    absl::StrAppend(&text, ".SH OPTIONS OF ", Roff(absl::AsciiStrToUpper(command.name)), "\n",
                    Roff(command.description), "\n", RoffOptions(command));
  }
  return absl::StrCat(
      text, ".SH HELP\n.TP\n\\fB\\-\\-help\\fR, \\fB\\-\\-help=all\\fR\n",
      "Print the options that most users need, or all of them.\n",
      ".TP\n\\fB\\-\\-help=man\\fR, \\fBmarkdown\\fR, \\fBbash\\fR, \\fBzsh\\fR\n",
      "Print this page, a page in Markdown, or completion for a shell.\n",
      ".TP\n\\fB\\-\\-version\\fR\nPrint the version.\n.SH EXIT STATUS\n",
      ".TP\n0\nThe work is done.\n.TP\n1\nThe work failed.\n.TP\n2\nThe command line is wrong.\n",
      ".PP\nAn error is one line on standard error.\n");
}

}  // namespace

std::string FirstSentence(absl::string_view help) {
  const size_t end = help.find(". ");
  return std::string(help.substr(0, end == help.npos ? end : end + 1));
}

absl::StatusOr<std::string> HelpText(const ProgramInfo& program, absl::string_view kind) {
  if (kind.empty()) return Screen(program);
  if (kind == "all") return All(program);
  if (kind == "man") return ManPage(program);
  if (kind == "markdown") return Markdown(program);
  if (kind == "bash") return BashCompletion(program);
  if (kind == "zsh") return ZshCompletion(program);
  return WrongUsage("--help must be all, man, markdown, bash or zsh, not \"", kind, "\"");
}

}  // namespace nibu::internal
