// Tests of shortlists: the candidates of a sentence are those of its words and phrases, those that
// are always there, and the end tokens, filled up to a multiple of 8.
#include "engine/search/shortlist.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;

TEST(ShortlistTest, UnitesItsLists) {
  Shortlist shortlist;
  shortlist.first = 2;
  shortlist.always = {20};
  shortlist.offsets = {0, 2, 2, 3};
  shortlist.ids = {9, 4, 30};
  // Tokens 0, 1 and 20 are always there, 7 is the end, and source token 0 has 9 and 4.
  EXPECT_THAT(shortlist.Candidates({0}, 40, {7}), ElementsAre(0, 1, 2, 3, 4, 7, 9, 20));
  EXPECT_THAT(shortlist.Candidates({0, 2}, 40, {7}), ElementsAre(0, 1, 2, 4, 7, 9, 20, 30));
  // Source tokens without a list, or outside the vocabulary, add nothing.
  EXPECT_THAT(shortlist.Candidates({1, 35, -1}, 40, {7}), ElementsAre(0, 1, 2, 3, 4, 5, 7, 20));
}

TEST(ShortlistTest, CopiesTheSource) {
  Shortlist shortlist;
  EXPECT_THAT(shortlist.Candidates({12, 13}, 40, {0}), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  shortlist.copy_source = true;
  EXPECT_THAT(shortlist.Candidates({12, 13}, 40, {0}), ElementsAre(0, 1, 2, 3, 4, 5, 12, 13));
}

TEST(ShortlistTest, FindsPhrases) {
  Shortlist shortlist;
  shortlist.longest_phrase = 3;
  shortlist.phrases[{5, 6, 7}] = {30, 31};
  shortlist.phrases[{6, 7}] = {32};
  shortlist.phrases[{7, 5}] = {33};
  EXPECT_THAT(shortlist.Candidates({5, 6, 7}, 40, {0}), ElementsAre(0, 1, 2, 3, 4, 30, 31, 32));
  EXPECT_THAT(shortlist.Candidates({6, 7}, 40, {0}), ElementsAre(0, 1, 2, 3, 4, 5, 6, 32));
}

TEST(ShortlistTest, OffsetsBeyondTheIdsAddNothing) {
  Shortlist shortlist;
  shortlist.offsets = {0, 400'000'000, 3, 500'000'000, 500'000'000};
  shortlist.ids = {9};
  EXPECT_THAT(shortlist.Candidates({0, 1, 2, 3}, 40, {7}), ElementsAre(0, 1, 2, 3, 4, 5, 7, 9));
}

TEST(ShortlistTest, SmallVocabulariesAreNotFilledUp) {
  Shortlist shortlist;
  shortlist.first = 100;
  EXPECT_THAT(shortlist.Candidates({0}, 3, {2}), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace nibu::internal
