#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/ops/matmul.h"
#include "engine/ops/quantize.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/linear_case.h"
#include "tests/engine/testing.h"
#include "tests/sanitizers.h"

namespace nibu::internal {
namespace {

// 64 inputs and outputs, weights of 0.5.
Linear SmallLinear() {
  const std::vector<float> w(64 * 64, 0.5f);
  return *Linear::Create({MatrixView{View(w, {64, 64}), true, {}}}, {}, Activation::kNone,
                         ComputeType::kFloat32);
}

TEST(MatmulTest, CreatesPrimitivesOnce) {
  const Linear linear = SmallLinear();
  Matmul context;
  AlignedBuffer<float> x(static_cast<size_t>(Matmul::PaddedRows(300)) * 64);
  AlignedBuffer<float> y(x.size());
  std::memset(x.data(), 0, x.size() * sizeof(float));
  for (int rows = 1; rows <= 300; ++rows) context.Apply(linear, x.data(), rows, y.data());
  const int warm = context.primitives();
  EXPECT_LE(warm, 16);
  for (int rows = 1; rows <= 300; ++rows) context.Apply(linear, x.data(), rows, y.data());
  EXPECT_EQ(context.primitives(), warm);
}

// Which calls go to our own kernels is a rule; their results are oneDNN's bit for bit, whatever the
// activation, alone and in pairs.
TEST(MatmulTest, OneDnnGivesTheSameInt8) {
  class Kernels final : public MatmulObserver {
   public:
    void Observe(const MatmulCall& call) override {
      own += call.is_own_kernel ? 1 : 0;
      EXPECT_EQ(call.is_own_kernel,
                kernels == MatmulKernels::kAuto && call.linear.in() % 64 == 0 &&
                    call.linear.out() % 64 == 0 &&
                    UsesOwnKernels(call.linear.in(), call.linear.out(), call.rows, CurrentIsa()));
    }
    MatmulKernels kernels = MatmulKernels::kAuto;
    int own = 0;
  };
  Random random(5);
  int own = 0;
  for (int round = 0; round < 60; ++round) {
    const int in = random.Chance() ? 64 * random.Int(1, 9) : random.Int(1, 300);
    const int hidden = random.Chance() ? 64 * random.Int(1, 9) : random.Int(1, 300);
    const int rows = random.Int(1, 250);
    const auto linear = [&](int from, int to) {
      LinearCase c = LinearCase::Make(&random, 4);
      c.in = from;
      c.out = to;
      c.outputs = {to};
      c.weights = {random.Floats(static_cast<size_t>(from) * static_cast<size_t>(to))};
      c.biases = {random.Floats(static_cast<size_t>(to))};
      return *c.Create(ComputeType::kInt8);
    };
    const Linear up = linear(in, hidden);
    const Linear down = linear(hidden, in);
    const auto room = static_cast<size_t>(Matmul::PaddedRows(rows));
    const auto width = static_cast<size_t>(std::max(in, hidden));
    AlignedBuffer<float> x(room * width);
    for (size_t i = 0; i < x.size(); ++i) x[i] = random.Float();
    std::vector<float> results[2];
    for (const MatmulKernels kernels : {MatmulKernels::kAuto, MatmulKernels::kOneDnn}) {
      Kernels observer;
      observer.kernels = kernels;
      Matmul matmul(kernels);
      matmul.SetObserver(&observer);
      AlignedBuffer<float> y(room * width);
      std::vector<float>& all = results[kernels == MatmulKernels::kAuto ? 0 : 1];
      matmul.Apply(up, x.data(), rows, y.data());
      all.insert(all.end(), y.data(), y.data() + rows * hidden);
      matmul.ApplyPair(up, down, x.data(), rows, y.data());
      all.insert(all.end(), y.data(), y.data() + rows * in);
      own += observer.own;
    }
    ASSERT_EQ(results[0], results[1]) << in << " x " << hidden << ", " << rows << " rows";
  }
  EXPECT_EQ(own > 0, CurrentIsa() >= Isa::kAvx512Vnni);
}

// OpenMP would end the process.
TEST(MatmulTest, WithoutAThreadToShareWith) {
  if (kAddressSanitizer) GTEST_SKIP() << "a sanitizer's threads have a stack of their own";
  const Linear linear = SmallLinear();
  std::thread([&] {  // whose OpenMP has no threads yet
    pthread_attr_t usual;
    pthread_attr_t endless;
    ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
    ASSERT_EQ(pthread_attr_init(&endless), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&endless, size_t{1} << 47), 0);
    ASSERT_EQ(pthread_setattr_default_np(&endless), 0);
    EXPECT_THROW(std::thread([] {}), std::system_error);
    Matmul context;
    context.SetThreads(2);
    const std::vector<float> x(64 * Matmul::kMostRows, 1.0f);
    std::vector<float> y(x.size());
    context.Apply(linear, x.data(), Matmul::kMostRows, y.data());
    EXPECT_EQ(y, std::vector<float>(x.size(), 32.0f));
    ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
  })
      .join();
}

// A matrix in bfloat16, and what is left of its numbers.
struct BFloat16Matrix {
  BFloat16Matrix(Random* random, size_t size) : values(random->Floats(size)), bits(size) {
    RoundToBFloat16(values.data(), size, bits.data());
    for (size_t i = 0; i < size; ++i) {
      const uint32_t wide = static_cast<uint32_t>(bits[i]) << 16;
      std::memcpy(&values[i], &wide, sizeof(float));
    }
  }
  std::vector<float> values;
  AlignedBuffer<uint16_t> bits;
};

TEST(MatmulTest, MultiplyEqualsTheDefinition) {
  if (!IsSupported(ComputeType::kBFloat16)) {
    GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  }
  Random random(31);
  Matmul context;
  context.SetThreads(2);  // which products do not use
  for (int round = 0; round < 40; ++round) {
    const bool transposed = random.Chance();
    const int m = 32 * random.Int(1, 2);
    const int k = transposed ? random.Int(1, 80) : 32 * random.Int(1, 8);
    const int n = transposed ? 32 * random.Int(1, 8) : random.Int(1, 80);
    const auto columns = static_cast<size_t>(n);
    const auto inner = static_cast<size_t>(k);
    const BFloat16Matrix a(&random, static_cast<size_t>(m) * inner);
    const BFloat16Matrix b(&random, inner * columns);
    AlignedBuffer<float> y(static_cast<size_t>(m) * columns);
    context.MultiplyBFloat16(a.bits.data(), b.bits.data(), transposed, m, k, n, y.data());
    for (size_t r = 0; r < static_cast<size_t>(m); ++r) {
      for (size_t c = 0; c < columns; ++c) {
        double sum = 0;
        for (size_t i = 0; i < inner; ++i) {
          sum += static_cast<double>(a.values[r * inner + i]) *
                 static_cast<double>(b.values[transposed ? c * inner + i : i * columns + c]);
        }
        ASSERT_NEAR(y[r * columns + c], sum, 1e-4) << m << " x " << k << " x " << n;
      }
    }
  }
}

}  // namespace
}  // namespace nibu::internal
