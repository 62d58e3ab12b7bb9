// Tests of the measures of a text by which translations are watched: numbers, ends of sentences,
// and characters.
#include "tokenizer/unicode/text_measure.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

// Returns the numbers, such as "12 5+", where + says that a number does not stand alone.
std::string Numbers(const std::string& text) {
  std::string all;
  for (const auto& number : Measure(text).numbers) {
    all += (all.empty() ? "" : " ") + number.digits + (number.alone ? "" : "+");
  }
  return all;
}

TEST(TextMeasureTest, FindsNumbers) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", ""},
           {"none", ""},
           {"7", "7"},
           {"a7b 12, 30. 5", "7 12 30 5"},
           {"1,000.50", "1+ 000+ 50+"},
           {"1\u2019000", "1+ 000+"},
           {"at 18:05.", "18+ 5+"},
           {"05/12/2020", "5 12 2020"},
           {"3., 4", "3 4"},
           {"00 007", "0 007"},
           {"\u0663\u066b\u0665 \uff11\uff12 \u096f", "3+ 5+ 12 9"}}) {
    EXPECT_EQ(Numbers(text), expected) << text;
  }
}

TEST(TextMeasureTest, SentenceEnds) {
  for (const auto& [text, expected] :
       std::vector<std::pair<std::string, int>>{{"", 0},
                                                {"No end", 0},
                                                {"One. Two", 1},
                                                {"One. Two!", 2},
                                                {"Really?! (Yes.) \"No.\" So...", 4},
                                                {"3.5 a.b", 0},
                                                {"你好。世界！", 2},
                                                {"नमस्ते। ठीक है।", 2},
                                                {"كيف؟ نعم.", 2}}) {
    EXPECT_EQ(Measure(text).sentence_ends, expected) << text;
  }
}

TEST(TextMeasureTest, HanAndKanaCountThreefold) {
  EXPECT_EQ(Measure("").characters, 0);
  EXPECT_EQ(Measure("Grün, 12.").characters, 9);
  EXPECT_EQ(Measure("中文").characters, 6);
  EXPECT_EQ(Measure("かな한").characters, 6);
  EXPECT_EQ(Measure("\xff\xc3").characters, 2);
}

TEST(TextMeasureTest, RandomBytes) {
  std::mt19937 random(3);
  const std::string alphabet = "09.,:' \"aZ\xd9\xa3\xe3\x80\x82\xff\xf0";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (size_t i = random() % 40; i > 0; --i) text += alphabet[random() % alphabet.size()];
    const TextMeasure measure = Measure(text);
    EXPECT_LE(measure.characters, static_cast<double>(text.size()));
    EXPECT_LE(static_cast<size_t>(measure.sentence_ends), text.size());
    for (const auto& number : measure.numbers) {
      EXPECT_FALSE(number.digits.empty());
      EXPECT_EQ(number.digits.find_first_not_of("0123456789"), std::string::npos);
    }
  }
  EXPECT_EQ(Measure(std::string(1 << 20, '9')).numbers.size(), 1u);
  EXPECT_EQ(Measure(std::string(1 << 20, '.')).sentence_ends, 1);
}

}  // namespace
}  // namespace nibu::internal
