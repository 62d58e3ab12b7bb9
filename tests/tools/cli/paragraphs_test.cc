// Tests of --text=paragraphs for text that is wrapped by hand, and of lines that come again.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"
#include "tokenizer/unicode/characters.h"
#include "tokenizer/unicode/typesetting.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;

const char kFlags[] = "--compute_type=float32 --beam_size=1 ";

Outcome Nibu(const std::string& flags, const std::string& text) {
  return Translate(absl::StrCat(kFlags, flags), text);
}

// Returns the translation of a line alone.
std::string Of(const std::string& line) { return Lines(Nibu("", line + "\n").out)[0]; }

std::string Words(const std::string& text) {
  const auto is_word = [](absl::string_view word) { return HasWords(word); };
  const std::vector<std::string> words = absl::StrSplit(text, absl::ByAnyChar(" \n"), is_word);
  return absl::StrJoin(words, " ");
}

const char kMail[] =
    "Two dogs are playing with a red ball in the park. A man is riding his\n"
    "bicycle past them.\n"
    "\n"
    "> A woman is standing on the street in front of a house. She is\n"
    "> wearing a blue dress.\n"
    ">\n"
    ">> Two cats sleep.\n"
    "\n"
    "* A dog runs.\n"
    "* A boy in a green shirt is jumping into the water, and a girl is\n"
    "  watching him.\n"
    " \t\n"
    "-- \n"
    "=====\n";

TEST(ParagraphsTest, WarningsNameTheFirstLine) {
  const std::string mail = "A man is riding\na bicycle.\n\nTwo dogs run\nin the park.\n";
  const auto said = Lines(Nibu("--text=paragraphs --warnings --max_decoding_length=2", mail).err);
  ASSERT_GE(said.size(), 2U);
  EXPECT_EQ(said[0].rfind("nibu-translate: warning: line 1: ", 0), 0U) << said[0];
  EXPECT_EQ(said[1].rfind("nibu-translate: warning: line 4: ", 0), 0U) << said[1];
}

TEST(ParagraphsTest, AMail) {
  const std::string first = Of(
      "Two dogs are playing with a red ball in the park. A man is riding his bicycle past them.");
  const std::string quoted =
      Of("A woman is standing on the street in front of a house. She is wearing a blue dress.");
  const std::string boy =
      Of("A boy in a green shirt is jumping into the water, and a girl is watching him.");
  const Outcome outcome = Nibu("--text=paragraphs", kMail);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            absl::StrCat(first, "\n\n> ", quoted, "\n>\n>> ", Of("Two cats sleep."), "\n\n* ",
                         Of("A dog runs."), "\n* ", boy, "\n \t\n-- \n=====\n"));
  const Outcome wrapped = Nibu("--text=paragraphs --wrap=30", kMail);
  EXPECT_EQ(wrapped.err, "");
  for (const std::string& line : Lines(wrapped.out)) EXPECT_LE(ColumnBehind(line), 30u) << line;
  EXPECT_EQ(Words(wrapped.out), Words(outcome.out));
  EXPECT_THAT(wrapped.out, HasSubstr("\n> "));
}

TEST(ParagraphsTest, CellByCell) {
  const std::string table = "| A dog runs. | A man sleeps. |\n|---|:-:|\n|\tTwo cats sleep.|5|\n";
  EXPECT_EQ(Nibu("--text=paragraphs", table).out,
            absl::StrCat("| ", Of("A dog runs."), " | ", Of("A man sleeps."), " |\n|---|:-:|\n|\t",
                         Of("Two cats sleep."), "|5|\n"));
}

