// Tests of BLEU and chrF, on values worked out by hand and on sacreBLEU's own.
#include "tools/bench/bleu.h"

#include <unistd.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/tools/shell.h"
#include "tools/bench/sha256.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Tokenize13aTest, PunctuationStandsAlone) {
  EXPECT_EQ(Tokenize13a("He said: \"Go!\" (now) [a] {b}"),
            "He said : \" Go ! \" ( now ) [ a ] { b }");
  EXPECT_EQ(Tokenize13a("a/b\\c_d^e`f~g"), "a / b \\ c _ d ^ e ` f ~ g");
  EXPECT_EQ(Tokenize13a("$5 + 10% = #3 @x <y>; a*b|c?"),
            "$ 5 + 10 % = # 3 @ x < y > ; a * b | c ?");
  EXPECT_EQ(Tokenize13a("well-known 1990-2000 don't"), "well-known 1990 - 2000 don't");
  EXPECT_EQ(Tokenize13a("Größe: 5 €, „gut“."), "Größe : 5 € , „gut“ .");
}

TEST(Tokenize13aTest, StopsAndCommasStayInNumbers) {
  EXPECT_EQ(Tokenize13a("It is 3.5, or 1,000."), "It is 3.5 , or 1,000 .");
  EXPECT_EQ(Tokenize13a("e.g. 5.a b.5"), "e . g . 5 . a b . 5");
}

TEST(Tokenize13aTest, EntitiesAndBlanks) {
  EXPECT_EQ(Tokenize13a("a &lt;b&gt; &quot;c&quot; &amp; d"), "a < b > \" c \" & d");
  EXPECT_EQ(Tokenize13a("&amp;lt;"), "<");
  EXPECT_EQ(Tokenize13a(" \t a<skipped>  b "), "a b");
  // Python splits at U+2028 and U+001F, but not at a zero width space.
  EXPECT_EQ(Tokenize13a("a\u2028b\x1f"
                        "c\u200bd"),
            "a b c\u200bd");
  EXPECT_EQ(Tokenize13a(""), "");
}

Quality Score(const TextLines& output, const std::vector<TextLines>& references) {
  const auto quality = ScoreText(output, references);
  EXPECT_TRUE(quality.ok()) << quality.status();
  return quality.value_or(Quality());
}
double Bleu(const TextLines& output, const TextLines& reference) {
  return Score(output, {reference}).bleu;
}
double Chrf(const TextLines& output, const TextLines& reference) {
  return Score(output, {reference}).chrf;
}

// The section "Using SacreBLEU from Python" of sacreBLEU's README.md (version 2) prints
//   BLEU = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)
//   chrF2 = 59.73
// for these lines, and its test/test_bleu.py (test_corpus_bleu_cases) has more digits.
TEST(ScoreTextTest, EqualsTheReadmeOfSacreBleu) {
  const TextLines output = {"The dog bit the man.", "It wasn't surprising.",
                            "The man had just bitten him."};
  const std::vector<TextLines> references = {
      {"The dog bit the man.", "It was not unexpected.", "The man bit him first."},
      {"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."}};
  const Quality quality = Score(output, references);
  EXPECT_NEAR(quality.bleu, 48.530827, 1e-6);
  EXPECT_NEAR(quality.precisions[0], 82.4, 0.05);
  EXPECT_NEAR(quality.precisions[1], 50.0, 0.05);
  EXPECT_NEAR(quality.precisions[2], 45.5, 0.05);
  EXPECT_NEAR(quality.precisions[3], 37.5, 0.05);
  EXPECT_NEAR(quality.brevity_penalty, 0.943, 0.0005);
  EXPECT_EQ(quality.output_tokens, 17);
  EXPECT_EQ(quality.reference_tokens, 18);
  EXPECT_NEAR(quality.chrf, 59.73, 0.005);
  EXPECT_EQ(Score({"", "", ""}, references).bleu, 0);
}

// Cases of sacreBLEU's test/test_chrf.py (test_cases_effective_order), whose precision equals their
// recall, so that the weight of recall, which is 3 there, makes no difference.
TEST(ScoreTextTest, EqualsTheChrfTestsOfSacreBleu) {
  EXPECT_EQ(Chrf({"a"}, {"a"}), 100);
  EXPECT_EQ(Chrf({""}, {"reference"}), 0);
  EXPECT_EQ(Chrf({"a b c"}, {"a b c"}), 100);
  EXPECT_EQ(Chrf({"a b c"}, {"abc"}), 100);
  EXPECT_EQ(Chrf({"a", "b"}, {"a", "c"}), 50);
  EXPECT_EQ(Chrf({"aa"}, {"ab"}), 25);
}

// Characters, not bytes: "äx" and "äy" have one of two unigrams and none of one bigram in common.
TEST(ScoreTextTest, ChrfCountsRecallTwice) {
  EXPECT_NEAR(Chrf({"äx"}, {"äy"}), 25, 1e-9);
  // P = (1/1 + 0) / 1 order that both have; R = 1/3.
  EXPECT_NEAR(Chrf({"a"}, {"abc"}), 100 * 5 * 1 / 3.0 / (4 * 1 + 1 / 3.0), 1e-9);
}

