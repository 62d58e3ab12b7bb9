// Tests of linear layers in each compute type: results against the definition, threads, pieces of
// the input, packed bytes, chosen outputs, and quantized weights.
#include "engine/ops/linear.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/aligned_buffer.h"
#include "engine/core/huge_heap.h"
#include "engine/ops/backend/packed_linear.h"
#include "engine/ops/convert.h"
#include "engine/ops/matmul.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/linear_case.h"
#include "tests/engine/row_buffer.h"

namespace nibu::internal {
namespace {

class LinearTest : public testing::TestWithParam<ComputeType> {};

INSTANTIATE_TEST_SUITE_P(Types, LinearTest,
                         testing::Values(ComputeType::kFloat32, ComputeType::kBFloat16,
                                         ComputeType::kInt8, ComputeType::kInt4));

TEST_P(LinearTest, EqualsTheDefinition) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(3);
  Matmul context;
  for (int round = 0; round < 64; ++round) {
    LinearCase c = LinearCase::Make(&random, round < 40 ? 40 : 300);
    if (round >= 60) c.SetInputs(random.Int(1281, 4500), &random);  // Long reductions may be cut.
    const absl::StatusOr<Linear> linear = c.Create(GetParam());
    ASSERT_TRUE(linear.ok()) << linear.status();
    EXPECT_EQ(linear->in(), c.in);
    EXPECT_EQ(linear->out(), c.out);
    const int rows = random.Int(1, 40);
    RowBuffer x(rows, c.in);
    RowBuffer y(rows, c.out);
    x.Fill(&random);
    context.Apply(*linear, x.span(), y.span());
    for (int r = 0; r < rows; ++r) {
      for (int n = 0; n < c.out; ++n) {
        const double expected = Activate(c.activation, c.Sum(x.data() + r * c.in, n));
        ASSERT_NEAR(expected, y[static_cast<size_t>(r * c.out + n)], Tolerance(GetParam(), c.in))
            << c.in << " -> " << c.out << ", row " << r << " of " << rows << ", column " << n;
      }
    }
  }
}

TEST_P(LinearTest, BothEqualsOneAfterTheOther) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(5);
  Matmul context;
  for (int round = 0; round < 10; ++round) {
    LinearCase up = LinearCase::Make(&random, 60);
    LinearCase down = LinearCase::Make(&random, 60);
    down.SetInputs(up.out, &random);
    const Linear first = *up.Create(GetParam());
    const Linear second = *down.Create(GetParam());
    const int rows = random.Int(1, 40);
    RowBuffer x(rows, up.in);
    RowBuffer hidden(rows, up.out);
    RowBuffer expected(rows, down.out);
    RowBuffer both(rows, down.out);
    x.Fill(&random);
    context.Apply(first, x.span(), hidden.span());
    context.Apply(second, hidden.span(), expected.span());
    context.ApplyPair(first, second, x.span(), both.span());
    for (size_t i = 0; i < static_cast<size_t>(rows) * static_cast<size_t>(down.out); ++i) {
      ASSERT_NEAR(expected[i], both[i], 1e-2 * std::abs(expected[i]) + 1e-2);
    }
  }
}

// Two threads in a matmul give the results of one, bit for bit where sums are exact.
TEST_P(LinearTest, TwoThreadsGiveTheResultsOfOne) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(9);
  Matmul context;
  for (int round = 0; round < 10; ++round) {
    const LinearCase c = LinearCase::Make(&random, 300);
    const Linear linear = *c.Create(GetParam());
    const int rows = random.Int(1, 5);
    RowBuffer x(rows, c.in);
    RowBuffer one(rows, c.out);
    RowBuffer two(rows, c.out);
    x.Fill(&random);
    context.SetThreads(1);
    context.Apply(linear, x.span(), one.span());
    context.SetThreads(2);
    context.Apply(linear, x.span(), two.span());
    const float tolerance = HasInt8Inputs(GetParam()) ? 0.0f : 1e-3f;
    for (size_t i = 0; i < static_cast<size_t>(rows) * static_cast<size_t>(c.out); ++i) {
      ASSERT_NEAR(one[i], two[i], tolerance * (1 + std::abs(one[i])));
    }
  }
}

