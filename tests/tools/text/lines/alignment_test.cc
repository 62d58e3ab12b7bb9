// Tests of alignments: of pieces, of words, and as nibu-translate prints them.
#include "tools/text/lines/join.h"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using Pairs = std::vector<std::pair<size_t, size_t>>;

TEST(HardAlignmentTest, TheFirstOfTheHighest) {
  EXPECT_THAT(HardAlignment({{0.1f, 0.7f, 0.2f}, {0.5f, 0.0f, 0.5f}, {0.0f, 0.0f, 1.0f}}),
              ElementsAre(Pair(1, 0), Pair(0, 1), Pair(2, 2)));
  EXPECT_THAT(HardAlignment({{}, {}}), IsEmpty());
  EXPECT_THAT(HardAlignment({}), IsEmpty());
}

TEST(WordsOfTest, SentencePiece) {
  EXPECT_THAT(WordsOf({"▁Ein", "▁Hu", "nd", "."}), ElementsAre(0, 1, 1, 1));
  // The first piece begins a word, whatever it is. A "▁" alone begins one, too.
  EXPECT_THAT(WordsOf({"x", "▁a", "▁", "b"}), ElementsAre(0, 1, 2, 2));
  EXPECT_THAT(WordsOf({}), IsEmpty());
}

TEST(WordsOfTest, BytePairsAndWholeWords) {
  EXPECT_THAT(WordsOf({"a@@", "b@@", "c", "d", "e@@"}), ElementsAre(0, 0, 0, 1, 2));
  EXPECT_THAT(WordsOf({"a", "b", "c"}), ElementsAre(0, 1, 2));
}

TEST(AlignWordsTest, EachPairOnceByTheTarget) {
  const std::vector<size_t> source = {0, 0, 1};
  const std::vector<size_t> target = {0, 1, 1, 1};
  const Pairs pieces = {{2, 0}, {2, 1}, {0, 2}, {1, 3}};
  EXPECT_THAT(AlignWords(pieces, source, target), ElementsAre(Pair(1, 0), Pair(0, 1), Pair(1, 1)));
  EXPECT_THAT(AlignWords({}, source, target), IsEmpty());
}

TEST(AttendWordsTest, SumsOfSourcesAndMeansOfTargets) {
  const AttentionRows words = AttendWords(
      {{0.2f, 0.3f, 0.5f}, {0.1f, 0.1f, 0.8f}, {0.4f, 0.2f, 0.4f}}, {0, 0, 1}, {0, 1, 1});
  ASSERT_EQ(words.size(), 2u);
  EXPECT_THAT(words[0], ElementsAre(FloatEq(0.5f), FloatEq(0.5f)));
  EXPECT_THAT(words[1], ElementsAre(FloatEq(0.4f), FloatEq(0.6f)));
  EXPECT_THAT(AttendWords({}, {}, {}), IsEmpty());
}

// Expects that the pairs and rows of a hypothesis fit its tokens and a source of so many pieces.
void ExpectSound(const nlohmann::json& hypothesis, size_t sources, size_t targets) {
  const auto attention = hypothesis["attention"].get<AttentionRows>();
  ASSERT_EQ(attention.size(), targets);
  for (const std::vector<float>& row : attention) {
    EXPECT_EQ(row.size(), sources);
    EXPECT_THAT(row, Each(testing::AllOf(testing::Ge(0.0f), testing::Le(1.0001f))));
    EXPECT_LE(std::accumulate(row.begin(), row.end(), 0.0f), 1.001f);
  }
  EXPECT_EQ(hypothesis["alignment"].get<Pairs>(), HardAlignment(attention));
}

TEST(AlignmentTest, OfEveryComputeType) {
  for (const char* type : {"float32", "bfloat16", "int8"}) {
    const Outcome outcome =
        Translate(absl::StrCat("--alignment=hard --compute_type=", type), "A dog runs.\n");
    if (outcome.status == 2) {
      EXPECT_THAT(outcome.err, HasSubstr("needs AVX-512"));
      continue;
    }
    EXPECT_EQ(outcome.out, "Ein Hund rennt. ||| 0-0 1-1 2-2 3-3\n") << type << outcome.err;
  }
}

