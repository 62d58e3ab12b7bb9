// Tests of Watch, which compares a translation with its source to warn of missing, repeated or
// changed parts.
#include "tools/text/lines/translation_check.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/sanitizers.h"

namespace nibu::internal {
namespace {

// Returns the names of the warnings, where each word counts as a token.
std::string Watched(const std::string& source, const std::string& target, bool finished = true,
                    bool repetition = false, const SaidNumbers& said = {}) {
  const auto words = [](const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), ' ')) + 1;
  };
  Hypothesis hypothesis;
  hypothesis.tokens.resize(words(target));
  hypothesis.finished = finished;
  hypothesis.repetition = repetition;
  return absl::StrJoin(
      WarningNames(CheckTranslation(source, words(source), target, hypothesis, said)), ",");
}

TEST(TranslationCheckTest, FindsShortAndLongTranslations) {
  const std::string words = "They were walking along the river when suddenly heavy rain began";
  EXPECT_EQ(Watched(words, words), "");
  EXPECT_EQ(Watched(words, "Sie gingen"), "short");
  EXPECT_EQ(Watched("Sie gingen", words), "long");
  EXPECT_EQ(Watched("Hi.", "Hallo, mein Freund."), "");
  EXPECT_EQ(Watched("Yes.", ""), "short");
  // The number of sentence ends shows that a sentence is missing.
  EXPECT_EQ(Watched("She sleeps. He is late.", "Sie schläft. Er kommt."), "");
  EXPECT_EQ(Watched("She sleeps. He is late.", "Sie schläft."), "short");
  EXPECT_EQ(Watched("Mr. Brown sleeps.", "Herr Brown schläft."), "");
  // The target has few characters, but each of them says much. Many tokens alone are no reason for
  // a warning.
  EXPECT_EQ(Watched("The weather is beautiful today, isn't it", "今 天 天 气 很 好 对 吗"), "");
  EXPECT_EQ(Watched("a b c d e f g h i j k l", "abcdefghijk lmnopqrstu"), "");
}

// The model says how many tokens are to be expected.
TEST(TranslationCheckTest, ExpectedTokens) {
  const std::string text(40, 'a');
  const auto warnings = [&](float expected, size_t tokens, absl::string_view target) {
    Hypothesis hypothesis;
    hypothesis.tokens.resize(tokens);
    return absl::StrJoin(WarningNames(CheckTranslation(text, expected, target, hypothesis)), ",");
  };
  EXPECT_EQ(warnings(10, 3, "aaaa"), "short");
  EXPECT_EQ(warnings(5, 3, "aaaa"), "");
  EXPECT_EQ(warnings(10, 25, std::string(90, 'a')), "long");
  EXPECT_EQ(warnings(20, 25, std::string(90, 'a')), "");
}

TEST(TranslationCheckTest, TellsHowTheSearchEnded) {
  EXPECT_EQ(Watched("A dog.", "Ein Hund", /*finished=*/false), "unfinished");
  EXPECT_EQ(Watched("A dog.", "Ein Hund", true, /*repetition=*/true), "repetition");
  EXPECT_EQ(Watched("Dog 17.", "", false, true), "short,repetition,unfinished,numbers");
}

TEST(TranslationCheckTest, NumbersThatAreTheSame) {
  for (const auto& [source, target] :
       std::vector<std::pair<std::string, std::string>>{{"1,000.50 euros", "1.000,50 Euro"},
                                                        {"1,000 men", "1 000 Mann"},
                                                        {"1000 men", "1\u202f000 Mann"},
                                                        {"3 dogs", "drei Hunde"},
                                                        {"three dogs", "3 Hunde"},
                                                        {"30 minutes", "dreißig Minuten"},
                                                        {"12/24/2020", "24.12.2020"},
                                                        {"on 05/06", "am 6.5."},
                                                        {"the 1st, in 1984", "der 1. im Jahr 1984"},
                                                        {"\uff11\uff19\uff18\uff14", "1984"},
                                                        {"\u0661\u0669\u0668\u0664", "1984"},
                                                        {"$5 and 6 €", "5 $ und 6 Euro"},
                                                        {"5 dollars", "5 $"},
                                                        {"4 of 17", "vier von 17"}}) {
    EXPECT_EQ(Watched(source, target), "") << source;
  }
}