// A linear layer applied to pieces of an input gives what it gives for the whole input.
TEST_P(LinearTest, ApplyToInput) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(10);
  Matmul context;
  LinearCase c = LinearCase::Make(&random, 70);
  const Linear linear = *c.Create(GetParam());
  const int rows = 230;
  RowBuffer x(rows, c.in);
  RowBuffer all(rows, c.out);
  x.Fill(&random);
  context.Apply(linear, x.span(), all.span());
  context.SetInput(linear, x.span());
  const int most = Matmul::PieceRows(linear);
  for (int first = 0; first < rows; first += most) {
    RowBuffer piece(std::min(most, rows - first), c.out);
    context.ApplyToInput(linear, first, piece.span());
    const float* const expected = all.span().row(first);
    for (size_t i = 0; i < piece.size(); ++i) ASSERT_EQ(piece[i], expected[i]) << first << " " << i;
  }
}

// A linear layer made from packed bytes gives the same results. Damaged bytes are refused.
TEST_P(LinearTest, PackedBytes) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(8);
  Matmul context;
  for (int round = 0; round < 20; ++round) {
    const LinearCase c = LinearCase::Make(&random, 70);
    const absl::StatusOr<Linear> linear = c.Create(GetParam());
    ASSERT_TRUE(linear.ok()) << linear.status();
    const absl::string_view bytes = linear->packed_bytes();
    EXPECT_EQ(bytes.size(), linear->bytes());
    auto copy = std::make_shared<AlignedBuffer<char>>(bytes.size());
    std::memcpy(copy->data(), bytes.data(), bytes.size());
    const absl::StatusOr<Linear> used =
        Linear::FromPacked(absl::MakeSpan(copy->data(), copy->size()), copy);
    ASSERT_TRUE(used.ok()) << used.status();
    RowBuffer x(5, c.in);
    RowBuffer expected(5, c.out);
    RowBuffer y(5, c.out);
    x.Fill(&random);
    context.Apply(*linear, x.span(), expected.span());
    context.Apply(*used, x.span(), y.span());
    EXPECT_EQ(
        std::memcmp(expected.data(), y.data(), 5 * sizeof(float) * static_cast<size_t>(c.out)), 0);

    // The result of undoing the packing makes the same map again. Weights of 4 bits, which no CPU
    // has to pack again, are rounded anew.
    const absl::StatusOr<PlainLinear> plain = Linear::Unpack(bytes);
    ASSERT_TRUE(plain.ok()) << plain.status();
    std::vector<TensorView> biases;
    if (!plain->bias.empty()) biases.push_back(View(plain->bias, {c.out}));
    const absl::StatusOr<Linear> again =
        Linear::Create({plain->matrix()}, biases, plain->activation, GetParam());
    ASSERT_TRUE(again.ok()) << again.status();
    const bool is_int4 = GetParam() == ComputeType::kInt4;
    EXPECT_TRUE(is_int4 || again->packed_bytes() == bytes);

    // These bytes hold the magic number, kinds and sizes.
    for (size_t i = 0; i < 32; ++i) {
      const char before = copy->data()[i];
      copy->data()[i] = static_cast<char>(before ^ (1 << random.Int(0, 7)));
      // Activation, flags and scale may have other values, and sizes of int4 those for which the
      // same number of groups is needed.
      if (i < 5 || (i > 7 && i / 4 != 4 && !(is_int4 && i < 16))) {
        EXPECT_FALSE(Linear::FromPacked(absl::MakeSpan(copy->data(), copy->size()), copy).ok())
            << i;
      }
      copy->data()[i] = before;
    }
    // Damaged layouts are never read beyond the bytes, which sanitizers would see.
    for (size_t i = 64; i < 64 + sizeof(Blocking) && !is_int4; ++i) {
      const char before = copy->data()[i];
      copy->data()[i] = static_cast<char>(before ^ (1 << random.Int(0, 7)));
      (void)Linear::Unpack({copy->data(), copy->size()});
      EXPECT_FALSE(Linear::FromPacked(absl::MakeSpan(copy->data(), copy->size()), copy).ok()) << i;
      copy->data()[i] = before;
    }
    EXPECT_FALSE(Linear::Unpack({copy->data(), copy->size() - 1}).ok());
    EXPECT_FALSE(Linear::FromPacked(absl::MakeSpan(copy->data(), copy->size() - 1), copy).ok());
    EXPECT_FALSE(Linear::FromPacked(absl::MakeSpan(copy->data(), 10), copy).ok());
  }
}

