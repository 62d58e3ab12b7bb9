// Tests of the borders of words and of white space.
#include "tokenizer/unicode/characters.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;

std::vector<size_t> Borders(const std::string& text) {
  std::vector<size_t> borders;
  for (size_t at = 0; at <= text.size(); ++at) {
    const bool inside = at < text.size() && (text[at] & 0xc0) == 0x80;  // within a character
    if (!inside && IsWordBorder(text, at)) borders.push_back(at);
  }
  return borders;
}

TEST(CharactersTest, WordsDoNotEndInACharacter) {
  EXPECT_FALSE(IsWordBorder("Ren\u00e9 b", 4));
  EXPECT_TRUE(IsWordBorder("Ren\u00e9 b", 5));
  EXPECT_TRUE(IsWordBorder("\xa9", 0));
}

TEST(BlankTest, WhiteSpaceOfEveryKind) {
  for (const char* text :
       {"", " ", "\t\r\v\f ", "\u3000", "\u00a0 \u2003", "\u0085", "\ufeff\u200b", "\u2028"}) {
    EXPECT_TRUE(IsBlank(text)) << text;
  }
  for (const char* text : {"a", " a ", "\u3000\u3042", "\u2581", "\xe3\x80", "\xc2", "\u2010"}) {
    EXPECT_FALSE(IsBlank(text)) << text;
  }
  EXPECT_FALSE(IsBlank(absl::string_view("\0", 1)));
}

TEST(WordBorderTest, LettersDigitsAndMarksBelongTogether) {
  EXPECT_THAT(Borders(""), ElementsAre(0));
  EXPECT_THAT(Borders("ab 1c"), ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(Borders("a-b"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Borders("é1"), ElementsAre(0, 3));
  EXPECT_THAT(Borders("e\u0301a"), ElementsAre(0, 4));
}

TEST(WordBorderTest, ScriptsWithoutBlanksHaveThemEverywhere) {
  EXPECT_THAT(Borders("北京a"), ElementsAre(0, 3, 6, 7));
  EXPECT_THAT(Borders("กท"), ElementsAre(0, 3, 6));
  EXPECT_THAT(Borders("한국"), ElementsAre(0, 6));  // Korean has blanks
}

}  // namespace
}  // namespace nibu::internal
