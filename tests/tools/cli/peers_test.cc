// Tests of options on models of other systems whose outputs are known: CTranslate2's
// transliteration models (its tests/translator_test.cc and python/tests/test_translator.py say what
// comes out), and Marian's beam search.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;

const std::string kShared = SharedPath("");
const char kAtzmon[] = "آ ت ز م و ن";

class TransliterationTest : public testing::Test {
 protected:
  void SetUp() override {
    NIBU_TOO_SLOW_FOR_SANITIZERS();
    if (!std::filesystem::exists(kShared)) GTEST_SKIP() << kShared << " is not there";
  }

  static Outcome With(const std::string& flags, const std::string& input,
                      const std::string& prefixes = "") {
    const std::string prefix =
        prefixes.empty() ? "" : "--target_prefix=" + TestFile("prefix", prefixes);
    return Translate(absl::StrCat("--tokenized --compute_type=float32 --model='", kShared,
                                  "/models/ct2/v2/aren-transliteration' ", flags, " ", prefix),
                     input + "\n");
  }
  static nlohmann::json All(const std::string& flags, const std::string& line,
                            const std::string& prefix = "") {
    return JsonLines(With("--output_format=jsonl " + flags, line, prefix))[0]["hypotheses"];
  }
};

const std::vector<std::string>& Beams() {
  static const auto& beams =
      *new std::vector<std::string>({"--beam_size=1 ", "--beam_size=2 ", "--beam_size=4 "});
  return beams;
}

TEST_F(TransliterationTest, PrefixesBeginTheirLines) {
  for (const std::string& beam : Beams()) {
    EXPECT_EQ(
        With(beam,
             absl::StrCat(kAtzmon, "\n", kAtzmon, "\n", kAtzmon, "\n\nآ ز ا\n", "آ ت ش ي س و ن"),
             "a t s\n\na t z o\n\n\na c h e\n")
            .out,
        "a t s u m o n\na t z m o n\na t z o m o n\n\na z z a\na c h e s o n\n");
  }
  EXPECT_EQ(With("--beam_size=5", "أ و ل ي س س", "u l i s e\n").out, "u l i s e s\n");
}

TEST_F(TransliterationTest, BiasedPrefixes) {
  const std::string source = absl::StrCat(kAtzmon, "\n", kAtzmon, "\n", kAtzmon);
  EXPECT_EQ(With("--beam_size=2 --prefix_bias_beta=0.99", source, "a t s\n\na t z o\n").out,
            "a t s u m o n\na t z m o n\na t z o m o n\n");
  EXPECT_EQ(With("--beam_size=2 --prefix_bias_beta=0.01", source, "a t s s s\n\na t z o\n").out,
            "a t z m o n\na t z m o n\na t z m o n\n");
  const double plain = All("--beam_size=2", kAtzmon)[0]["score"];
  const double weak = All("--beam_size=2 --prefix_bias_beta=1e-7", kAtzmon, "a t s\n")[0]["score"];
  EXPECT_NEAR(plain, weak, 1e-5);
}

TEST_F(TransliterationTest, UnknownsOfAPrefixStayOrAreReplaced) {
  for (const std::string& beam : Beams()) {
    EXPECT_EQ(With(beam, kAtzmon, "<unk> t\n").out, "<unk> t z m o n\n");
    EXPECT_EQ(With(beam + "--replace_unknowns", kAtzmon, "<unk> t\n").out, "ت t z m o n\n");
  }
}

TEST_F(TransliterationTest, AlternativesDifferBehindThePrefix) {
  for (const std::string& beam : {Beams()[0], Beams()[1]}) {
    const std::string flags = beam + "--return_alternatives --num_hypotheses=10 ";
    const auto behind = All(flags, kAtzmon, "a t\n");
    ASSERT_EQ(behind.size(), 10u);
    EXPECT_EQ(behind[0]["text"], "a t z m o n");
    EXPECT_EQ(behind[1]["text"], "a t s u m o n");
    const auto first = All(flags, kAtzmon);
    EXPECT_EQ(first[0]["text"], "a t z m o n");
    EXPECT_EQ(first[1]["text"], "e t z m o n");
    // Without a length penalty, the shorter one is more probable. CTranslate2's tests are older
    // than its default penalty of 1.
    const auto other = All(flags + "--length_penalty=0", "آ ز ا");
    EXPECT_EQ(other[0]["text"], "a z z a");
    EXPECT_EQ(other[1]["text"], "e z a");
    EXPECT_EQ(All(flags, kAtzmon, "a t z m o n\n")[0]["text"], "a t z m o n e");
    // These are more than there are tokens.
    std::set<std::string> tokens;
    const auto most = All(beam + "--return_alternatives --num_hypotheses=200 ", kAtzmon, "a\n");
    for (const auto& each : most) tokens.insert(TokensOf(each)[1]);
    EXPECT_EQ(tokens.size(), most.size());
    EXPECT_GT(most.size(), 20u);
    EXPECT_LT(most.size(), 60u);
  }
}