// Outputs that are chosen from blocks have the values that they have in the whole.
TEST_P(LinearTest, ChosenOutputsHaveTheValuesOfTheWhole) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(9);
  Matmul context;
  // The memory of one round is used again in the next, whatever it holds.
  HugeHeap heap;
  for (int round = 0; round < 30; ++round) {
    LinearCase c;
    c.in = round % 2 == 0 ? random.Int(1, 90) : 8 * random.Int(1, 20);
    if (round < 3) c.in = 1300 + round;
    c.out_in = random.Chance();
    const bool bias = random.Chance();
    std::vector<Linear> blocks;
    std::vector<LinearCase> cases;
    for (const int out : {70, 70, random.Int(1, 70)}) {
      LinearCase block = c;
      block.out = out;
      block.outputs = {out};
      block.weights = {random.Floats(static_cast<size_t>(c.in) * static_cast<size_t>(out))};
      if (bias) block.biases = {random.Floats(static_cast<size_t>(out))};
      auto linear = block.Create(GetParam());
      ASSERT_TRUE(linear.ok()) << linear.status();
      blocks.push_back(*std::move(linear));
      cases.push_back(std::move(block));
    }
    std::vector<int> chosen;
    const int all = 140 + cases[2].out;
    for (int n = 0; n < all; ++n) {
      if (random.Int(0, 3) == 0) chosen.push_back(n);
    }
    if (chosen.empty()) chosen.push_back(all - 1);
    const Linear some = Linear::Select(blocks, chosen, &heap);
    ASSERT_GE(some.out(), static_cast<int>(chosen.size()));
    const int rows = random.Int(1, 9);
    RowBuffer x(rows, c.in);
    RowBuffer y(rows, some.out());
    x.Fill(&random);
    context.Apply(some, x.span(), y.span());
    for (int r = 0; r < rows; ++r) {
      for (size_t j = 0; j < chosen.size(); ++j) {
        const double expected =
            cases[static_cast<size_t>(chosen[j] / 70)].Sum(x.data() + r * c.in, chosen[j] % 70);
        ASSERT_NEAR(expected, y[static_cast<size_t>(r * some.out()) + j],
                    Tolerance(GetParam(), c.in))
            << c.in << " inputs, row " << r << ", output " << chosen[j];
      }
    }
  }
}

// Packed weights say how they are laid out, so that those of a CPU that wants blocks can be undone
// on one that does not.
TEST(LinearTest, UnpacksBlocksOfAnotherCpu) {
  constexpr int kIn = 70;
  constexpr int kOut = 130;
  // BA16a64b4a: 70 x 130 is rounded up to 128 x 192.
  const Blocking part{.bytes = 128 * 192,
                      .strides = {16 * 4 * 64, 128 * 64},
                      .dims = {kIn, kOut},
                      .block_sizes = {16, 64, 4},
                      .block_dims = {0, 1, 0},
                      .blocks = 3};
  PackedHeader header{};
  header.magic = 0x326b706e;
  header.type = ComputeType::kInt8;
  header.in = kIn;
  header.out = kOut;
  header.parts = 1;
  const PackedOffsets offsets = OffsetsIn(header);
  header.size = offsets.weights + static_cast<size_t>(part.bytes);
  AlignedBuffer<char> bytes(header.size);
  std::memset(bytes.data(), 0, bytes.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), &part, sizeof(part));
  const std::vector<float> scales(kOut, 0.25f);
  std::memcpy(bytes.data() + offsets.scales, scales.data(), kOut * sizeof(float));
  std::string values;
  for (size_t n = 0; n < kOut; ++n) {
    for (size_t k = 0; k < kIn; ++k) {
      values.push_back(static_cast<char>((7 * n + 3 * k) % 256));
      // The index as int8_product.h has it, of a block of 128 inputs.
      const size_t at = n / 64 * (64 * 128) + k / 4 * 256 + n % 64 * 4 + k % 4;
      bytes.data()[offsets.weights + at] = values.back();
    }
  }
  const absl::StatusOr<PlainLinear> plain = Linear::Unpack({bytes.data(), bytes.size()});
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->values, values);
  EXPECT_EQ(plain->scales, std::vector<float>(kOut, 4.0f));
  EXPECT_TRUE(plain->bias.empty());
}

