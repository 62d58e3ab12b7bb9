// Tests of TranslationRuns against joining all units in order, for random orders and numbers of
// translations.
#include "tools/text/translator/translation_runs.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using Translations = TranslationRuns::Translations;

TEST(TranslationRunsTest, JoinsUnitsThatComeInAnyOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Translations> units(random() % 20);
    size_t most = 1;
    for (size_t i = 0; i < units.size(); ++i) {
      units[i].resize(1 + random() % 3);
      for (size_t n = 0; n < units[i].size(); ++n) units[i][n] = absl::StrCat(i, "/", n, " ");
      most = std::max(most, units[i].size());
    }
    Translations expected(most);
    for (const Translations& unit : units) {
      for (size_t n = 0; n < most; ++n) expected[n] += unit[std::min(n, unit.size() - 1)];
    }
    std::vector<size_t> order(units.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    TranslationRuns runs;
    for (size_t i = 0; i < order.size(); ++i) {
      runs.Add(order[i], units[order[i]]);
      EXPECT_LE(runs.runs(), units.size() - i);  // missing ones, and one more
    }
    EXPECT_EQ(runs.TakeAll(), expected);
  }
}

// Sentences of a line are joined as their scripts write it, in whatever order they come.
TEST(TranslationRunsTest, SentencesHaveWhatIsBetweenThem) {
  const std::vector<Translations> units = {{"A."}, {"B.", "乙。"}, {"丙。"}, {"D."}};
  const std::vector<std::optional<std::string>> between = {std::nullopt, "", " ", std::nullopt};
  std::vector<size_t> order = {0, 1, 2, 3};
  do {
    TranslationRuns runs;
    for (const size_t i : order) runs.Add(i, units[i], between[i]);
    EXPECT_THAT(runs.TakeAll(), ElementsAre("A. B. 丙。D.", "A.乙。丙。D."));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(TranslationRunsTest, ATextWithoutUnitsHasAnEmptyTranslation) {
  EXPECT_THAT(TranslationRuns().TakeAll(), ElementsAre(""));
}

}  // namespace
}  // namespace nibu::internal
