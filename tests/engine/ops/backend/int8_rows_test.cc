// Tests of the int8 kernels for few rows on AVX2.
#include "engine/ops/backend/int8_rows.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

// Sums are exact, at the largest inputs and weights, too, and those beyond `out` may be anything.
TEST(Int8RowsTest, SumsAreThoseOfPlainLoops) {
  if (!HasInt8Rows(CurrentIsa())) GTEST_SKIP() << "for CPUs with AVX2 and without VNNI";
  Random random(6);
  for (int round = 0; round < 200; ++round) {
    const auto in = static_cast<size_t>(random.Int(1, round % 10 == 0 ? 2000 : 70));
    const auto out = static_cast<size_t>(random.Int(1, round % 10 == 1 ? 2000 : 140));
    const auto rows = static_cast<size_t>(random.Int(1, kMostInt8Rows));
    const size_t stride = (out + 63) / 64 * 64 + static_cast<size_t>(64 * random.Int(0, 2));
    const bool is_extreme = round % 2 == 0;
    std::vector<int8_t> weights(in * stride);
    for (int8_t& w : weights) {
      w = static_cast<int8_t>(is_extreme ? (random.Chance() ? -128 : 127) : random.Int(-128, 127));
    }
    std::vector<uint8_t> x(rows * in);
    for (uint8_t& value : x) value = static_cast<uint8_t>(random.Int(is_extreme ? 126 : 0, 127));
    std::vector<int32_t> sums(rows * stride);
    MultiplyInt8Rows(weights.data(), stride, in, out, x.data(), rows, sums.data(), stride);
    for (size_t r = 0; r < rows; ++r) {
      for (size_t n = 0; n < out; ++n) {
        int32_t expected = 0;
        for (size_t k = 0; k < in; ++k) expected += x[r * in + k] * weights[k * stride + n];
        ASSERT_EQ(sums[r * stride + n], expected) << rows << " x " << in << " x " << out;
      }
    }
  }
}

}  // namespace
}  // namespace nibu::internal
