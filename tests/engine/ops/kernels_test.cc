// Tests of the small kernels, each against its plain definition, on every instruction set.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/ops/convert.h"
#include "engine/ops/embedding.h"
#include "engine/ops/quantize.h"
#include "engine/ops/row_kernels.h"
#include "gtest/gtest.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(LayerNormTest, EqualsTheDefinition) {
  ForEachHighwayTarget([] {
    Random random(6);
    for (int round = 0; round < 50; ++round) {
      const int rows = random.Int(1, 5);
      const int dim = random.Int(1, 200);
      const auto n = static_cast<size_t>(rows * dim);
      const auto x = random.Floats(n, 3.0f);
      const auto y = random.Floats(n, 3.0f);
      const auto gamma = random.Floats(static_cast<size_t>(dim));
      const auto beta = random.Floats(static_cast<size_t>(dim));
      const bool sum = random.Chance();
      std::vector<float> out(n);
      LayerNorm(gamma.data(), beta.data(), 1e-5f, x.data(), sum ? y.data() : nullptr, rows, dim,
                out.data());
      std::vector<float> in_place = x;
      LayerNorm(gamma.data(), beta.data(), 1e-5f, in_place.data(), sum ? y.data() : nullptr, rows,
                dim, in_place.data());
      EXPECT_EQ(out, in_place);
      for (int r = 0; r < rows; ++r) {
        double mean = 0;
        double variance = 0;
        const auto z = [&](int i) {
          const auto at = static_cast<size_t>(r * dim + i);
          return static_cast<double>(x[at]) + (sum ? static_cast<double>(y[at]) : 0.0);
        };
        for (int i = 0; i < dim; ++i) mean += z(i) / dim;
        for (int i = 0; i < dim; ++i) variance += (z(i) - mean) * (z(i) - mean) / dim;
        for (int i = 0; i < dim; ++i) {
          const auto column = static_cast<size_t>(i);
          const double expected =
              (z(i) - mean) / std::sqrt(variance + 1e-5) * static_cast<double>(gamma[column]) +
              static_cast<double>(beta[column]);
          ASSERT_NEAR(expected, out[static_cast<size_t>(r * dim + i)], 2e-4);
        }
      }
    }
  });
}

TEST(RmsNormTest, EqualsTheDefinition) {
  ForEachHighwayTarget([] {
    Random random(11);
    for (int round = 0; round < 50; ++round) {
      const int rows = random.Int(1, 5);
      const int dim = random.Int(1, 200);
      const auto n = static_cast<size_t>(rows * dim);
      const auto x = random.Floats(n, 3.0f);
      const auto y = random.Floats(n, 3.0f);
      const auto gamma = random.Floats(static_cast<size_t>(dim));
      const bool sum = random.Chance();
      std::vector<float> out = x;
      LayerNorm(gamma.data(), nullptr, 1e-6f, out.data(), sum ? y.data() : nullptr, rows, dim,
                out.data());
      for (int r = 0; r < rows; ++r) {
        const auto z = [&](int i) {
          const auto at = static_cast<size_t>(r * dim + i);
          return static_cast<double>(x[at]) + (sum ? static_cast<double>(y[at]) : 0.0);
        };
        double square = 0;
        for (int i = 0; i < dim; ++i) square += z(i) * z(i) / dim;
        for (int i = 0; i < dim; ++i) {
          ASSERT_NEAR(
              z(i) / std::sqrt(square + 1e-6) * static_cast<double>(gamma[static_cast<size_t>(i)]),
              out[static_cast<size_t>(r * dim + i)], 1e-5);
        }
      }
    }
  });
}

TEST(ElementwiseTest, AddAndMultiply) {
  ForEachHighwayTarget([] {
    Random random(12);
    for (size_t n = 0; n < 70; ++n) {
      const auto x = random.Floats(n);
      const auto y = random.Floats(n);
      std::vector<float> sums = x;
      std::vector<float> products = x;
      Add(y.data(), static_cast<long>(n), sums.data());
      Multiply(y.data(), static_cast<long>(n), products.data());
      for (size_t i = 0; i < n; ++i) {
        ASSERT_EQ(sums[i], x[i] + y[i]);
        ASSERT_EQ(products[i], x[i] * y[i]);
      }
    }
  });
}

