// Tests of Matmul: primitives are created once, our own int8 kernels give oneDNN's results, and a
// thread that cannot be created is not needed.
#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/ops/backend/int8_rows.h"
#include "engine/ops/matmul.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/linear_case.h"
#include "tests/engine/row_buffer.h"
#include "tests/engine/testing.h"
#include "tests/sanitizers.h"

namespace nibu::internal {
namespace {

// Returns a linear layer of 64 inputs and outputs whose weights are all 0.5.
Linear SmallLinear() {
  const std::vector<float> w(64 * 64, 0.5f);
  return *Linear::Create({MatrixView{View(w, {64, 64}), true, {}}}, {}, Activation::kNone,
                         ComputeType::kFloat32);
}

TEST(MatmulTest, CreatesPrimitivesOnce) {
  const Linear linear = SmallLinear();
  Matmul matmul;
  RowBuffer x(300, 64);
  RowBuffer y(300, 64);
  const auto apply_all = [&] {
    for (int rows = 1; rows <= 300; ++rows) {
      matmul.Apply(linear, x.span().Slice(0, rows), y.span().Slice(0, rows));
    }
  };
  apply_all();
  const int warm = matmul.primitives();
  EXPECT_LE(warm, 16);
  apply_all();
  EXPECT_EQ(matmul.primitives(), warm);
}

// A rule says which calls go to our own kernels. Their results are oneDNN's bit for bit, with every
// activation, for single layers and for pairs.
TEST(MatmulTest, OneDnnGivesTheSameInt8) {
  class Kernels final : public MatmulObserver {
   public:
    void Observe(const MatmulCall& call) override {
      own += call.is_own_kernel ? 1 : 0;
      // OneDNN chooses whether there are plain rows, which the kernels of few rows need.
      const bool may_be_own = HasInt8Rows(CurrentIsa()) && call.rows <= kMostInt8Rows &&
                              kernels == MatmulKernels::kAuto;
      if (may_be_own) return;
      EXPECT_EQ(call.is_own_kernel, kernels == MatmulKernels::kAuto &&
                                        CurrentIsa() >= Isa::kAvx512Vnni &&
                                        call.linear.in() % 64 == 0 && call.linear.out() % 64 == 0);
    }
    MatmulKernels kernels = MatmulKernels::kAuto;
    int own = 0;
  };
  Random random(5);
  int own = 0;
  for (int round = 0; round < 60; ++round) {
    const int in = random.Chance() ? 64 * random.Int(1, 9) : random.Int(1, 300);
    const int hidden = random.Chance() ? 64 * random.Int(1, 9) : random.Int(1, 300);
    const int rows = random.Int(1, round % 3 == 0 ? 5 : 250);
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
    RowBuffer x(rows, in);
    x.Fill(&random);
    std::vector<float> results[2];
    for (const MatmulKernels kernels : {MatmulKernels::kAuto, MatmulKernels::kOneDnn}) {
      Kernels observer;
      observer.kernels = kernels;
      Matmul matmul(kernels);
      matmul.SetObserver(&observer);
      RowBuffer between(rows, hidden);
      RowBuffer y(rows, in);
      std::vector<float>& all = results[kernels == MatmulKernels::kAuto ? 0 : 1];
      matmul.Apply(up, x.span(), between.span());
      all.insert(all.end(), between.data(), between.data() + between.size());
      matmul.ApplyPair(up, down, x.span(), y.span());
      all.insert(all.end(), y.data(), y.data() + y.size());
      own += observer.own;
    }
    ASSERT_EQ(results[0], results[1]) << in << " x " << hidden << ", " << rows << " rows";
  }
  const bool is_open = HasInt8Rows(CurrentIsa());
  EXPECT_TRUE(is_open || (own > 0) == (CurrentIsa() >= Isa::kAvx512Vnni)) << own;
}

// Where no thread can be created, OpenMP would end the process.
TEST(MatmulTest, WithoutAThreadToShareWith) {
  if (kAddressSanitizer) GTEST_SKIP() << "a sanitizer's threads have a stack of their own";
  const Linear linear = SmallLinear();
  std::thread([&] {  // This thread has no threads of OpenMP yet.
    pthread_attr_t usual;
    pthread_attr_t endless;
    ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
    ASSERT_EQ(pthread_attr_init(&endless), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&endless, size_t{1} << 47), 0);
    ASSERT_EQ(pthread_setattr_default_np(&endless), 0);
    EXPECT_THROW(std::thread([] {}), std::system_error);
    Matmul matmul;
    matmul.SetThreads(2);
    RowBuffer x(Matmul::kMostRows, 64);
    RowBuffer y(Matmul::kMostRows, 64);
    std::fill_n(x.data(), x.size(), 1.0f);
    matmul.Apply(linear, x.span(), y.span());
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 32.0f);
    ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
  })
      .join();
}

}  // namespace
}  // namespace nibu::internal