TEST(ParagraphsTest, OutputFormats) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const auto lines = JsonLines(
      Nibu("--text=paragraphs --output_format=jsonl", "> Two cats\n> sleep.\n\nA dog runs.\n"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["source"], "Two cats sleep.");
  EXPECT_EQ(lines[0]["hypotheses"][0]["text"], Of("Two cats sleep."));
  EXPECT_EQ(lines[1]["source"], "");
  EXPECT_EQ(lines[2]["id"], 2);
  EXPECT_THAT(Nibu("--text=paragraphs --output_format=nbest", "> A dog\n> runs.\n").out,
              testing::StartsWith(absl::StrCat("0 ||| ", Of("A dog runs."), " |||")));
  EXPECT_THAT(Nibu("--text=paragraphs --print_scores", "> A dog\n> runs.\n").out,
              HasSubstr(absl::StrCat("\t> ", Of("A dog runs."), "\n")));
  EXPECT_EQ(Nibu("--text=paragraphs \"$(printf '> A dog\\n> runs.')\"", "").out,
            absl::StrCat("> ", Of("A dog runs."), "\n"));
}

TEST(ParagraphsTest, FailuresKeepTheirPlace) {
  const Outcome outcome = Nibu("--text=paragraphs --long_input=error --max_input_length=5",
                               "A dog runs.\n\nA man is\nriding a very large bicycle.\n");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, absl::StrCat(Of("A dog runs."), "\n\n\n"));
}

TEST(ParagraphsTest, RefusesFlagsThatNeedLines) {
  ExpectUsageError(Nibu("--wrap=72", ""), "--text=paragraphs");
  ExpectUsageError(Nibu("--text=paragraphs --wrap=-1", ""), "--wrap must be at least 0");
  ExpectUsageError(Nibu("--text=verses", ""), "--text must be lines, paragraphs or document");
  ExpectUsageError(Nibu("--text=paragraphs --tokenized", ""), "--tokenized");
  ExpectUsageError(Nibu("--text=paragraphs --target_prefix=x", ""), "--target_prefix");
  ExpectUsageError(Nibu("--text=paragraphs --wrap=9 --output_format=nbest", ""), "--output_format");
  ExpectUsageError(Nibu("--text=paragraphs --wrap=9 --print_scores", ""), "--print_scores");
  ExpectUsageError(Nibu("--text=paragraphs --wrap=9 --alignment=hard", ""), "--alignment");
  ExpectUsageError(Nibu("--text=paragraphs a b", ""), "one TEXT");
}

TEST(RepeatedLinesTest, ComeOutAsOnTheirOwn) {
  std::string text;
  const std::vector<std::string> captions = Lines(Captions(8));
  for (size_t i = 0; i < 300; ++i) absl::StrAppend(&text, captions[i * i % 8], "\n");
  const auto results = JsonLines(Nibu("--output_format=jsonl --stats", text));
  ASSERT_EQ(results.size(), 300u);
  const auto alone = JsonLines(Nibu("--output_format=jsonl", Captions(8)));
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i]["id"], i);
    EXPECT_EQ(results[i]["source"], captions[i * i % 8]);
    EXPECT_EQ(results[i]["hypotheses"], alone[i * i % 8]["hypotheses"]);
  }
}

TEST(RepeatedLinesTest, CountEachLineAndSampleEach) {
  const std::string line = "A man is riding a bicycle in the park.\n";
  const auto stats = [](const Outcome& outcome) { return nlohmann::json::parse(outcome.err); };
  const auto one = stats(Nibu("--stats", line));
  const auto three = stats(Nibu("--stats", line + line + line));
  EXPECT_EQ(three["sentences"], 3);
  EXPECT_EQ(three["target_tokens"], 3 * one["target_tokens"].get<int>());
  const Outcome failed =
      Nibu("--long_input=error --max_input_length=5", absl::StrCat("A dog.\n", line, line));
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.err, HasSubstr("2 line(s) could not be translated; the first is line 2: "));
  const auto samples = Lines(Nibu("--sampling_topk=0", line + line + line + line).out);
  EXPECT_FALSE(samples[0] == samples[1] && samples[1] == samples[2] && samples[2] == samples[3]);
}

}  // namespace
}  // namespace nibu::internal