TEST(ScoreTextTest, Precisions) {
  const TextLines text = {"A man is riding a bicycle.", "Two dogs are playing in the snow."};
  EXPECT_NEAR(Bleu(text, text), 100, 1e-9);
  // The reference has 5 of 6 unigrams, 4 of 5 bigrams, 3 of 4 trigrams and 2 of 3 4-grams.
  EXPECT_NEAR(Bleu({"a b c d e x"}, {"a b c d e f"}),
              100 * std::pow(5.0 / 6 * 4 / 5 * 3 / 4 * 2 / 3, 0.25), 1e-9);
  // Clipped: 2 x a and 1 x b, the bigrams a b and b a, the trigram a b a; no 4-gram: 1/2 of 4.
  EXPECT_NEAR(Bleu({"a b a a a a a"}, {"a b a c c c c"}),
              100 * std::pow(3.0 / 7 * 2 / 6 * 1 / 5 * 0.5 / 4, 0.25), 1e-9);
  // 2 of 4 unigrams; then no match: 1/2 of 3, 1/4 of 2, 1/8 of 1.
  EXPECT_NEAR(Bleu({"a x b y"}, {"a z b w"}),
              100 * std::pow(2.0 / 4 * 0.5 / 3 * 0.25 / 2 * 0.125, 0.25), 1e-9);
  // The counts are summed over the lines: 6 of 8, 4 of 6, 2 of 4 and 1 of 2.
  EXPECT_NEAR(Bleu({"a b c d", "e f x y"}, {"a b c d", "e f g h"}),
              100 * std::pow(6.0 / 8 * 4 / 6 * 2 / 4 * 1 / 2, 0.25), 1e-9);
  EXPECT_LT(Bleu({"A b c d e"}, {"a b c d e"}), 100);
}

TEST(ScoreTextTest, BrevityPenalty) {
  EXPECT_NEAR(Bleu({"a b c d"}, {"a b c d e f"}), 100 * std::exp(1 - 6.0 / 4), 1e-9);
  // Longer than the reference costs precision alone.
  EXPECT_NEAR(Bleu({"a b c d e"}, {"a b c d"}),
              100 * std::pow(4.0 / 5 * 3 / 4 * 2 / 3 * 1 / 2, 0.25), 1e-9);
}

TEST(ScoreTextTest, NothingInCommon) {
  EXPECT_EQ(Bleu({}, {}), 0);
  EXPECT_EQ(Bleu({"x y z u v"}, {"a b c d e"}), 0);
  EXPECT_EQ(Bleu({"a b c"}, {"a b c"}), 0);  // It has no 4-gram.
  EXPECT_EQ(Chrf({}, {}), 0);
  EXPECT_EQ(Chrf({"xyz"}, {"abc"}), 0);
  EXPECT_FALSE(ScoreText({"a"}, {{"a", "b"}}).ok());
  EXPECT_FALSE(ScoreText({"a"}, {}).ok());
}

class BenchBleuTest : public testing::Test {
 protected:
  // Returns the path of a file with a text.
  std::string File(const std::string& text) {
    std::string path = absl::StrCat(testing::TempDir(), "/bench_bleu_", getpid(), "_", ++files_);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  static Outcome Run(const std::string& arguments) {
    return Shell(absl::StrCat(Program("nibu-bench"), " bleu ", arguments), "");
  }

 private:
  int files_ = 0;
};

TEST_F(BenchBleuTest, ScoresFiles) {
  const std::string files =
      absl::StrCat(File("a b c d\r\ne\u2028f g h i\n"), " ", File("a b c d\ne\u2028f g h i"));
  EXPECT_EQ(Run(files).out,
            "BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000, output 9, reference 9 tokens), "
            "chrF2 = 100.00\n");
  const Outcome json = Run("--json " + files);
  ASSERT_EQ(json.status, 0) << json.err;
  EXPECT_NEAR(nlohmann::json::parse(json.out)["bleu"].get<double>(), 100, 1e-9);
  EXPECT_NEAR(nlohmann::json::parse(json.out)["chrf"].get<double>(), 100, 1e-9);
}

TEST_F(BenchBleuTest, FailsWithOneLine) {
  ExpectOneLineError("nibu-bench bleu", Run(File("a\n") + " " + File("a\nb\n")), 1,
                     "the translation has 1 lines and its reference 2");
  ExpectOneLineError("nibu-bench bleu", Run(File("a\n")), 2, "those of its references");
  ExpectOneLineError("nibu-bench bleu", Run("/nonexistent /nonexistent"), 1, "/nonexistent");
}

// The examples of FIPS 180-4's appendix in NIST's "SHA256.pdf", and a text of many blocks.
TEST(Sha256Test, EqualsTheStandard) {
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace nibu::internal
