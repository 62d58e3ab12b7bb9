// Tests of the running log-sum-exp over blocks of numbers: its value by the definition, and that
// large numbers do not overflow.
#include "engine/core/log_sum_exp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(LogSumExpTest, EqualsTheDefinition) {
  ForEachHighwayTarget([] {
    Random random(3);
    for (int round = 0; round < 200; ++round) {
      LogSumExp sum;
      double expected = 0;
      float largest = -kInfinity;
      for (int block = random.Int(1, 4); block > 0; --block) {
        std::vector<float> numbers = random.Floats(static_cast<size_t>(random.Int(0, 200)), 9.0f);
        if (!numbers.empty() && random.Chance()) numbers[0] = -kInfinity;
        for (const float x : numbers) {
          expected += std::exp(static_cast<double>(x));
          largest = std::max(largest, x);
        }
        if (random.Chance()) {
          sum.Add(numbers);
        } else {
          sum.Add(numbers, largest);
        }
      }
      if (expected == 0) {
        EXPECT_EQ(sum.value(), -kInfinity);
      } else {
        EXPECT_NEAR(sum.value(), std::log(expected), 1e-4);
      }
    }
  });
}

TEST(LogSumExpTest, DoesNotOverflow) {
  LogSumExp sum;
  sum.Add({{1000.0f, 1000.0f}});
  sum.Add({{2000.0f, -kInfinity}});
  EXPECT_NEAR(sum.value(), 2000.0, 1e-3);
  sum.Reset();
  EXPECT_EQ(sum.value(), -kInfinity);
}

}  // namespace
}  // namespace nibu::internal
