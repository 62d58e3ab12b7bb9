// Tests of the words by which a text may say a number, language by language.
#include "tokenizer/sentences/number_words.h"

#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

TEST(NumberWords, AreSaidInManyWays) {
  const NumberWords german("de-DE");
  ASSERT_TRUE(german.AreKnown());
  EXPECT_TRUE(german.Say("3", "Drei Hunde"));
  EXPECT_TRUE(german.Say("25", "Es waren fünfundzwanzig."));
  EXPECT_TRUE(german.Say("25", "ihr fünfundzwanzigster Geburtstag"));
  EXPECT_TRUE(german.Say("1", "mit einer Katze"));
  EXPECT_FALSE(german.Say("3", "Hunde"));
  EXPECT_FALSE(german.Say("8", "sie lachten"));  // "acht" within a word
  EXPECT_FALSE(german.Say("5", "fünfzehn Hunde"));
  EXPECT_FALSE(german.Say("99999999999999999999", "viele"));
  const NumberWords english("eng_Latn");
  ASSERT_TRUE(english.AreKnown());
  EXPECT_TRUE(english.Say("21", "Twenty-one of them"));
  EXPECT_TRUE(english.Say("2", "the second one"));
  EXPECT_FALSE(english.Say("2", "the first one"));
  EXPECT_FALSE(english.Say("7", "seventeen dogs"));
  const NumberWords chinese("zh");
  ASSERT_TRUE(chinese.AreKnown());
  EXPECT_TRUE(chinese.Say("3", "有三只狗"));  // There are no blanks between words.
}

TEST(NumberWords, UnknownLanguagesHaveNone) { EXPECT_FALSE(NumberWords("xx").AreKnown()); }

TEST(NumberWords, Currencies) {
  const NumberWords german("deu_Latn");
  EXPECT_TRUE(german.SayCurrency(U'$', "Es kostet 5 Dollar."));
  EXPECT_TRUE(german.SayCurrency(U'$', "in US-Dollars"));
  EXPECT_TRUE(german.SayCurrency(U'€', "EUR 5"));
  EXPECT_FALSE(german.SayCurrency(U'$', "Es kostet 5."));
  EXPECT_FALSE(german.SayCurrency(U'£', "Es kostet 5 Dollar."));
  EXPECT_FALSE(german.SayCurrency(U'€', "die neue Reform"));  // "eur" within a word
  EXPECT_TRUE(NumberWords("pl").SayCurrency(U'¥', "5 jenów"));
  EXPECT_TRUE(NumberWords("ja").SayCurrency(U'$', "5ドルです。"));
  EXPECT_FALSE(NumberWords("ja").SayCurrency(U'$', "5円です。"));
  EXPECT_TRUE(NumberWords("xx").SayCurrency(U'$', "5"));
  EXPECT_TRUE(german.SayCurrency(U'₿', "5"));
}

}  // namespace
}  // namespace nibu::internal
