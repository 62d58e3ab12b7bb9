// Tests of the help texts of all programs, and of the rows that they are made from.
#include "tools/cli/help.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/tools/shell.h"
#include "tools/bench/bench_options.h"
#include "tools/bench/bleu.h"
#include "tools/cli/cli_options.h"
#include "tools/cli/convert_options.h"
#include "tools/inspect/inspect_options.h"
#include "tools/marian/marian_options.h"
#include "tools/serve/serve_options.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A program as a user calls it, and the tables that have its rows.
struct Tool {
  std::string name;
  std::string key;
  std::vector<absl::Span<const OptionRow>> tables;
};

std::vector<Tool> Tools() {
  const auto cli = CliOptionRows();
  const auto model = ModelOptionRows();
  const auto text = TextOptionRows();
  const auto speed = SpeedOptionRows();
  return {
      {"nibu-translate", "translate", {cli, model, text, speed}},
      {"nibu-score", "score", {cli, model, text, speed}},
      {"nibu-split", "split", {cli}},
      {"nibu-convert", "convert", {cli, model, ConvertOptionRows()}},
      {"nibu-inspect", "inspect", {cli, model, InspectOptionRows()}},
      {"nibu-inspect attention", "inspect-attention", {cli, model, text, InspectOptionRows()}},
      {"nibu-inspect convolution", "inspect-convolution", {cli, InspectOptionRows()}},
      {"nibu-bench", "bench", {cli, BenchOptionRows(), model, text, speed}},
      {"nibu-bench attention", "bench-attention", {BenchOptionRows(), model}},
      {"nibu-bench bleu", "bench-bleu", {BleuOptionRows()}},
      {"nibu-serve", "serve", {ServeOptionRows(), model, text, speed}},
      {"nibu-marian", "decode", {MarianOptionRows()}},
      {"nibu-marian score", "score", {MarianOptionRows()}},
  };
}

// Returns the rows of a program, from all of its tables.
std::vector<OptionInfo> RowsOf(const Tool& tool) {
  ProgramInfo info;
  info.key = tool.key;
  for (const auto& table : tool.tables) info.parts.push_back({table, nullptr});
  std::vector<OptionInfo> rows;
  for (const ProgramOption& option : OptionsOf(info)) rows.push_back(option.row->info);
  return rows;
}

std::set<std::string> NamesOf(const Tool& tool) {
  std::set<std::string> names;
  for (const OptionInfo& row : RowsOf(tool)) names.insert(row.name);
  return names;
}

std::string Help(const Tool& tool, const std::string& kind) {
  std::vector<std::string> words = absl::StrSplit(tool.name, absl::MaxSplits(' ', 1));
  words[0] = Program(words[0]);
  const Outcome outcome = Shell(absl::StrCat(absl::StrJoin(words, " "), " --help", kind), "");
  EXPECT_EQ(outcome.status, 0) << tool.name;
  EXPECT_EQ(outcome.err, "") << tool.name;
  return outcome.out;
}

TEST(HelpTest, FitsAScreen) {
  for (const Tool& tool : Tools()) {
    const std::string help = Help(tool, "");
    const std::vector<std::string> lines = absl::StrSplit(help, '\n');
    EXPECT_GT(lines.size(), 5u) << tool.name;
    EXPECT_LE(lines.size() - 1, 60u) << tool.name;
    for (const std::string& line : lines) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(HelpTest, AllHasEveryOption) {
  for (const Tool& tool : Tools()) {
    const std::string help = Help(tool, "=all");
    size_t flags = 0;
    for (const absl::string_view line : absl::StrSplit(help, '\n')) {
      flags += absl::StartsWith(line, "  --");
    }
    const std::vector<OptionInfo> rows = RowsOf(tool);
    EXPECT_EQ(flags, rows.size()) << tool.name;
    EXPECT_EQ(NamesOf(tool).size(), rows.size()) << tool.name << " has an option twice";
    for (const OptionInfo& row : rows) {
      EXPECT_THAT(help, HasSubstr(absl::StrCat("  --", row.name, "="))) << tool.name;
    }
  }
}

TEST(HelpTest, HelpTextsAreSentences) {
  for (const Tool& tool : Tools()) {
    for (const OptionInfo& row : RowsOf(tool)) {
      const std::string help = row.help;
      ASSERT_FALSE(help.empty()) << row.name;
      EXPECT_TRUE(help[0] >= 'A' && help[0] <= 'Z') << row.name << ": " << help;
      EXPECT_TRUE(absl::EndsWith(help, ".")) << row.name << ": " << help;
      EXPECT_LE(FirstSentence(help).size(), 95u) << row.name << ": " << FirstSentence(help);
      EXPECT_STRNE(row.group, "") << row.name;
      for (const char* word : {"Of ", "What ", "Whether ", "But "}) {
        EXPECT_FALSE(absl::StartsWith(help, word)) << row.name << ": " << help;
      }
    }
  }
}

// An option that a row needs belongs to the same program, and one that it excludes belongs to some
// program. A value behind "=" is one of the option's values.
TEST(HelpTest, NeedsAndExcludesNameOptions) {
  std::set<std::string> all;
  for (const Tool& tool : Tools()) all.merge(NamesOf(tool));
  for (const Tool& tool : Tools()) {
    const std::vector<OptionInfo> rows = RowsOf(tool);
    const std::set<std::string> own = NamesOf(tool);
    for (const OptionInfo& row : rows) {
      for (const auto& [words, names] :
           {std::pair(row.needs, &own), std::pair(row.excludes, &std::as_const(all))}) {
        for (const absl::string_view word : absl::StrSplit(words, ' ', absl::SkipEmpty())) {
          const std::vector<std::string> parts = absl::StrSplit(word, absl::MaxSplits('=', 1));
          EXPECT_EQ(names->count(parts[0]), 1u) << row.name << ": " << word;
          for (const OptionInfo& other : rows) {
            if (parts[0] != other.name || *other.values == 0 || parts.size() < 2) continue;
            EXPECT_GE(PlaceOfWord(other, parts[1]), 0) << row.name << ": " << word;
          }
        }
      }
    }
  }
}

TEST(HelpTest, TellsWhatTheTableKnows) {
  const std::string help = Help(Tools()[0], "=markdown");
  EXPECT_THAT(help, HasSubstr("| `--beam_size` | `4` | Number of hypotheses kept"));
  EXPECT_THAT(help, HasSubstr("Range: 1 to 1024."));
  EXPECT_THAT(help, HasSubstr("It does not go with `--tokenized` or `--text=paragraphs`."));
  EXPECT_THAT(help, HasSubstr("It needs `--text=paragraphs`."));
  // nibu-bench has no --tokenized, so its help does not say that --sentencepiece excludes it.
  EXPECT_THAT(Help(Tools()[6], "=all"), Not(HasSubstr("go with --tokenized")));
}

}  // namespace
}  // namespace nibu::internal
