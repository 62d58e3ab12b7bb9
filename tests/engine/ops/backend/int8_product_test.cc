// Tests of our own int8 kernels, for each instruction set that this CPU has.
#include "engine/ops/backend/int8_product.h"

#include <cstring>
#include <vector>

#include "engine/core/aligned_buffer.h"
#include "engine/ops/backend/onednn.h"
#include "gtest/gtest.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

class Int8ProductTest : public testing::TestWithParam<Isa> {};

INSTANTIATE_TEST_SUITE_P(Isas, Int8ProductTest, testing::Values(Isa::kAvx512Vnni, Isa::kAmx));

// Compares with plain loops and DequantizeRows, bit for bit.
TEST_P(Int8ProductTest, ProductsAreThoseOfPlainLoops) {
  if (CurrentIsa() < GetParam()) {
    GTEST_SKIP() << (GetParam() == Isa::kAmx ? "no AMX here" : "no AVX-512 VNNI here");
  }
  Random random(21);
  for (int round = 0; round < 120; ++round) {
    const auto in = static_cast<size_t>(64 * random.Int(1, round % 8 == 0 ? 40 : 9));
    const auto out = static_cast<size_t>(64 * random.Int(1, 6));
    const auto rows = static_cast<size_t>(round < 70 ? round + 1 : random.Int(1, 300));
    AlignedBuffer<uint8_t> x((rows + kInt8Rows - 1) / kInt8Rows * kInt8Rows * in);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(random.Int(0, 255));
    AlignedBuffer<int8_t> weights(in * out);
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<int8_t>(random.Int(-128, 127));
    }
    std::vector<int32_t> sums(rows * out);
    for (size_t n = 0; n < out; ++n) {
      const int8_t* const block = weights.data() + n / 64 * 64 * in + n % 64 * 4;
      for (size_t r = 0; r < rows; ++r) {
        for (size_t k = 0; k < in; ++k) {
          sums[r * out + n] += x[r * in + k] * block[k / 4 * 256 + k % 4];
        }
      }
    }
    const auto scales = random.Floats(out, 1e-4f);
    const auto bias = random.Floats(out);
    const auto row_scales = random.Floats(rows);
    std::vector<int32_t> zero_sums(out);
    for (int32_t& sum : zero_sums) sum = random.Int(-1000000, 1000000);
    const auto activation = static_cast<Activation>(random.Int(0, 5));
    const Dequantization dequantization{scales.data(), zero_sums.data(),
                                        random.Chance() ? bias.data() : nullptr, activation};
    std::vector<float> expected(rows * out);
    if (FinishesInt8(activation)) {
      DequantizeRows(dequantization, row_scales.data(), rows, out, sums.data(), out,
                     expected.data(), out);
    } else {
      std::memcpy(expected.data(), sums.data(), sums.size() * sizeof(float));
    }
    std::vector<float> y(rows * out);
    MultiplyInt8(GetParam(), {weights.data(), in, out}, /*fetches=*/random.Chance(), x.data(), rows,
                 dequantization, row_scales.data(), y.data());
    ASSERT_EQ(std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)), 0)
        << rows << " x " << in << " x " << out << ", activation " << static_cast<int>(activation);
  }
}

}  // namespace
}  // namespace nibu::internal