// Each output of a map is read back as it is packed.
TEST_P(LinearTest, OutputReaderReadsWhatIsPacked) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(12);
  for (int round = 0; round < 10; ++round) {
    std::vector<Linear> blocks;
    std::vector<float> expected;
    LinearCase c;
    c.in = round == 0 ? 2500 : random.Int(1, 90);
    for (const int out : {70, 70, random.Int(1, 70)}) {
      c.out = out;
      c.outputs = {out};
      c.weights = {random.Floats(static_cast<size_t>(c.in) * static_cast<size_t>(out))};
      blocks.push_back(*c.Create(GetParam()));
      const PlainLinear plain = *Linear::Unpack(blocks.back().packed_bytes());
      std::vector<float> values(static_cast<size_t>(c.in) * static_cast<size_t>(out));
      ConvertToFloat(plain.dtype, plain.values.data(), values.size(), values.data());
      for (size_t i = 0; i < values.size() && !plain.scales.empty(); ++i) {
        values[i] *= 1.0f / plain.scales[i / static_cast<size_t>(c.in)];
      }
      expected.insert(expected.end(), values.begin(), values.end());
    }
    const OutputReader reader(blocks);
    ASSERT_EQ(reader.in(), c.in);
    ASSERT_EQ(reader.out(), 140 + c.out);
    std::vector<float> row(static_cast<size_t>(c.in));
    for (int n = 0; n < reader.out(); ++n) {
      reader.Read(n, 1.0f, row.data());
      for (size_t k = 0; k < row.size(); ++k) {
        ASSERT_EQ(row[k], expected[static_cast<size_t>(n) * row.size() + k]) << n << " " << k;
      }
    }
  }
}

// With a static multiplier, inputs are rounded to steps of 1 / multiplier and clipped at 127 steps.
// CPUs with 7-bit inputs have 63 coarser steps.
TEST(LinearTest, StaticScales) {
  const std::vector<float> weights = {1, 0, 0, 1};
  const MatrixView identity{View(weights, {2, 2}), true, {}, /*activation_scale=*/12.7f};
  const absl::StatusOr<Linear> linear =
      Linear::Create({identity}, {}, Activation::kNone, ComputeType::kInt8);
  ASSERT_TRUE(linear.ok()) << linear.status();
  Matmul context;
  RowBuffer x(2, 2);
  RowBuffer y(2, 2);
  const float given[] = {1.0f, -3.13f, 50.0f, -70.0f};
  const float expected[] = {1.0f, -3.13f, 10.0f, -10.0f};
  std::copy_n(given, 4, x.data());
  context.Apply(*linear, x.span(), y.span());
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], expected[i], 0.09) << i;
}

TEST(LinearTest, TakesQuantizedWeightsAsTheyAre) {
  const std::vector<int8_t> values = {1, -2, 3, 127, -127, 5};  // [2, 3]
  const std::vector<float> scales = {2.0f, 4.0f};               // weight = value / scale
  const MatrixView matrix{{DType::kInt8, {2, 3}, values.data()}, true, scales};
  const float x[] = {0.5f, -1.0f, 0.25f};
  for (ComputeType type : {ComputeType::kFloat32, ComputeType::kInt8}) {
    const absl::StatusOr<Linear> linear = Linear::Create({matrix}, {}, Activation::kNone, type);
    ASSERT_TRUE(linear.ok()) << linear.status();
    Matmul context;
    RowBuffer in(1, 3);
    RowBuffer out(1, 2);
    std::memcpy(in.data(), x, sizeof(x));
    context.Apply(*linear, in.span(), out.span());
    EXPECT_NEAR(out[0], (0.5 + 2 + 0.75) / 2, 0.02);
    EXPECT_NEAR(out[1], (63.5 + 127 + 1.25) / 4, 0.4);
  }
}

TEST(LinearTest, RefusesWhatDoesNotFit) {
  const std::vector<float> w(6, 1.0f);
  const std::vector<float> b(2, 1.0f);
  const MatrixView matrix{View(w, {2, 3}), true, {}};
  const auto create = [](const MatrixView& m, std::vector<TensorView> biases) {
    return Linear::Create({m}, biases, Activation::kNone, ComputeType::kFloat32).status();
  };
  EXPECT_TRUE(create(matrix, {View(b, {2})}).ok());
  EXPECT_TRUE(create(matrix, {View(b, {1, 2})}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(create(matrix, {View(w, {3})})));
  EXPECT_TRUE(absl::IsInvalidArgument(create({View(w, {6}), true, {}}, {})));
  EXPECT_TRUE(absl::IsInvalidArgument(create({View(w, {0, 3}), true, {}}, {})));
  std::vector<float> nan = w;
  nan[4] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(absl::IsInvalidArgument(create({View(nan, {2, 3}), true, {}}, {})));
  std::vector<float> infinite = b;
  infinite[1] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(absl::IsInvalidArgument(create(matrix, {View(infinite, {2})})));
  EXPECT_TRUE(absl::IsInvalidArgument(Linear::Create({matrix, {View(w, {3, 2}), true, {}}}, {},
                                                     Activation::kNone, ComputeType::kFloat32)
                                          .status()));
}

}  // namespace
}  // namespace nibu::internal