TEST(ConvertTest, HalfTypes) {
  ForEachHighwayTarget([] {
    // The values are 1, -2, the smallest float16, a denormal one, the largest one, and 0.333.
    const std::vector<uint16_t> half = {0x3c00, 0xc000, 0x0001, 0x03ff, 0x7bff, 0x3555};
    const std::vector<float> values = {1.0f,         -2.0f,    5.9604645e-8f,
                                       6.097555e-5f, 65504.0f, 0.33325195f};
    for (size_t n = 0; n <= half.size(); ++n) {
      std::vector<float> out(n);
      ConvertToFloat(DType::kFloat16, half.data(), n, out.data());
      EXPECT_EQ(out, std::vector<float>(values.begin(), values.begin() + static_cast<long>(n)));
    }
    // A bfloat16 is the upper half of a float. It may lie at an odd address.
    std::vector<char> bytes(1 + 2 * 37);
    std::vector<float> expected;
    for (int i = 0; i < 37; ++i) {
      const float value = static_cast<float>(i - 18) * 0.5f;
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      const auto upper = static_cast<uint16_t>(bits >> 16);
      std::memcpy(bytes.data() + 1 + 2 * i, &upper, 2);
      expected.push_back(value);
    }
    std::vector<float> out(37);
    ConvertToFloat(DType::kBFloat16, bytes.data() + 1, 37, out.data());
    EXPECT_EQ(out, expected);
  });
}

TEST(ConvertTest, IntegersAndFiniteness) {
  const std::vector<int8_t> bytes = {-128, 0, 127};
  std::vector<float> out(3);
  ConvertToFloat(DType::kInt8, bytes.data(), 3, out.data());
  EXPECT_EQ(out, std::vector<float>({-128, 0, 127}));
  EXPECT_TRUE(AllFinite(out.data(), 3));
  out[1] = -kInfinity;
  EXPECT_FALSE(AllFinite(out.data(), 3));
  out[1] = std::nanf("");
  EXPECT_FALSE(AllFinite(out.data(), 3));
}

TEST(QuantizeTest, RowsEqualTheDefinition) {
  ForEachHighwayTarget([] {
    Random random(8);
    for (int round = 0; round < 60; ++round) {
      const auto rows = static_cast<size_t>(random.Int(1, 4));
      const auto n = static_cast<size_t>(random.Int(1, 100));
      auto x = random.Floats(rows * n, 5.0f);
      if (round == 0) std::fill(x.begin(), x.end(), 0.0f);
      const QuantizationRange range = random.Chance() ? kFullRange : kSevenBitRange;
      const float fixed = random.Chance() ? 0.02f : 0.0f;
      std::vector<uint8_t> q(rows * n);
      std::vector<float> scales(rows);
      QuantizeRows(x.data(), rows, n, range, fixed, q.data(), scales.data());
      for (size_t r = 0; r < rows; ++r) {
        float most = 0;
        for (size_t i = 0; i < n; ++i) most = std::max(most, std::abs(x[r * n + i]));
        const float scale = fixed != 0 ? fixed : most / static_cast<float>(range.levels);
        EXPECT_FLOAT_EQ(scales[r], scale);
        for (size_t i = 0; i < n; ++i) {
          const float level = scale > 0 ? x[r * n + i] / scale : 0.0f;
          const float clipped = std::clamp(level, static_cast<float>(-range.levels),
                                           static_cast<float>(range.levels));
          EXPECT_NEAR(q[r * n + i] - range.zero, clipped, 0.5001);
        }
      }
    }
  });
}

float Activated(Activation activation, float x) {
  switch (activation) {
    case Activation::kRelu:
      return std::max(x, 0.0f);
    case Activation::kGelu:
      return x * (1 + std::erf(x * std::sqrt(0.5f))) / 2;
    case Activation::kGeluTanh:
      return x * (1 + std::tanh(std::sqrt(2 / 3.14159265f) * (x + 0.044715f * x * x * x))) / 2;
    case Activation::kGeluSigmoid:
      return x / (1 + std::exp(-1.702f * x));
    case Activation::kSwish:
      return x / (1 + std::exp(-x));
    default:
      return x;
  }
}

TEST(QuantizeTest, DequantizeEqualsTheDefinition) {
  ForEachHighwayTarget([] {
    Random random(9);
    for (int round = 0; round < 60; ++round) {
      const auto n = static_cast<size_t>(random.Int(1, 70));
      std::vector<int32_t> sums(2 * n);
      std::vector<int32_t> zero_sums(n);
      for (int32_t& sum : sums) sum = random.Int(-100000, 100000);
      for (int32_t& sum : zero_sums) sum = random.Int(-100000, 100000);
      const auto scales = random.Floats(n, 0.01f);
      const auto bias = random.Floats(n);
      const std::vector<float> row_scales = {0.001f, round % 4 == 0 ? 5.0f : 0.005f};
      const bool with_bias = random.Chance();
      const auto activation = static_cast<Activation>(round % 6);
      std::vector<float> expected;
      for (size_t i = 0; i < 2 * n; ++i) {
        const float x =
            static_cast<float>(sums[i] - zero_sums[i % n]) * row_scales[i / n] * scales[i % n] +
            (with_bias ? bias[i % n] : 0.0f);
        expected.push_back(Activated(activation, x));
      }
      std::vector<float> actual(2 * n);
      DequantizeRows(
          {scales.data(), zero_sums.data(), with_bias ? bias.data() : nullptr, activation},
          row_scales.data(), 2, n, sums.data(), n, actual.data(), n);
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(actual[i], expected[i], 1e-5 + 1e-6 * std::abs(expected[i]))
            << "activation " << static_cast<int>(activation);
      }
    }
  });
}

