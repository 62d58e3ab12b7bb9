#include "engine/ops/linear.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/testing.h"

namespace nibu {
namespace {

double Activate(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kGelu:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kGeluSigmoid:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::kSwish:
      return x / (1 + std::exp(-x));
  }
  return 0;
}

constexpr Activation kActivations[] = {Activation::kNone,        Activation::kRelu,
                                       Activation::kGelu,        Activation::kGeluTanh,
                                       Activation::kGeluSigmoid, Activation::kSwish};

// Some matrices joined, and what the map of them is.
struct Case {
  int in = 0;
  int out = 0;
  bool out_in = true;
  Activation activation = Activation::kNone;
  std::vector<std::vector<float>> weights;
  std::vector<std::vector<float>> biases;
  std::vector<int> outputs;

  static Case Make(Random* random, int most) {
    Case c;
    c.in = random->Int(1, most);
    c.out_in = random->Chance();
    c.activation = kActivations[random->Int(0, 5)];
    const bool bias = random->Chance();
    const int matrices = random->Int(1, 3);
    for (int m = 0; m < matrices; ++m) {
      c.outputs.push_back(random->Int(1, most));
      c.out += c.outputs.back();
      c.weights.push_back(
          random->Floats(static_cast<size_t>(c.in) * static_cast<size_t>(c.outputs.back())));
      if (bias) c.biases.push_back(random->Floats(static_cast<size_t>(c.outputs.back())));
    }
    return c;
  }

  void SetInputs(int inputs, Random* random) {
    in = inputs;
    for (size_t m = 0; m < weights.size(); ++m) {
      weights[m] = random->Floats(static_cast<size_t>(in) * static_cast<size_t>(outputs[m]));
    }
  }

  absl::StatusOr<Linear> Create(ComputeType type) const {
    std::vector<MatrixView> matrices;
    std::vector<TensorView> bias_views;
    for (size_t m = 0; m < weights.size(); ++m) {
      const Shape shape = out_in ? Shape{outputs[m], in} : Shape{in, outputs[m]};
      matrices.push_back({View(weights[m], shape), out_in, {}});
      if (!biases.empty()) bias_views.push_back(View(biases[m], {outputs[m]}));
    }
    return Linear::Create(matrices, bias_views, activation, type);
  }

  // Before the activation.
  double Sum(const float* x, int output) const {
    size_t m = 0;
    while (output >= outputs[m]) output -= outputs[m++];
    double sum = biases.empty() ? 0 : static_cast<double>(biases[m][static_cast<size_t>(output)]);
    for (int k = 0; k < in; ++k) {
      const int index = out_in ? output * in + k : k * outputs[m] + output;
      sum +=
          static_cast<double>(x[k]) * static_cast<double>(weights[m][static_cast<size_t>(index)]);
    }
    return sum;
  }
};

double Tolerance(ComputeType type, int in) {
  const double n = std::sqrt(static_cast<double>(in));
  if (type == ComputeType::kFloat32) return 1e-5 * n;
  return (type == ComputeType::kBFloat16 ? 0.02 : 0.03) * n;
}

class LinearTest : public testing::TestWithParam<ComputeType> {};

INSTANTIATE_TEST_SUITE_P(Types, LinearTest,
                         testing::Values(ComputeType::kFloat32, ComputeType::kBFloat16,
                                         ComputeType::kInt8));

TEST_P(LinearTest, EqualsTheDefinition) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(3);
  MatmulContext context;
  for (int round = 0; round < 64; ++round) {
    Case c = Case::Make(&random, round < 40 ? 40 : 300);
    if (round >= 60) c.SetInputs(random.Int(1281, 4500), &random);  // long reductions may be cut
    const absl::StatusOr<Linear> linear = c.Create(GetParam());
    ASSERT_TRUE(linear.ok()) << linear.status();
    EXPECT_EQ(linear->in(), c.in);
    EXPECT_EQ(linear->out(), c.out);
    const int rows = random.Int(1, 40);
    const auto room = static_cast<size_t>(MatmulContext::PaddedRows(rows));
    AlignedBuffer<float> x(room * static_cast<size_t>(c.in));
    AlignedBuffer<float> y(room * static_cast<size_t>(c.out));
    for (size_t i = 0; i < x.size(); ++i) x[i] = random.Float();
    context.Apply(*linear, x.data(), rows, y.data());
    for (int r = 0; r < rows; ++r) {
      for (int n = 0; n < c.out; ++n) {
        const double expected = Activate(c.activation, c.Sum(x.data() + r * c.in, n));
        ASSERT_NEAR(expected, y[static_cast<size_t>(r * c.out + n)], Tolerance(GetParam(), c.in))
            << c.in << " -> " << c.out << ", row " << r << " of " << rows << ", column " << n;
      }
    }
  }
}

