// Tests of the columns, breaks and joins of lines of text.
#include "tokenizer/unicode/typesetting.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;

TEST(TypesettingTest, ColumnsCountWideCharactersAndTabs) {
  EXPECT_EQ(ColumnBehind(""), 0u);
  EXPECT_EQ(ColumnBehind("abc", 2), 5u);
  EXPECT_EQ(ColumnBehind("äé"), 2u);
  EXPECT_EQ(ColumnBehind("a\u0301\u200d\u200b\ufeff"), 1u);
  EXPECT_EQ(ColumnBehind("北京。カﾅ한"), 11u);
  EXPECT_EQ(ColumnBehind("\U0001f600"), 2u);
  EXPECT_EQ(ColumnBehind("\ta\tb"), 17u);
  EXPECT_EQ(ColumnBehind("\t", 7), 8u);
  EXPECT_EQ(ColumnBehind("\xff\xe4\xbd"), 2u);  // The second one is the beginning of a character.
  EXPECT_EQ(ColumnBehind("\f"), 0u);
}

TEST(TypesettingTest, LinesBreakBetweenWords) {
  EXPECT_THAT(LineBreaks(""), ElementsAre(0));
  EXPECT_THAT(LineBreaks("ab"), ElementsAre(2));
  EXPECT_THAT(LineBreaks("a  b\tc"), ElementsAre(3, 5, 6));
  // Words with hyphens, addresses, and words that a no-break space joins are not cut.
  EXPECT_THAT(LineBreaks("well-known http://a/b 1\u00a0m"), ElementsAre(11, 22, 26));
  // There is no break before a full stop.
  EXPECT_THAT(LineBreaks("你好。我"), ElementsAre(3, 9, 12));
  EXPECT_THAT(LineBreaks("你 a好"), ElementsAre(4, 8));
  EXPECT_THAT(LineBreaks("ภาษาไทย"), ElementsAre(12, 21));  // the words for "language" and "Thai"
  EXPECT_EQ(LineBreaks("a\xff b").back(), 4u);
}

TEST(TypesettingTest, BetweenLines) {
  EXPECT_EQ(BetweenLines("a", "b"), " ");
  EXPECT_EQ(BetweenLines("", ""), " ");
  EXPECT_EQ(BetweenLines("你", "好"), "");
  EXPECT_EQ(BetweenLines("。", "「"), "");
  EXPECT_EQ(BetweenLines("ภาษา", "ไทย"), "");
  EXPECT_EQ(BetweenLines("한", "국"), " ");
  EXPECT_EQ(BetweenLines("你", "a"), " ");
}

TEST(TypesettingTest, TellsWordsAndSmallLetters) {
  EXPECT_TRUE(HasWords("- 1"));
  EXPECT_TRUE(HasWords("…å"));
  EXPECT_FALSE(HasWords(""));
  EXPECT_FALSE(HasWords("=-> ═══ \xff"));
  EXPECT_TRUE(BeginsSmall("äB"));
  EXPECT_FALSE(BeginsSmall("Äb"));
  EXPECT_FALSE(BeginsSmall("你"));
  EXPECT_FALSE(BeginsSmall(""));
  EXPECT_EQ(BlankPrefix(" \t\u00a0\u3000\fa "), 8u);
  EXPECT_EQ(BlankPrefix(""), 0u);
}

}  // namespace
}  // namespace nibu::internal
