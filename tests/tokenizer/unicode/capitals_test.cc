// Tests of the case of letters.
#include "tokenizer/unicode/capitals.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  for (const TextSpan& span : CapitalWords(text)) {
    words.push_back(text.substr(span.begin, span.end - span.begin));
  }
  return words;
}

TEST(CapitalsTest, Words) {
  using Found = std::vector<std::string>;
  EXPECT_EQ(Words("Do NOT open A door, ÄÖ. DON'T X1 iPHONE USAs"),
            Found({"NOT", "A", "ÄÖ", "DON", "T", "X"}));
  EXPECT_EQ(Words("НЕ надо"), Found({"НЕ"}));
  EXPECT_EQ(Words("漢字 العربية 123 \xff"), Found());
  EXPECT_TRUE(HasSmallLetters("ABc"));
  EXPECT_FALSE(HasSmallLetters("ABC 漢字 12 \xff"));
}

TEST(CapitalsTest, ByTheRulesOfTheLanguage) {
  EXPECT_EQ(ToUpper("straße i", "de"), "STRASSE I");
  EXPECT_EQ(ToUpper("istanbul ışık", "tr"), "İSTANBUL IŞIK");
  EXPECT_EQ(ToLower("ISPARTA", "tr"), "ısparta");
  EXPECT_EQ(ToLower("ÄI", ""), "äi");
}

}  // namespace
}  // namespace nibu::internal