TEST(AlignmentTest, OfEveryHypothesis) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  for (const char* flags :
       {"--beam_size=1", "--num_hypotheses=4", "--beam_size=1 --sampling_topk=5 --num_hypotheses=3",
        "--return_alternatives --num_hypotheses=3", "--search_compat=marian",
        "--search_compat=huggingface"}) {
    SCOPED_TRACE(flags);
    const auto all = Hypotheses(absl::StrCat("--tokenized --alignment=soft ", flags),
                                "▁A ▁man ▁is ▁riding ▁a ▁bicycle .");
    ASSERT_FALSE(all.empty());
    for (const auto& each : all) ExpectSound(each, 7, each["tokens"].size());
    const auto hard = Hypotheses(absl::StrCat("--tokenized --alignment=hard ", flags),
                                 "▁A ▁man ▁is ▁riding ▁a ▁bicycle .");
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(hard[i]["alignment"], all[i]["alignment"]);
      EXPECT_FALSE(hard[i].contains("attention"));
    }
  }
}

TEST(AlignmentTest, OfABlankLine) {
  const auto blank = Hypotheses("--alignment=soft", "");
  EXPECT_EQ(blank[0]["alignment"], nlohmann::json::array());
  EXPECT_EQ(blank[0]["attention"], nlohmann::json::array());
}

TEST(AlignmentTest, AddsNothingElse) {
  const std::string source = Captions(10);
  const auto with = JsonLines(Translate("--output_format=jsonl --alignment=soft", source));
  const auto without = JsonLines(Translate("--output_format=jsonl", source));
  ASSERT_EQ(with.size(), without.size());
  for (size_t i = 0; i < with.size(); ++i) {
    auto stripped = with[i];
    stripped["hypotheses"][0].erase("alignment");
    stripped["hypotheses"][0].erase("attention");
    EXPECT_EQ(stripped, without[i]);
  }
}

TEST(AlignmentTest, IsTheSameWhateverTheBatch) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string source = Captions(30);
  for (const char* type : {"float32", "int8"}) {
    const std::string flags = absl::StrCat(
        "--output_format=jsonl --alignment=soft --num_hypotheses=2 --compute_type=", type, " ");
    const std::string expected = Translate(flags + "--threads=1 --batch_size=1", source).out;
    EXPECT_THAT(expected, HasSubstr("attention"));
    EXPECT_TRUE(Translate(flags + "--threads=1 --batch_size=16", source).out == expected);
    EXPECT_TRUE(Translate(flags + "--threads=3 --batch_size=5", source).out == expected);
  }
}

// Each sentence of a line attends to itself, and its columns of other sentences are 0.
TEST(AlignmentTest, OfSplitLines) {
  const auto one = Hypotheses("--alignment=soft", "A dog runs.")[0];
  const auto other = Hypotheses("--alignment=soft", "Two cats sleep.")[0];
  const auto both = Hypotheses("--alignment=soft", "A dog runs.  Two cats sleep.")[0];
  const auto first = one["attention"].get<AttentionRows>();
  const auto second = other["attention"].get<AttentionRows>();
  const size_t sources = first[0].size() + second[0].size();
  ExpectSound(both, sources, TokensOf(both).size());
  AttentionRows expected = first;
  for (auto& row : expected) row.resize(sources);
  for (auto row : second) {
    row.insert(row.begin(), first[0].size(), 0.0f);
    expected.push_back(row);
  }
  EXPECT_EQ(both["attention"].get<AttentionRows>(), expected);
  // The same holds for the parts of a line that is too long.
  const auto cut = Hypotheses("--tokenized --alignment=soft --max_input_length=4",
                              "▁A ▁dog ▁runs . ▁Two ▁cats ▁sleep .")[0];
  ExpectSound(cut, 8, TokensOf(cut).size());
}

TEST(AlignmentTest, OfAPrefix) {
  const std::string prefix = TestFile("prefix", "Eine Katze\n");
  const auto whole =
      Hypotheses(absl::StrCat("--alignment=soft --target_prefix=", prefix), "A dog runs.")[0];
  EXPECT_EQ(whole["text"].get<std::string>().rfind("Eine Katze", 0), 0u);
  ExpectSound(whole, 4, TokensOf(whole).size());
  // A forced prefix has the attention that it has when it is generated.
  const auto found = Hypotheses("--alignment=soft", "A dog runs.")[0];
  TestFile("prefix", "Ein Hund\n");
  const auto forced =
      Hypotheses(absl::StrCat("--alignment=soft --target_prefix=", prefix), "A dog runs.")[0];
  EXPECT_EQ(forced["text"], found["text"]);
  EXPECT_EQ(forced["alignment"], found["alignment"]);
  const auto a = forced["attention"].get<AttentionRows>();
  const auto b = found["attention"].get<AttentionRows>();
  for (size_t t = 0; t < a.size(); ++t) {
    for (size_t s = 0; s < a[t].size(); ++s) EXPECT_NEAR(a[t][s], b[t][s], 0.02);
  }
}