TEST(QuantizeTest, BFloat16RoundsToNearestEven) {
  ForEachHighwayTarget([] {
    std::vector<uint32_t> bits = {0x3f800000, 0x3f808000, 0x3f818000, 0x3f80ffff,
                                  0xbf808001, 0x00000000, 0x80000000};
    const std::vector<uint16_t> rounded = {0x3f80, 0x3f80, 0x3f82, 0x3f81, 0xbf81, 0x0000, 0x8000};
    for (size_t copies = 0; copies < 4; ++copies) {
      std::vector<float> x;
      std::vector<uint16_t> expected;
      for (size_t i = 0; i < bits.size() * (copies + 1); ++i) {
        float value;
        std::memcpy(&value, &bits[i % bits.size()], 4);
        x.push_back(value);
        expected.push_back(rounded[i % rounded.size()]);
      }
      std::vector<uint16_t> out(x.size());
      RoundToBFloat16(x.data(), x.size(), out.data());
      EXPECT_EQ(out, expected);
    }
  });
}

TEST(EmbeddingTest, LooksUpAndScales) {
  const std::vector<float> table = {1, 2, 3, 4, 5, 6};
  const absl::StatusOr<EmbeddingTable> embedding = EmbeddingTable::Create(View(table, {2, 3}));
  ASSERT_TRUE(embedding.ok());
  std::vector<float> out(3);
  embedding->Lookup(1, 2.0f, out.data());
  EXPECT_EQ(out, std::vector<float>({8, 10, 12}));
  const std::vector<float> bad = {1, kInfinity};
  EXPECT_TRUE(absl::IsInvalidArgument(EmbeddingTable::Create(View(bad, {1, 2})).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(EmbeddingTable::Create(View(table, {6})).status()));
}

TEST(EmbeddingTest, IntegersAreScaled) {
  const std::vector<int8_t> values = {1, -2, 3, 127, -127, 5};
  const TensorView table{DType::kInt8, {2, 3}, values.data()};
  std::vector<float> out(3);
  const absl::StatusOr<EmbeddingTable> one = EmbeddingTable::Create(table, {2.0f});
  ASSERT_TRUE(one.ok()) << one.status();
  one->Lookup(0, 4.0f, out.data());
  EXPECT_EQ(out, std::vector<float>({2, -4, 6}));
  const std::vector<float> scales = {2.0f, 4.0f};
  const auto shared = EmbeddingTable::Share(table, scales, nullptr);
  ASSERT_TRUE(shared.ok()) << shared.status();
  shared->Lookup(1, 1.0f, out.data());
  EXPECT_EQ(out, std::vector<float>({31.75f, -31.75f, 1.25f}));
  EXPECT_EQ(shared->bytes(), 14u);
  EXPECT_FALSE(EmbeddingTable::Create(table).ok());
  EXPECT_FALSE(EmbeddingTable::Create(table, {0.0f}).ok());
  EXPECT_FALSE(EmbeddingTable::Create(table, std::vector<float>(3, 1.0f)).ok());
}

// A table becomes no larger than its compute type asks for, and keeps a smaller type.
TEST(EmbeddingTest, TakesTheTypeOfTheComputeType) {
  EXPECT_EQ(EmbeddingTable::HeldType(DType::kFloat32, ComputeType::kFloat32), DType::kFloat32);
  EXPECT_EQ(EmbeddingTable::HeldType(DType::kFloat16, ComputeType::kBFloat16), DType::kFloat16);
  EXPECT_EQ(EmbeddingTable::HeldType(DType::kFloat32, ComputeType::kBFloat16), DType::kBFloat16);
  EXPECT_EQ(EmbeddingTable::HeldType(DType::kInt16, ComputeType::kInt8), DType::kInt8);
  Random random(7);
  constexpr size_t kDim = 37;
  std::vector<float> values = random.Floats(3 * kDim, 2.0f);
  std::fill_n(values.begin() + kDim, kDim, 0.0f);  // a row of zeros has no scale
  const TensorView view = View(values, {3, kDim});
  for (const ComputeType type : {ComputeType::kBFloat16, ComputeType::kInt8}) {
    const absl::StatusOr<EmbeddingTable> table = EmbeddingTable::Create(view, {}, type);
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_LT(table->bytes(), values.size() * sizeof(float));
    std::vector<float> row(kDim);
    for (size_t r = 0; r < 3; ++r) {
      table->Lookup(static_cast<int>(r), 1.0f, row.data());
      for (size_t i = 0; i < kDim; ++i) EXPECT_NEAR(row[i], values[r * kDim + i], 0.02f);
    }
  }
}

// A table that is tied to a map in int8 has the values of one that is int8 itself.
TEST(EmbeddingTest, TiedRowsAreThoseOfTheMap) {
  Random random(8);
  constexpr size_t kDim = 70;
  const std::vector<float> values = random.Floats(9 * kDim, 2.0f);
  const TensorView view = View(values, {9, kDim});
  for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kInt8}) {
    const EmbeddingTable expected = *EmbeddingTable::Create(view, {}, type);
    const Linear map = *Linear::Create({{view, true, {}}}, {}, Activation::kNone, type);
    const EmbeddingTable tied = EmbeddingTable::Tie(OutputReader({map}));
    ASSERT_EQ(tied.rows(), 9);
    ASSERT_EQ(tied.dim(), static_cast<int>(kDim));
    EXPECT_EQ(tied.bytes(), 0u);
    std::vector<float> a(kDim);
    std::vector<float> b(kDim);
    for (int r = 0; r < 9; ++r) {
      expected.Lookup(r, 3.5f, a.data());
      tied.Lookup(r, 3.5f, b.data());
      EXPECT_EQ(a, b) << r;
    }
  }
}