struct InvarianceShape {
  int in;
  int out;
  int most_rows;  // more where it is cheap
};

// Bit for bit: what batch invariance rests on.
TEST_P(LinearTest, ARowsResultDoesNotDependOnTheNumberOfRows) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(4);
  MatmulContext context;
  for (const auto& [in, out, most_rows] : std::initializer_list<InvarianceShape>{
           {1, 1, 530},     {3, 2, 200},     {4, 300, 200},   {8, 7, 200},      {16, 16, 200},
           {24, 50, 200},   {40, 50, 530},   {63, 17, 200},   {64, 192, 530},   {126, 70, 200},
           {256, 256, 530}, {256, 1024, 97}, {1024, 256, 97}, {512, 2048, 200}, {1300, 40, 97},
           {1536, 512, 97}, {1500, 1, 97},   {1211, 700, 97}, {2047, 600, 97},  {2048, 1536, 97},
           {4096, 1536, 97}}) {
    Case c;
    c.in = in;
    c.out = out;
    c.activation = Activation::kSwish;
    c.outputs = {out};
    c.weights = {random.Floats(static_cast<size_t>(in) * static_cast<size_t>(out))};
    c.biases = {random.Floats(static_cast<size_t>(out))};
    const absl::StatusOr<Linear> linear = c.Create(GetParam());
    ASSERT_TRUE(linear.ok()) << linear.status();
    const auto room = static_cast<size_t>(MatmulContext::PaddedRows(most_rows));
    AlignedBuffer<float> x(room * static_cast<size_t>(in));
    AlignedBuffer<float> all(room * static_cast<size_t>(out));
    for (size_t i = 0; i < x.size(); ++i) x[i] = random.Float();
    context.Apply(*linear, x.data(), most_rows, all.data());
    for (int rows : {1,  2,  3,  4,  5,  6,   7,   8,   9,   13,  16,  17,  31,  33,  50,
                     63, 64, 65, 80, 96, 128, 129, 191, 200, 241, 255, 256, 257, 300, 529}) {
      if (rows > most_rows) break;
      const int first = random.Int(0, most_rows - rows);  // another place in the batch
      const auto some_rows = static_cast<size_t>(MatmulContext::PaddedRows(rows));
      AlignedBuffer<float> part(some_rows * static_cast<size_t>(in));
      AlignedBuffer<float> some(some_rows * static_cast<size_t>(out));
      std::memset(part.data(), 0, part.size() * sizeof(float));
      std::memcpy(part.data(), x.data() + first * in,
                  static_cast<size_t>(rows) * static_cast<size_t>(in) * sizeof(float));
      context.Apply(*linear, part.data(), rows, some.data());
      ASSERT_EQ(std::memcmp(all.data() + first * out, some.data(),
                            static_cast<size_t>(rows) * static_cast<size_t>(out) * sizeof(float)),
                0)
          << in << " -> " << out << ", " << rows << " rows, " << InstructionSet();
    }
  }
}

