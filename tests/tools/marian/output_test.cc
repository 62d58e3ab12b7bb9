// Tests of Marian's formats of output.
#include "tools/marian/marian_output.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/programs.h"
#include "tools/marian/gzip_writer.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Alignment = MarianFormat::Alignment;

nibu::Hypothesis TwoTokens() {
  nibu::Hypothesis hypothesis;
  hypothesis.tokens = {"a", "b", "</s>"};
  hypothesis.token_scores = {-0.5f, -1.234567f, -0.00001f};
  hypothesis.log_prob = -1.734577f;
  hypothesis.score = -0.578192f;
  hypothesis.alignment = {{1, 0}, {0, 1}, {2, 2}};
  hypothesis.attention = {{0.25f, 0.75f, 0}, {1, 0, 0}, {2.55533e-06f, 0.4f, 0.6f}};
  return hypothesis;
}

TEST(MarianOutputTest, Lines) {
  const nibu::Hypothesis hypothesis = TwoTokens();
  const auto line = [&](const MarianFormat& format, const std::vector<float>& features = {-1.25f}) {
    return FormatMarianLine(format, 7, "A b", hypothesis, features);
  };
  EXPECT_EQ(line({}), "A b\n");
  EXPECT_EQ(line({.alignment = Alignment::kHard}), "A b ||| 0-1 1-0 2-2\n");
  EXPECT_EQ(line({.alignment = Alignment::kHard, .threshold = 0.5}), "A b ||| 0-1 1-0 2-2\n");
  EXPECT_EQ(line({.alignment = Alignment::kHard, .threshold = 0.3}), "A b ||| 0-1 1-0 1-2 2-2\n");
  EXPECT_EQ(line({.alignment = Alignment::kSoft}),
            "A b ||| 0.25,0.75,0 1,0,0 2.55533e-06,0.4,0.6\n");
  EXPECT_EQ(line({.word_scores = true}), "A b ||| WordScores= -0.50000 -1.23457 -0.00001\n");
  EXPECT_EQ(line({.n_best = true}), "7 ||| A b ||| F0= -1.25 ||| -0.578192\n");
  EXPECT_EQ(line({.n_best = true, .word_scores = true, .alignment = Alignment::kHard}),
            "7 ||| A b ||| 0-1 1-0 2-2 ||| WordScores= -0.50000 -1.23457 -0.00001 ||| F0= -1.25 "
            "||| -0.578192\n");
  EXPECT_EQ(line({.n_best = true, .weight_sum = 2}, {-1, -2.5f}),
            "7 ||| A b ||| F0= -1 F1= -2.5 ||| -1.15638\n");
}

TEST(MarianOutputTest, Formats) {
  const auto format = [](const std::string& alignment) {
    const auto options = MarianOptions::Read(MarianCommand::kDecode, {"--alignment=" + alignment});
    EXPECT_TRUE(options.ok()) << options.status();
    return MarianFormatOf(*options);
  };
  EXPECT_EQ(format("hard")->alignment, Alignment::kHard);
  EXPECT_EQ(format("1")->threshold, 1);
  EXPECT_EQ(format("0.5")->threshold, 0.5);
  EXPECT_EQ(format("soft")->alignment, Alignment::kSoft);
  EXPECT_EQ(format("false")->alignment, Alignment::kNone);
  for (const char* wrong : {"words", "2", "-1", "nan"}) {
    EXPECT_THAT(std::string(format(wrong).status().message()),
                HasSubstr("--alignment must be hard, soft or a number from 0 to 1"))
        << wrong;
  }
}

TEST(MarianOutputTest, LogIsAppended) {
  const std::string path = TestFile("run.log", "before\n");
  const auto add = [&](std::vector<std::string> flags) {
    flags.push_back("--log=" + path);
    flags.push_back("--quiet");
    MarianLog log;
    ASSERT_TRUE(log.Open(*MarianOptions::Read(MarianCommand::kDecode, flags)).ok());
    log.Info("information");
    log.Warn("warning");
  };
  add({"--log-time-zone=UTC"});
  add({"--log-level", "warn"});
  const std::string time = "\\[[0-9]{4}-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]\\] ";
  EXPECT_THAT(ReadFile(path), MatchesRegex("before\n" + time + "information\n" + time +
                                           "warning\n" + time + "warning\n"));
  MarianLog log;
  EXPECT_THAT(
      std::string(
          log.Open(*MarianOptions::Read(MarianCommand::kDecode, {"--log-level=loud"})).message()),
      HasSubstr("--log-level must be trace, debug, info, warn, error, critical, off"));
  MarianLog other;
  EXPECT_THAT(
      std::string(
          other.Open(*MarianOptions::Read(MarianCommand::kDecode, {"--log=/no/such/folder/log"}))
              .message()),
      HasSubstr("/no/such/folder/log: cannot be written"));
}

TEST(MarianOutputTest, Gzip) {
  GzipWriter writer;
  std::string bytes;
  std::string expected;
  for (int i = 0; i < 100000; ++i) {
    const std::string line = absl::StrCat(i * 7919LL % 10007, "\n");
    bytes += writer.Write(line, /*is_last=*/false);
    expected += line;
  }
  bytes += writer.Write("", /*is_last=*/true);
  EXPECT_LT(bytes.size(), expected.size() / 2);
  EXPECT_TRUE(Shell("gunzip", bytes).out == expected);
}

}  // namespace
}  // namespace nibu::internal
