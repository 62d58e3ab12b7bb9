// Tests that a row's result does not depend on the number of rows, bit for bit. The same
// translation in every batch rests on it.
#include "engine/ops/linear.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/ops/matmul.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/linear_case.h"
#include "tests/engine/row_buffer.h"

namespace nibu::internal {
namespace {

class LinearRowsTest : public testing::TestWithParam<ComputeType> {};

INSTANTIATE_TEST_SUITE_P(Types, LinearRowsTest,
                         testing::Values(ComputeType::kFloat32, ComputeType::kBFloat16,
                                         ComputeType::kInt8, ComputeType::kInt4));

struct InvarianceShape {
  int in;
  int out;
  int most_rows;  // There are more where they are cheap.
};

TEST_P(LinearRowsTest, OneMap) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(4);
  Matmul context;
  for (const auto& [in, out, most_rows] : std::initializer_list<InvarianceShape>{
           {1, 1, 530},     {3, 2, 200},     {4, 300, 200},   {8, 7, 200},      {16, 16, 200},
           {24, 50, 200},   {40, 50, 530},   {63, 17, 200},   {64, 192, 530},   {126, 70, 200},
           {256, 256, 530}, {256, 1024, 97}, {1024, 256, 97}, {512, 2048, 200}, {1300, 40, 97},
           {1536, 512, 97}, {1500, 1, 97},   {1211, 700, 97}, {2047, 600, 97},  {2048, 1536, 97},
           {4096, 1536, 97}}) {
    LinearCase c;
    c.in = in;
    c.out = out;
    c.activation = Activation::kSwish;
    c.outputs = {out};
    c.weights = {random.Floats(static_cast<size_t>(in) * static_cast<size_t>(out))};
    c.biases = {random.Floats(static_cast<size_t>(out))};
    const absl::StatusOr<Linear> linear = c.Create(GetParam());
    ASSERT_TRUE(linear.ok()) << linear.status();
    RowBuffer x(most_rows, in);
    RowBuffer all(most_rows, out);
    x.Fill(&random);
    context.Apply(*linear, x.span(), all.span());
    for (int rows : {1,  2,  3,  4,  5,  6,   7,   8,   9,   13,  16,  17,  31,  33,  50,
                     63, 64, 65, 80, 96, 128, 129, 191, 200, 241, 255, 256, 257, 300, 529}) {
      if (rows > most_rows) break;
      const int first = random.Int(0, most_rows - rows);  // another place in the batch
      RowBuffer part(rows, in);
      RowBuffer some(rows, out);
      std::memcpy(part.data(), x.data() + first * in, part.size() * sizeof(float));
      context.Apply(*linear, part.span(), some.span());
      ASSERT_EQ(std::memcmp(all.data() + first * out, some.data(), some.size() * sizeof(float)), 0)
          << in << " -> " << out << ", " << rows << " rows, " << InstructionSet();
    }
  }
}

// The same holds for two linear layers in a row, whose hidden rows stay within the context.
TEST_P(LinearRowsTest, TwoMapsInARow) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(14);
  Matmul context;
  for (const auto& [model, inner] : {std::pair(20, 3), std::pair(2, 64), std::pair(256, 1024),
                                     std::pair(512, 2048), std::pair(1400, 1500)}) {
    std::vector<Linear> maps;
    for (const auto& [in, out] : {std::pair(model, inner), std::pair(inner, model)}) {
      LinearCase c;
      c.in = in;
      c.out = out;
      c.activation = in == model ? Activation::kRelu : Activation::kNone;
      c.outputs = {out};
      c.weights = {random.Floats(static_cast<size_t>(in) * static_cast<size_t>(out))};
      maps.push_back(*c.Create(GetParam()));
    }
    constexpr int kMost = 97;
    RowBuffer x(kMost, model);
    RowBuffer all(kMost, model);
    x.Fill(&random);
    context.ApplyPair(maps[0], maps[1], x.span(), all.span());
    for (int rows : {1, 2, 3, 8, 17, 64, 96}) {
      RowBuffer some(rows, model);
      context.ApplyPair(maps[0], maps[1], x.span().Slice(0, rows), some.span());
      ASSERT_EQ(std::memcmp(all.data(), some.data(), some.size() * sizeof(float)), 0)
          << model << ", " << inner << ", " << rows << " rows, " << InstructionSet();
    }
  }
}

// It also holds for the blocks of an output layer, the last of which may be narrow.
TEST_P(LinearRowsTest, BlocksOfAnOutputLayer) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(15);
  Matmul context;
  for (const int in : {48, 256, 1536}) {
    constexpr int kMost = 200;
    RowBuffer x(kMost, in);
    x.Fill(&random);
    std::vector<Linear> blocks;
    for (const int out : {2048, 2048, 3}) {
      LinearCase c;
      c.in = in;
      c.out = out;
      c.outputs = {out};
      c.weights = {random.Floats(static_cast<size_t>(in) * static_cast<size_t>(out))};
      blocks.push_back(*c.Create(GetParam()));
    }
    const int piece = Matmul::PieceRows(blocks[0]);
    const auto apply = [&](const Linear& block, RowBuffer* input, int first, int n) {
      RowBuffer y(n, block.out());
      context.SetInput(blocks[0], input->span());
      context.ApplyToInput(block, first, y.span());
      return y;
    };
    for (const Linear& block : blocks) {
      const auto row = static_cast<size_t>(block.out());
      for (const int first : {0, piece, 2 * piece}) {
        const int n = std::min(piece, kMost - first);
        const RowBuffer all = apply(block, &x, first, n);
        for (const int r : {0, n / 2, n - 1}) {
          RowBuffer alone(1, in);
          std::copy_n(x.span().row(first + r), in, alone.data());
          const RowBuffer one = apply(block, &alone, 0, 1);
          ASSERT_EQ(std::memcmp(all.data() + static_cast<size_t>(r) * row, one.data(),
                                row * sizeof(float)),
                    0)
              << in << " -> " << row << ", row " << first + r << ", " << InstructionSet();
        }
      }
    }
  }
}

}  // namespace
}  // namespace nibu::internal