// The same for two maps in a row, whose hidden layer never leaves the context.
TEST_P(LinearTest, BothDoNotDependOnTheNumberOfRows) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(14);
  MatmulContext context;
  for (const auto& [model, inner] : {std::pair(20, 3), std::pair(2, 64), std::pair(256, 1024),
                                     std::pair(512, 2048), std::pair(1400, 1500)}) {
    std::vector<Linear> maps;
    for (const auto& [in, out] : {std::pair(model, inner), std::pair(inner, model)}) {
      Case c;
      c.in = in;
      c.out = out;
      c.activation = in == model ? Activation::kRelu : Activation::kNone;
      c.outputs = {out};
      c.weights = {random.Floats(static_cast<size_t>(in) * static_cast<size_t>(out))};
      maps.push_back(*c.Create(GetParam()));
    }
    constexpr int kMost = 97;
    const auto columns = static_cast<size_t>(model);
    AlignedBuffer<float> x(static_cast<size_t>(MatmulContext::PaddedRows(kMost)) * columns);
    AlignedBuffer<float> all(x.size());
    AlignedBuffer<float> some(x.size());
    for (size_t i = 0; i < x.size(); ++i) x[i] = random.Float();
    context.ApplyBoth(maps[0], maps[1], x.data(), kMost, all.data());
    for (int rows : {1, 2, 3, 8, 17, 64, 96}) {
      context.ApplyBoth(maps[0], maps[1], x.data(), rows, some.data());
      ASSERT_EQ(
          std::memcmp(all.data(), some.data(), static_cast<size_t>(rows) * columns * sizeof(float)),
          0)
          << model << ", " << inner << ", " << rows << " rows, " << InstructionSet();
    }
  }
}

// And for the blocks of an output layer, the last of which may be narrow.
TEST_P(LinearTest, BlocksDoNotDependOnTheNumberOfRows) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(15);
  MatmulContext context;
  for (const int in : {48, 256, 1536}) {
    constexpr int kMost = 200;
    constexpr int kPiece = MatmulContext::kMostRows;
    const auto columns = static_cast<size_t>(in);
    AlignedBuffer<float> x(static_cast<size_t>(MatmulContext::PaddedRows(kMost)) * columns);
    for (size_t i = 0; i < x.size(); ++i) x[i] = random.Float();
    std::vector<Linear> blocks;
    for (const int out : {2048, 2048, 3}) {
      Case c;
      c.in = in;
      c.out = out;
      c.outputs = {out};
      c.weights = {random.Floats(columns * static_cast<size_t>(out))};
      blocks.push_back(*c.Create(GetParam()));
    }
    const auto apply = [&](const Linear& block, const float* input, int rows, int first, int n) {
      AlignedBuffer<float> y(static_cast<size_t>(MatmulContext::PaddedRows(n)) *
                             static_cast<size_t>(block.out()));
      context.SetInput(blocks[0], input, rows);
      context.ApplyToInput(block, first, n, y.data());
      return y;
    };
    for (const Linear& block : blocks) {
      const auto row = static_cast<size_t>(block.out());
      for (const int first : {0, kPiece, 2 * kPiece}) {
        const int n = std::min(kPiece, kMost - first);
        const AlignedBuffer<float> all = apply(block, x.data(), kMost, first, n);
        for (const int r : {0, n / 2, n - 1}) {
          AlignedBuffer<float> alone(static_cast<size_t>(MatmulContext::PaddedRows(1)) * columns);
          std::memset(alone.data(), 0, alone.size() * sizeof(float));
          std::copy_n(x.data() + static_cast<size_t>(first + r) * columns, columns, alone.data());
          const AlignedBuffer<float> one = apply(block, alone.data(), 1, 0, 1);
          ASSERT_EQ(std::memcmp(all.data() + static_cast<size_t>(r) * row, one.data(),
                                row * sizeof(float)),
                    0)
              << in << " -> " << row << ", row " << first + r << ", " << InstructionSet();
        }
      }
    }
  }
}

