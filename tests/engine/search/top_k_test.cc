// Tests of the running top-k.
#include "engine/search/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Logits with ties and, in some rounds, suppressed tokens.
std::vector<float> RandomLogits(Random* random, size_t n, int round) {
  std::vector<float> logits = random->Floats(n);
  for (float& logit : logits) {
    if (round % 3 == 0) logit = std::round(logit * 20);
    if (round % 4 == 1 && random->Int(0, 2) > 0) logit = -kInfinity;
  }
  return logits;
}

// Blocks of any size give the first k of all logits in order, and the largest of them.
TEST(TopKTest, IsTheBeginningOfTheSortedRow) {
  ForEachHighwayTarget([] {
    Random random(5);
    TopK top;
    for (int round = 0; round < 150; ++round) {
      const auto n = static_cast<size_t>(random.Int(1, round % 2 == 0 ? 6000 : 700));
      const int k = random.Int(1, round % 7 == 0 ? 100 : 17);
      const std::vector<float> logits = RandomLogits(&random, n, round);
      top.Reset(k);
      for (size_t first = 0; first < n;) {
        const size_t count = std::min(n - first, static_cast<size_t>(random.Int(1, 3000)));
        top.Update(logits.data() + first,
                   LogitTokens(static_cast<int>(first), static_cast<int>(count)));
        first += count;
      }
      std::vector<Candidate> expected;
      for (size_t i = 0; i < n; ++i) {
        if (logits[i] > -kInfinity) expected.push_back({static_cast<int>(i), logits[i]});
      }
      std::sort(expected.begin(), expected.end(), IsBetterCandidate);
      EXPECT_EQ(top.largest(), expected.empty() ? -kInfinity : expected[0].log_prob);
      expected.resize(std::min(expected.size(), static_cast<size_t>(k)));
      const std::vector<Candidate>& best = top.Finish();
      ASSERT_EQ(best.size(), expected.size()) << round;
      for (size_t i = 0; i < best.size(); ++i) {
        ASSERT_EQ(best[i].token, expected[i].token) << round << " " << i;
        ASSERT_EQ(best[i].log_prob, expected[i].log_prob) << round << " " << i;
      }
    }
  });
}

}  // namespace
}  // namespace nibu::internal
