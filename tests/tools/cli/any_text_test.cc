// Tests that every line comes out of nibu-translate, whatever the text, and however much of it.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/shell.h"

namespace nibu::internal {
namespace {

const std::string kProgram = CaptionsProgram("nibu-translate");

Outcome Translate(const std::string& flags, const std::string& input = "") {
  return Shell(absl::StrCat(kProgram, " --compute_type=float32 ", flags), input);
}

// Every line gives one line, in order, whatever its text is.
TEST(AnyTextTest, AnyText) {
  const std::string known = "A dog runs.";
  const std::vector<std::string> odd = {
      "",
      "   ",
      std::string("nul \0 byte", 10),
      "\xff\xfe\x80 invalid \xc3",
      "\u200b\u202e",
      "\u3000\u0085",
      "日本語のテキストです。",
      "e\u0301a\u0308 o\u0302",
      "👩‍👩‍👧‍👦 🇩🇪",
      "\t\v\f",
      "<unk> </s> <pad> >>deu<<",
      std::string(3000, 'a'),
  };
  std::string input;
  for (const std::string& line : odd) absl::StrAppend(&input, line, "\n", known, "\r\n");
  input += known;  // The last line has no line feed.
  const Outcome outcome = Translate("", input);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 2 * odd.size() + 1);
  for (size_t i = 1; i < lines.size(); i += 2) EXPECT_EQ(lines[i], "Ein Hund rennt.") << i;
  EXPECT_EQ(lines.back(), "Ein Hund rennt.");
  EXPECT_EQ(lines[0], "");
  EXPECT_EQ(lines[1], "Ein Hund rennt.");
}

TEST(AnyTextTest, EmptyInputAndManyEmptyLines) {
  EXPECT_EQ(Translate("", "").out, "");
  EXPECT_EQ(Translate("", "\n").out, "\n");
  const std::string empty(100000, '\n');
  EXPECT_EQ(Translate("", empty).out, empty);
}

TEST(AnyTextTest, LongLines) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string flags = "--beam_size=1 --split_sentences=false ";
  std::string line;
  while (line.size() < 60000) absl::StrAppend(&line, "A dog runs. Two men are walking. ");
  const std::string input = line + "\nA dog runs.\n";
  const Outcome split = Translate(flags, input);
  EXPECT_EQ(split.status, 0);
  const auto lines = Lines(split.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_GT(lines[0].size(), 1000u);
  EXPECT_EQ(lines[1], "Ein Hund rennt.");
  EXPECT_NE(split.err.find("nibu-translate: warning: 1 line(s)"), std::string::npos) << split.err;
  const Outcome truncated = Translate(flags + "--long_input=truncate", input);
  EXPECT_EQ(truncated.status, 0);
  EXPECT_LT(Lines(truncated.out)[0].size(), lines[0].size());
  const Outcome error = Translate(flags + "--long_input=error", input);
  EXPECT_EQ(error.status, 1);
  EXPECT_EQ(error.out, "\nEin Hund rennt.\n");
  const Outcome second = Translate(flags + "--long_input=error --max_input_length=4",
                                   "A dog.\nTwo dogs are playing.\nA dog.\n" + line + "\n");
  EXPECT_EQ(second.status, 1);
  EXPECT_NE(second.err.find("2 line(s) could not be translated; the first is line 2: a sentence "
                            "of 5 tokens is longer than max_input_length, 4; raise"),
            std::string::npos)
      << second.err;
  // Sentences that fit into max_input_length are translated as if they stood alone.
  EXPECT_EQ(Translate(flags + "--max_input_length=6", "A dog runs. Two men are walking.\n").out,
            "Ein Hund rennt. Zwei Männer gehen.\n");
}

TEST(AnyTextTest, AMegabyteInOneLine) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  std::string unknown;
  while (unknown.size() < size_t{1} << 20) unknown += "\u65e5";
  const Outcome outcome = Translate(
      "--beam_size=1", absl::StrCat(unknown, "\n", std::string(1 << 20, ' '), "\nA dog runs.\n"));
  EXPECT_EQ(outcome.status, 0);
  const auto lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], std::string(1 << 20, ' '));
  EXPECT_EQ(lines[2], "Ein Hund rennt.");
  // This line has a million tokens.
  const Outcome truncated =
      Translate("--beam_size=1 --long_input=truncate", std::string(1 << 20, 'x') + "\n");
  EXPECT_EQ(truncated.status, 0);
  EXPECT_EQ(Lines(truncated.out).size(), 1u);
}

TEST(AnyTextTest, NothingIsCutSilently) {
  const std::string input = "A dog runs.\nA man is riding a bicycle.\n\n";
  // "Ein Hund rennt." has four tokens and the EOS.
  const Outcome outcome =
      Translate("--max_decoding_length=5 --output_format=jsonl --stats --noprogress", input);
  EXPECT_EQ(outcome.status, 0);
  const auto lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 3u);
  for (const size_t i : {0, 1, 2}) {
    const auto best = nlohmann::json::parse(lines[i])["hypotheses"][0];
    EXPECT_EQ(best.value("finished", true), i != 1) << lines[i];
  }
  const auto messages = Lines(outcome.err);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].rfind("nibu-translate: warning: 1 line(s)", 0), 0u) << messages[0];
  EXPECT_EQ(nlohmann::json::parse(messages[1])["unfinished_sentences"], 1);
  EXPECT_EQ(Translate("--max_decoding_length=6", "A dog runs.\n").err, "");
  // A line counts as cut when one of its parts is.
  const Outcome split = Translate("--max_input_length=7 --max_decoding_length=5",
                                  "A man is riding a bicycle. A dog runs.\n");
  EXPECT_NE(split.err.find("1 line(s) were cut"), std::string::npos) << split.err;
}

// Twenty times as many lines take no more memory.
TEST(AnyTextTest, PeakMemoryIsOfAFewLines) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string some = ReadFile(TestdataPath("multi30k.en"));
  std::string more;
  for (int i = 0; i < 20; ++i) more += some;
  const auto peak = [](const std::string& input) {
    const Outcome outcome =
        Translate("--compute_type=int8 --beam_size=1 --threads=1 --stats --noprogress", input);
    return nlohmann::json::parse(outcome.err)["peak_rss_bytes"].get<double>();
  };
  EXPECT_LT(peak(more), 1.15 * peak(some + some));
}

}  // namespace
}  // namespace nibu::internal