TEST_P(LinearTest, BothEqualsOneAfterTheOther) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(5);
  MatmulContext context;
  for (int round = 0; round < 10; ++round) {
    Case up = Case::Make(&random, 60);
    Case down = Case::Make(&random, 60);
    down.SetInputs(up.out, &random);
    const Linear first = *up.Create(GetParam());
    const Linear second = *down.Create(GetParam());
    const int rows = random.Int(1, 40);
    const auto room = static_cast<size_t>(MatmulContext::PaddedRows(rows));
    AlignedBuffer<float> x(room * static_cast<size_t>(up.in));
    AlignedBuffer<float> hidden(room * static_cast<size_t>(up.out));
    AlignedBuffer<float> expected(room * static_cast<size_t>(down.out));
    AlignedBuffer<float> both(room * static_cast<size_t>(down.out));
    for (size_t i = 0; i < x.size(); ++i) x[i] = random.Float();
    context.Apply(first, x.data(), rows, hidden.data());
    context.Apply(second, hidden.data(), rows, expected.data());
    context.ApplyBoth(first, second, x.data(), rows, both.data());
    for (size_t i = 0; i < static_cast<size_t>(rows) * static_cast<size_t>(down.out); ++i) {
      ASSERT_NEAR(expected[i], both[i], 1e-2 * std::abs(expected[i]) + 1e-2);
    }
  }
}

// Two threads in a matmul give what one does, to the bit where sums are exact.
TEST_P(LinearTest, Threads) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(9);
  MatmulContext context;
  for (int round = 0; round < 10; ++round) {
    const Case c = Case::Make(&random, 300);
    const Linear linear = *c.Create(GetParam());
    const int rows = random.Int(1, 5);
    const auto room = static_cast<size_t>(MatmulContext::PaddedRows(rows));
    AlignedBuffer<float> x(room * static_cast<size_t>(c.in));
    AlignedBuffer<float> one(room * static_cast<size_t>(c.out));
    AlignedBuffer<float> two(room * static_cast<size_t>(c.out));
    for (size_t i = 0; i < x.size(); ++i) x[i] = random.Float();
    context.SetThreads(1);
    context.Apply(linear, x.data(), rows, one.data());
    context.SetThreads(2);
    context.Apply(linear, x.data(), rows, two.data());
    const float tolerance = GetParam() == ComputeType::kInt8 ? 0.0f : 1e-3f;
    for (size_t i = 0; i < static_cast<size_t>(rows) * static_cast<size_t>(c.out); ++i) {
      ASSERT_NEAR(one[i], two[i], tolerance * (1 + std::abs(one[i])));
    }
  }
}

// Maps of one input, in pieces of it, are the same as each by itself.
TEST_P(LinearTest, ApplyToInput) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(10);
  MatmulContext context;
  Case c = Case::Make(&random, 70);
  const Linear linear = *c.Create(GetParam());
  const int rows = 230;
  const auto room = static_cast<size_t>(MatmulContext::PaddedRows(rows));
  const auto out = static_cast<size_t>(c.out);
  AlignedBuffer<float> x(room * static_cast<size_t>(c.in));
  AlignedBuffer<float> all(room * out);
  AlignedBuffer<float> piece(static_cast<size_t>(MatmulContext::PaddedRows(96)) * out);
  for (size_t i = 0; i < x.size(); ++i) x[i] = random.Float();
  context.Apply(linear, x.data(), rows, all.data());
  context.SetInput(linear, x.data(), rows);
  for (const auto& [first, n] : {std::pair(0, 96), std::pair(96, 96), std::pair(192, 38)}) {
    context.ApplyToInput(linear, first, n, piece.data());
    for (size_t i = 0; i < static_cast<size_t>(n) * out; ++i) {
      ASSERT_EQ(piece[i], all[static_cast<size_t>(first) * out + i]) << first << " " << i;
    }
  }
}