TEST_F(TransliterationTest, RulesOverTokens) {
  for (const std::string& beam : Beams()) {
    const auto unique = TokensOf(All(beam + "--repetition_penalty=100", "ن ن ن ن ن")[0]);
    EXPECT_EQ(std::set<std::string>(unique.begin(), unique.end()).size(), unique.size());
    EXPECT_EQ(With(beam + "--suppress_sequences='o,t z m'", kAtzmon).out, "a t z u m u n\n");
    std::string many = "ن";
    for (int i = 0; i < 49; ++i) many += " ن";
    const auto tokens = TokensOf(All(beam + "--no_repeat_ngram_size=3", many)[0]);
    std::set<std::vector<std::string>> trigrams;
    for (size_t i = 2; i < tokens.size(); ++i) {
      EXPECT_TRUE(trigrams.insert({tokens[i - 2], tokens[i - 1], tokens[i]}).second);
    }
  }
}

TEST_F(TransliterationTest, LengthsAndEnds) {
  for (const std::string& beam : Beams()) {
    EXPECT_EQ(With(beam + "--max_decoding_length=2", kAtzmon).out, "a t\n");
    EXPECT_EQ(TokensOf(All(beam + "--min_decoding_length=8", kAtzmon)[0]).size(), 8u);
    EXPECT_EQ(With(beam + "--end_token=m", kAtzmon).out, "a t z\n");
    EXPECT_EQ(With(beam + "--end_token=o,z", kAtzmon).out, "a t\n");
    EXPECT_EQ(With(beam + "--max_input_length=3 --long_input=truncate", kAtzmon).out,
              With(beam, "آ ت ز").out);
  }
}

TEST_F(TransliterationTest, EachHypothesisHasItsAttention) {
  const auto all = All("--num_hypotheses=4 --alignment=soft", "آ ز ا");
  ASSERT_EQ(all.size(), 4u);
  for (const auto& each : all) {
    ASSERT_EQ(each["attention"].size(), each["tokens"].size());
    for (const auto& row : each["attention"]) EXPECT_EQ(row.size(), 3u);
  }
}

TEST_F(TransliterationTest, BeamsLargerThanTheVocabulary) {
  const auto all = All("--beam_size=100 --num_hypotheses=100", kAtzmon);
  EXPECT_EQ(all[0]["text"], "a t z m o n");
  std::set<std::string> texts;
  for (const auto& each : all) texts.insert(each["text"].get<std::string>());
  EXPECT_EQ(texts.size(), all.size());
}

// Compares how often tokens are drawn with their probabilities. The seed makes the draws the same
// every time.
TEST_F(TransliterationTest, SamplesFollowTheProbabilities) {
  const auto alternatives =
      All("--beam_size=1 --return_alternatives --num_hypotheses=5", kAtzmon, "a t z\n");
  const auto samples = All("--sampling_topk=0 --num_hypotheses=1000 --seed=1", kAtzmon, "a t z\n");
  ASSERT_EQ(samples.size(), 1000u);
  for (const auto& each : alternatives) {
    const double p = std::exp(each["token_scores"][3].get<double>());
    const auto count = std::count_if(samples.begin(), samples.end(), [&](const auto& sample) {
      return TokensOf(sample)[3] == TokensOf(each)[3];
    });
    EXPECT_NEAR(static_cast<double>(count) / 1000, p, 3.5 * std::sqrt(p * (1 - p) / 1000) + 0.001);
  }
}

// The translations are those of Marian itself (../shared/golden/README.md), line by line.
TEST(MarianTest, SharedModelsGiveMariansBeam) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string shared = kShared;
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << shared << " is not there";
  for (const std::string model : {"en-de", "en-de-ssru"}) {
    std::vector<std::string> source = Lines(ReadFile(shared + "/data/multi30k.val.en"));
    std::vector<std::string> expected =
        Lines(ReadFile(absl::StrCat(shared, "/golden/marian-", model, ".multi30k.val.beam4.txt")));
    source.resize(200);
    expected.resize(200);
    const Outcome outcome = Translate(
        absl::StrCat(
            "--search_compat=marian --compute_type=float32 --split_sentences=false --protect=none "
            "--beam_size=4 --length_penalty=1 --shortlist=none --model='",
            shared, "/models/", model, "-marian'"),
        absl::StrJoin(source, "\n") + "\n");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(Lines(outcome.out), expected) << model;
  }
}

}  // namespace
}  // namespace nibu::internal