// Alignments are also given for the words of a line's text and of its translation.
TEST(AlignmentTest, OfWords) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::vector<std::string> lines = Lines(Captions(20) + "A dog runs.  Two cats sleep!\n");
  for (const std::string& line : lines) {
    const auto best = Hypotheses("--alignment=soft --alignment_level=words", line)[0];
    const size_t words =
        std::vector<std::string>(absl::StrSplit(line, ' ', absl::SkipEmpty())).size();
    const size_t targets = std::vector<std::string>(absl::StrSplit(best["text"].get<std::string>(),
                                                                   ' ', absl::SkipEmpty()))
                               .size();
    const auto attention = best["attention"].get<AttentionRows>();
    ASSERT_EQ(attention.size(), targets) << line << best["tokens"];
    for (const auto& row : attention) EXPECT_EQ(row.size(), words) << line;
    for (const auto& [s, t] : best["alignment"].get<Pairs>()) {
      EXPECT_LT(s, static_cast<int>(words));
      EXPECT_LT(t, static_cast<int>(targets));
      EXPECT_GT(attention[static_cast<size_t>(t)][static_cast<size_t>(s)], 0);
    }
  }
  EXPECT_EQ(Translate("--alignment=hard --alignment_level=words", "A dog runs.\n").out,
            "Ein Hund rennt. ||| 0-0 1-1 2-2\n");
}

TEST(AlignmentTest, OfALineWithoutText) {
  EXPECT_EQ(Translate("--alignment=hard", "\n").out, " ||| \n");
  const auto blank = Hypotheses("--alignment=soft", "");
  ASSERT_EQ(blank.size(), 1u);
  EXPECT_TRUE(blank[0]["alignment"].empty());
}

TEST(AlignmentTest, LayersAndHeads) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const auto with = [](const char* flags) {
    return Translate(absl::StrCat("--compute_type=float32 --alignment=soft ", flags),
                     "A dog runs.\n")
        .out;
  };
  const std::string own = with("");
  EXPECT_EQ(with("--alignment_layer=-1 --alignment_heads=1"), own);  // It is the guided head.
  EXPECT_EQ(with("--alignment_layer=2 --alignment_heads=1"), own);
  EXPECT_NE(with("--alignment_layer=0"), own);
  EXPECT_NE(with("--alignment_heads=0"), own);
  EXPECT_EQ(with("--alignment_heads=0"), with("--alignment_heads=4"));
  for (const char* wrong : {"--alignment_layer=3", "--alignment_layer=-4", "--alignment_heads=5",
                            "--alignment_heads=-1", "--alignment=x", "--alignment_level=x"}) {
    ExpectUsageError(Translate(wrong, "a\n"),
                     std::string(wrong).substr(0, std::string(wrong).find('=')));
  }
}

// The hard alignment of a long line takes memory in proportion to its length, not to its square.
// The whole matrix of 60,000 letters without a blank would take 1 GB.
TEST(AlignmentTest, OfALongLine) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  std::string line;
  for (int i = 0; i < 60000; ++i) line += static_cast<char>('a' + i % 26 * (i % 7) % 26);
  const Outcome outcome =
      Translate("--alignment=hard --beam_size=1 --stats --threads=1", absl::StrCat(line, "\n"));
  EXPECT_EQ(outcome.status, 0);
  const std::string stats = outcome.err.substr(outcome.err.find('{'));
  EXPECT_LT(nlohmann::json::parse(stats)["peak_rss_bytes"].get<int64_t>(), int64_t{300} << 20);
}

TEST(AlignmentTest, InTextAndNBest) {
  const std::string text = Translate("--alignment=soft --print_scores", "A dog runs.\n").out;
  EXPECT_THAT(text, HasSubstr("\tEin Hund rennt. ||| 0.9"));
  const auto lines = Lines(
      Translate("--alignment=hard --output_format=nbest --num_hypotheses=2", "A dog runs.\n\n")
          .out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], testing::EndsWith(" ||| 0-0 1-1 2-2 3-3"));
  EXPECT_EQ(lines[2], "1 |||  ||| logprob= 0.000000 ||| 0.000000 ||| ");
}

}  // namespace
}  // namespace nibu::internal