// Written out and used from there, a map stays the same; damaged, it is refused.
TEST_P(LinearTest, PackedBytes) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(8);
  MatmulContext context;
  for (int round = 0; round < 20; ++round) {
    const Case c = Case::Make(&random, 70);
    const absl::StatusOr<Linear> linear = c.Create(GetParam());
    ASSERT_TRUE(linear.ok()) << linear.status();
    const absl::string_view bytes = linear->packed_bytes();
    EXPECT_EQ(bytes.size(), linear->bytes());
    auto copy = std::make_shared<AlignedBuffer<char>>(bytes.size());
    std::memcpy(copy->data(), bytes.data(), bytes.size());
    const absl::StatusOr<Linear> used =
        Linear::FromPacked(absl::MakeSpan(copy->data(), copy->size()), copy);
    ASSERT_TRUE(used.ok()) << used.status();
    const auto room = static_cast<size_t>(MatmulContext::PaddedRows(5));
    AlignedBuffer<float> x(room * static_cast<size_t>(c.in));
    AlignedBuffer<float> expected(room * static_cast<size_t>(c.out));
    AlignedBuffer<float> y(room * static_cast<size_t>(c.out));
    for (size_t i = 0; i < x.size(); ++i) x[i] = random.Float();
    context.Apply(*linear, x.data(), 5, expected.data());
    context.Apply(*used, x.data(), 5, y.data());
    EXPECT_EQ(
        std::memcmp(expected.data(), y.data(), 5 * sizeof(float) * static_cast<size_t>(c.out)), 0);

    for (size_t i = 0; i < 40; ++i) {  // magic, kinds, sizes, layout
      const char before = copy->data()[i];
      copy->data()[i] = static_cast<char>(before ^ (1 << random.Int(0, 7)));
      if (i < 5 || (i > 7 && i / 4 != 4)) {  // activation, flags and scale may be others
        EXPECT_FALSE(Linear::FromPacked(absl::MakeSpan(copy->data(), copy->size()), copy).ok())
            << i;
      }
      copy->data()[i] = before;
    }
    EXPECT_FALSE(Linear::FromPacked(absl::MakeSpan(copy->data(), copy->size() - 1), copy).ok());
    EXPECT_FALSE(Linear::FromPacked(absl::MakeSpan(copy->data(), 10), copy).ok());
  }
}

// Chosen outputs of a map in blocks are what they are in the whole.
TEST_P(LinearTest, Select) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(9);
  MatmulContext context;
  for (int round = 0; round < 30; ++round) {
    Case c;
    c.in = round % 2 == 0 ? random.Int(1, 90) : 8 * random.Int(1, 20);
    if (round < 3) c.in = 1300 + round;
    c.out_in = random.Chance();
    const bool bias = random.Chance();
    std::vector<Linear> blocks;
    std::vector<Case> cases;
    for (const int out : {70, 70, random.Int(1, 70)}) {
      Case block = c;
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
    const Linear some = Linear::Select(blocks, chosen);
    ASSERT_GE(some.out(), static_cast<int>(chosen.size()));
    const int rows = random.Int(1, 9);
    const auto room = static_cast<size_t>(MatmulContext::PaddedRows(rows));
    AlignedBuffer<float> x(room * static_cast<size_t>(c.in));
    AlignedBuffer<float> y(room * static_cast<size_t>(some.out()));
    for (size_t i = 0; i < x.size(); ++i) x[i] = random.Float();
    context.Apply(some, x.data(), rows, y.data());
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

// Static multipliers: inputs are rounded to steps of 1 / multiplier and clipped at 127 of them (or
// to the coarser steps of CPUs that have 63).
TEST(LinearTest, StaticScales) {
  const std::vector<float> weights = {1, 0, 0, 1};
  const MatrixView identity{View(weights, {2, 2}), true, {}, /*activation_scale=*/12.7f};
  const absl::StatusOr<Linear> linear =
      Linear::Create({identity}, {}, Activation::kNone, ComputeType::kInt8);
  ASSERT_TRUE(linear.ok()) << linear.status();
  MatmulContext context;
  const auto room = static_cast<size_t>(MatmulContext::PaddedRows(2));
  AlignedBuffer<float> x(2 * room);
  AlignedBuffer<float> y(2 * room);
  const float given[] = {1.0f, -3.13f, 50.0f, -70.0f};
  const float expected[] = {1.0f, -3.13f, 10.0f, -10.0f};
  std::copy_n(given, 4, x.data());
  context.Apply(*linear, x.data(), 2, y.data());
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
    MatmulContext context;
    AlignedBuffer<float> in(static_cast<size_t>(MatmulContext::PaddedRows(1)) * 3);
    AlignedBuffer<float> out(static_cast<size_t>(MatmulContext::PaddedRows(1)) * 2);
    std::memcpy(in.data(), x, sizeof(x));
    context.Apply(*linear, in.data(), 1, out.data());
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
}  // namespace nibu