// The buckets begin at the distances at which those of the published models begin, which have 32
// buckets and 128 positions.
TEST(EmbeddingTest, DistanceBiases) {
  constexpr int kHeads = 2;
  constexpr int kMost = 128;
  std::vector<float> table;
  for (int bucket = 0; bucket < 32; ++bucket) {
    table.push_back(static_cast<float>(bucket));
    table.push_back(static_cast<float>(100 + bucket));
  }
  const auto both_ways = DistanceBiases(table, kHeads, true, kMost);
  const auto one_way = DistanceBiases(table, kHeads, false, kMost);
  ASSERT_EQ(both_ways.size(), static_cast<size_t>(kHeads * (2 * kMost + 1)));
  ASSERT_EQ(one_way.size(), both_ways.size());
  const std::vector<int> sixteen = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
  const std::vector<int> all = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  const auto bucket = [](const std::vector<int>& starts, int distance) {
    return static_cast<float>(std::upper_bound(starts.begin(), starts.end(), distance) -
                              starts.begin() - 1);
  };
  for (int h = 0; h < kHeads; ++h) {
    for (int d = -kMost; d <= kMost; ++d) {
      const auto at = static_cast<size_t>(h * (2 * kMost + 1) + d + kMost);
      const float base = static_cast<float>(100 * h);
      EXPECT_EQ(both_ways[at], base + bucket(sixteen, std::abs(d)) + (d > 0 ? 16 : 0)) << d;
      EXPECT_EQ(one_way[at], base + bucket(all, std::max(-d, 0))) << d;
    }
  }
}

TEST(EmbeddingTest, SinusoidalPositions) {
  for (const PositionKind kind :
       {PositionKind::kSinusoidalHalf, PositionKind::kSinusoidalHalfMinusOne,
        PositionKind::kSinusoidalInterleaved}) {
    for (const int dim : {2, 7, 64}) {
      for (const int offset : {0, 2}) {
        const int half = dim / 2;
        const auto table = SinusoidalPositions(kind, 1100, offset, dim);
        for (const int p : {0, 1, 17, 1099}) {
          for (int i = 0; i < half; ++i) {
            const int divisor = kind == PositionKind::kSinusoidalHalfMinusOne ? half - 1 : half;
            const bool interleaved = kind == PositionKind::kSinusoidalInterleaved;
            const int sin_column = interleaved ? 2 * i : i;
            const int cos_column = interleaved ? 2 * i + 1 : half + i;
            const double angle =
                divisor == 0 ? p + offset : (p + offset) / std::pow(10000.0, 1.0 * i / divisor);
            EXPECT_NEAR(table[static_cast<size_t>(p * dim + sin_column)], std::sin(angle), 1e-6);
            EXPECT_NEAR(table[static_cast<size_t>(p * dim + cos_column)], std::cos(angle), 1e-6);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace nibu::internal