TEST(TranslationCheckTest, NumbersThatDiffer) {
  for (const auto& [source, target] :
       std::vector<std::pair<std::string, std::string>>{{"number 1102", "Nummer 90"},
                                                        {"number 93", "Nummer"},
                                                        {"number", "Nummer 93"},
                                                        {"3 dogs", "4 Hunde"},
                                                        {"$2.5 more", "2 Dollar mehr"},
                                                        {"5 of 17", "5 von 19"},
                                                        {"$5", "5 €"},
                                                        {"¥5 and $6", "5 ¥ und 6 £"},
                                                        {"17 and 17", "17"}}) {
    EXPECT_EQ(Watched(source, target), "numbers") << source;
  }
}

// If the languages are known, a number may be a word on the other side, but this word must be
// there.
TEST(TranslationCheckTest, NumbersInWords) {
  const NumberWords english("en");
  const NumberWords german("de");
  const auto watched = [&](const std::string& source, const std::string& target) {
    return Watched(source, target, true, false, {&english, &german});
  };
  EXPECT_EQ(watched("3 dogs", "drei Hunde"), "");
  EXPECT_EQ(watched("three dogs", "3 Hunde"), "");
  EXPECT_EQ(watched("25 dogs", "fünfundzwanzig Hunde"), "");
  EXPECT_EQ(watched("the 3 dogs", "der dritte Hund"), "");
  EXPECT_EQ(watched("3 dogs", "Hunde"), "numbers");
  EXPECT_EQ(watched("3 dogs", "vier Hunde"), "numbers");
  EXPECT_EQ(watched("dogs", "3 Hunde"), "numbers");
  EXPECT_EQ(watched("12 of 17", "zwölf von 17"), "");
  EXPECT_EQ(watched("It costs $19.99.", "Es kostet 19,99 Dollar."), "");
  EXPECT_EQ(watched("It costs $19.99.", "Es kostet 19,99."), "numbers");
  EXPECT_EQ(watched("at 7:45 p.m.", "um 19:45 Uhr"), "");
  EXPECT_EQ(watched("at 7:45 p.m.", "um 7:45 Uhr abends"), "");
  EXPECT_EQ(watched("at 12:30 pm", "um 12:30 Uhr"), "");
  EXPECT_EQ(watched("at 7:45 p.m.", "um 20:45 Uhr"), "numbers");
  EXPECT_EQ(watched("at 7:45 a.m.", "um 19:45 Uhr"), "numbers");
}

TEST(TranslationCheckTest, NumbersTouchNoWords) {
  EXPECT_FALSE(HasSameNumbers("From 20 to 30 a day", "Von 20 bis30 pro Tag", {}));
  EXPECT_TRUE(HasSameNumbers("A4 has 30 cm", "A4 hat 30cm", {}));
  EXPECT_TRUE(HasSameNumbers("There are 30 dogs", "有30只狗", {}));
}

TEST(TranslationCheckTest, PartsComeOnceEach) {
  EXPECT_TRUE(HasEachOnce({}, "any"));
  EXPECT_TRUE(HasEachOnce({"a.com", "%s"}, "%s: a.com"));
  EXPECT_FALSE(HasEachOnce({"a.com"}, "a. com"));
  EXPECT_FALSE(HasEachOnce({"%s"}, "%s %s"));
  EXPECT_TRUE(HasEachOnce({"%s", "%s"}, "%s %s"));
  EXPECT_TRUE(HasEachOnce({"%s", "<b>%s</b>"}, "%s <b>%s</b>"));
  EXPECT_FALSE(HasEachOnce({"%s", "%s"}, "%s"));
}

// A text is a good translation of itself, also in another order.
TEST(TranslationCheckTest, RandomTexts) {
  std::mt19937 random(5);
  const std::vector<std::string> words = {"1,5", "17.", "dog",    "\xff", "2020-10-12",
                                          "!",   "。",  "\uff13", "12",   "(so.)"};
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::string> text;
    for (size_t i = random() % 20 + 1; i > 0; --i) text.push_back(words[random() % words.size()]);
    const std::string source = absl::StrJoin(text, " ");
    std::shuffle(text.begin(), text.end(), random);
    const std::string target = absl::StrJoin(text, " ");
    EXPECT_EQ(Watched(source, target), "") << source << "\n" << target;
  }
}

TEST(TranslationCheckTest, LongLines) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  std::string source;
  for (int i = 0; i < 200000; ++i) absl::StrAppend(&source, i, ". ");
  EXPECT_EQ(Watched(source, source), "");
  EXPECT_EQ(Watched(source, source + "77"), "numbers");
}

}  // namespace
}  // namespace nibu::internal
