// Tests of nibu-translate --tsv_column as a user runs it.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;

Outcome Tsv(int column, const std::string& flags, const std::string& input) {
  return Translate(absl::StrCat("--compute_type=float32 --tsv_column=", column, " ", flags), input);
}

TEST(TsvTest, OtherColumnsKeepTheirBytes) {
  const std::string row = std::string("7\t A dog runs. \tA dog runs.\t\xff\x01 \"x\t\t");
  EXPECT_EQ(Tsv(3, "", row + "\n" + row).out,
            "7\t A dog runs. \tEin Hund rennt.\t\xff\x01 \"x\t\t\n"
            "7\t A dog runs. \tEin Hund rennt.\t\xff\x01 \"x\t\t\n");
  EXPECT_EQ(Tsv(1, "", "A dog runs.\tx\r\nA dog runs.\n\n\ty\n").out,
            "Ein Hund rennt.\tx\nEin Hund rennt.\n\n\ty\n");
  EXPECT_EQ(Tsv(2, "", "x\tA dog runs.\n").out, "x\tEin Hund rennt.\n");
}

TEST(TsvTest, CellsInQuotesAreExcels) {
  EXPECT_EQ(Tsv(2, "", "\"a\tb\"\t\"A dog runs.\"\t\"c\"\n").out,
            "\"a\tb\"\t\"Ein Hund rennt.\"\t\"c\"\n");
  EXPECT_EQ(Tsv(1, "", "\"{\"\"a\"\"} A dog runs.\"\tx\n").out,
            "\"{\"\"a\"\"} Ein Hund rennt.\"\tx\n");
  // Lines within a cell.
  EXPECT_EQ(
      Tsv(2, "", "1\t\"A dog runs.\n\n{\"\"a\"\"} A dog runs.\"\tx\r\n2\t\"A dog runs.\"\n").out,
      "1\t\"Ein Hund rennt.\n\n{\"\"a\"\"} Ein Hund rennt.\"\tx\n2\t\"Ein Hund rennt.\"\n");
  EXPECT_EQ(Tsv(1, "", "A dog runs.\t\"x\ny\"\nA dog runs.\t\"x\nA dog runs.\t").out,
            "Ein Hund rennt.\t\"x\ny\"\nEin Hund rennt.\t\"x\nEin Hund rennt.\t\n");
  // A mark that nothing closes.
  std::string open = "A dog runs.\t\"x\n";
  for (int i = 0; i < 100; ++i) open += "A dog runs.\t\n";
  EXPECT_EQ(Tsv(1, "", open + "A dog runs.\t\"\n").out,
            absl::StrReplaceAll(open + "A dog runs.\t\"\n", {{"A dog runs.", "Ein Hund rennt."}}));
  // These are no cells of Excel.
  EXPECT_EQ(Tsv(2, "", "\"\tA dog runs.\t\"a\"b\n").out, "\"\tEin Hund rennt.\t\"a\"b\n");
}

TEST(TsvTest, ShortLinesComeOutUnchanged) {
  const Outcome outcome =
      Tsv(2, "--warnings", "a\tA dog runs.\nA dog runs.\n\n# x\nb\tA dog runs.\n");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "a\tEin Hund rennt.\nA dog runs.\n\n# x\nb\tEin Hund rennt.\n");
  EXPECT_EQ(outcome.err,
            "nibu-translate: warning: 2 line(s) have fewer than 2 columns and came out unchanged; "
            "the first is line 2\n");
}

TEST(TsvTest, MarkupInACell) {
  const Outcome outcome =
      Tsv(2, "--markup=html", "<!--\tA <b>dog</b> runs.<!--\tx\n-->\t<i>A dog runs.&#9;</i>\n");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "<!--\tEin <b>Hund</b> rennt.<!--\tx");
  EXPECT_EQ(std::count(lines[1].begin(), lines[1].end(), '\t'), 1);
  EXPECT_THAT(lines[1], HasSubstr("-->\t<i>Ein Hund rennt."));
}

TEST(TsvTest, PrefixesAndFailures) {
  const std::string prefixes = TestFile("prefixes", "\nZwei Hunde\n");
  const Outcome prefixed = Tsv(2, absl::StrCat("--target_prefix=", prefixes),
                               "1\tA dog runs.\n2\tA dog runs.\n3\tA dog runs.\n");
  EXPECT_EQ(prefixed.status, 1);
  const auto lines = Lines(prefixed.out);
  EXPECT_EQ(lines[0], "1\tEin Hund rennt.");
  EXPECT_THAT(lines[1], HasSubstr("2\tZwei Hunde"));
  EXPECT_EQ(lines[2], "3\t");
  EXPECT_THAT(prefixed.err, HasSubstr("the first is line 3"));
  const Outcome failed = Tsv(2, "--max_input_length=2 --long_input=error",
                             "a\tA man is riding a bicycle.\tb\nc\tA dog.\td\n");
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.out, HasSubstr("a\t\tb\nc\t"));
}

TEST(TsvTest, RefusesFlagsOfOtherFormats) {
  for (const char* flags : {"--text=paragraphs", "--output_format=jsonl", "--print_scores",
                            "--alignment=hard", "--input_format=jsonl"}) {
    ExpectUsageError(Tsv(1, flags, ""), "do not go together");
  }
  ExpectUsageError(Tsv(-1, "", ""), "--tsv_column must be at least 0");
}

}  // namespace
}  // namespace nibu::internal
