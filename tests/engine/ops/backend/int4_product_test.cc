// Tests of weights of 4 bits, and of their kernels for each instruction set that this CPU has.
#include "engine/ops/backend/int4_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/core/aligned_buffer.h"
#include "gtest/gtest.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

// A map of random weights, rounded to 4 bits.
class Int4Map {
 public:
  Int4Map(size_t in, size_t out, const std::vector<float>& w)
      : buffer_(Int4Weights{nullptr, in, out}.bytes()) {
    std::memset(buffer_.data(), 0, buffer_.size());
    weights = {reinterpret_cast<Int4Group*>(buffer_.data()), in, out};
    for (size_t n = 0; n < out; ++n) {
      units.push_back(SetInt4Output(weights, n, w.data() + n * in, 1));
    }
  }

  std::vector<float> Get(size_t output) const {
    std::vector<float> w(weights.in);
    GetInt4Output(weights, output, units[output], w.data());
    return w;
  }

  Int4Weights weights;
  std::vector<float> units;

 private:
  AlignedBuffer<char> buffer_;
};

// Weights differ from what they were by half a step of their group, and a little more for scales
// and least values that are rounded, too, and for ranges that are made smaller.
TEST(Int4Test, WeightsAreRoundedToTheirGroupsSteps) {
  Random random(1);
  for (int round = 0; round < 40; ++round) {
    const auto in = static_cast<size_t>(random.Int(1, 200));
    const auto out = static_cast<size_t>(random.Int(1, 130));
    std::vector<float> w = random.Floats(in * out);
    for (size_t i = 0; i < w.size() && round % 2 == 1; ++i) w[i] *= random.Chance() ? 1 : 0.1f;
    const Int4Map map(in, out, w);
    double error = 0;
    double norm = 0;
    for (size_t n = 0; n < out; ++n) {
      const std::vector<float> got = map.Get(n);
      const float* const expected = w.data() + n * in;
      const auto [least, most] = std::minmax_element(expected, expected + in);
      for (size_t k = 0; k < in; ++k) {
        ASSERT_NEAR(got[k], expected[k], 0.25f * (*most - *least) + 0.02f) << n << " " << k;
        error += (got[k] - expected[k]) * (got[k] - expected[k]);
        norm += expected[k] * expected[k];
      }
    }
    // Uniform values in 16 levels: the error's square is 1 / 12 of a step's, that of the values 1 /
    // 12 of their range's, so that the ratio of the roots is about 1 / 15.
    EXPECT_LT(std::sqrt(error / norm), 0.09) << in << " " << out;
  }
}

TEST(Int4Test, EqualWeightsAndZerosAreExact) {
  std::vector<float> w(70, 0.0f);
  std::fill_n(w.begin() + 32, 32, -2.0f);
  const Int4Map map(70, 1, w);
  const std::vector<float> got = map.Get(0);
  for (size_t k = 0; k < w.size(); ++k) EXPECT_NEAR(got[k], w[k], 1e-6) << k;
  EXPECT_EQ(Int4Map(5, 1, std::vector<float>(5, 0.0f)).units[0], 0);
}

TEST(Int4Test, CopiedOutputsAreTheSame) {
  Random random(2);
  const size_t in = 100;
  const Int4Map from(in, 100, random.Floats(in * 100));
  Int4Map to(in, 70, std::vector<float>(in * 70));
  for (size_t n = 0; n < 70; ++n) {
    const size_t source = (n * 37 + 5) % 100;
    CopyInt4Output(from.weights, source, to.weights, n);
    to.units[n] = from.units[source];
    ASSERT_EQ(to.Get(n), from.Get(source)) << n;
  }
}

class Int4ProductTest : public testing::TestWithParam<Isa> {};

INSTANTIATE_TEST_SUITE_P(Isas, Int4ProductTest,
                         testing::Values(Isa::kNone, Isa::kAvx2, Isa::kAvx512Vnni));

// The plain kernel is near the sums of the weights as they are read, and all others equal it, bit
// for bit, whatever rows and blocks are computed together.
TEST_P(Int4ProductTest, ProductsAreThoseOfPlainLoops) {
  if (CurrentIsa() < GetParam()) GTEST_SKIP() << "this CPU has not these instructions";
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    const auto in = static_cast<size_t>(random.Int(1, round % 4 == 0 ? 2100 : 150));
    const auto out = static_cast<size_t>(random.Int(1, 200));
    const auto rows = static_cast<size_t>(random.Int(1, round < 30 ? 9 : 96));
    const Int4Map map(in, out, random.Floats(in * out));
    std::vector<int8_t> x(rows * in + kInt4Inputs);
    for (int8_t& value : x) value = static_cast<int8_t>(random.Int(-127, 127));
    std::vector<float> sums(rows * map.weights.groups_in_block());
    SumInt4Inputs(x.data(), rows, in, sums.data());
    const size_t blocks = map.weights.blocks();
    std::vector<float> plain(rows * out);
    for (size_t r = 0; r < rows; ++r) {
      MultiplyInt4(Isa::kNone, map.weights, 0, blocks, x.data() + r * in,
                   sums.data() + r * map.weights.groups_in_block(), 1, plain.data() + r * out);
    }
    std::vector<float> y(rows * out, NAN);
    const auto cut = static_cast<size_t>(random.Int(0, static_cast<int>(blocks)));
    for (const auto& [first, last] : {std::pair(cut, blocks), std::pair(size_t{0}, cut)}) {
      MultiplyInt4(GetParam(), map.weights, first, last, x.data(), sums.data(), rows, y.data());
    }
    ASSERT_EQ(std::memcmp(y.data(), plain.data(), y.size() * sizeof(float)), 0)
        << rows << " x " << in << " x " << out;
    const size_t n = out - 1;
    const std::vector<float> weights = map.Get(n);
    for (size_t r = 0; r < rows; ++r) {
      double expected = 0;
      double size = 0;
      for (size_t k = 0; k < in; ++k) {
        expected += static_cast<double>(weights[k]) * x[r * in + k];
        size += std::abs(weights[k] * static_cast<float>(x[r * in + k]));
      }
      ASSERT_NEAR(y[r * out + n] * map.units[n], expected, 1e-5 * size + 1e-6) << r;
    }
  }
}

}  // namespace
}  // namespace nibu::internal
