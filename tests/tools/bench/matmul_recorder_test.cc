// Tests of MatmulRecorder: the matmuls of a run are repeated with their rows and output types.
#include "tools/bench/matmul_recorder.h"

#include <algorithm>
#include <memory_resource>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/ops/cpu.h"
#include "gtest/gtest.h"
#include "tests/engine/row_buffer.h"

namespace nibu::internal {
namespace {

static_assert(!std::is_copy_constructible_v<MatmulRecorder>);
static_assert(std::is_nothrow_move_constructible_v<MatmulRecorder>);

Linear Ones(int in, int out, ComputeType type) {
  const std::vector<float> w(static_cast<size_t>(in) * static_cast<size_t>(out), 1.0f);
  const MatrixView matrix{{DType::kFloat32, {out, in}, w.data()}, true, {}};
  const TensorView bias{DType::kFloat32, {out}, w.data()};
  return *Linear::Create({matrix}, {bias}, Activation::kNone, type);
}

// The products of many rows take longer than those of few, also when they are repeated. Weights
// that belonged to a sentence may be gone by then.
TEST(MatmulRecorderTest, RunsProductsAgain) {
  for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kInt8}) {
    std::vector<MatmulRecorder> recorders(2);
    const Linear linear = Ones(256, 512, type);
    for (size_t i = 0; i < 2; ++i) {
      const int rows = i == 0 ? 500 : 10;
      Matmul matmul;
      matmul.SetObserver(&recorders[i]);
      RowBuffer x(rows, 256);
      RowBuffer y(rows, 512);
      std::fill_n(x.data(), x.size(), 1.0f);
      for (int times = 0; times < 50; ++times) matmul.Apply(linear, x.span(), y.span());
      const std::vector<int> outputs(64, 3);
      const Linear some = Linear::Select({&linear, 1}, outputs, std::pmr::new_delete_resource());
      RowBuffer selected(rows, some.out());
      matmul.Apply(some, x.span(), selected.span());
    }
    EXPECT_EQ(recorders[1].calls(), 51u);
    EXPECT_GT(recorders[0].calls(), 51u);  // Many rows are cut into pieces.
    EXPECT_GT(recorders[0].seconds(), recorders[1].seconds());
    const double floor = *recorders[0].Replay(MatmulKernels::kAuto);
    EXPECT_GT(*recorders[1].Replay(MatmulKernels::kOneDnn), 0);
    EXPECT_GT(floor, *recorders[1].Replay(MatmulKernels::kAuto));
    EXPECT_GT(*MatmulFloor(recorders, MatmulKernels::kAuto), 0);
    const MatmulRecorder moved = std::move(recorders[0]);
    recorders[0].Clear();
    EXPECT_EQ(recorders[0].calls(), 0u);
    EXPECT_EQ(*recorders[0].Replay(MatmulKernels::kAuto), 0);
    EXPECT_GT(*moved.Replay(MatmulKernels::kAuto), 0);
  }
}

// Keeps the types in which the results of calls were requested.
class Outputs final : public MatmulObserver {
 public:
  void Observe(const MatmulCall& call) override {
    all.push_back(call.output);
    recorder.Observe(call);
  }
  std::vector<DType> all;
  MatmulRecorder recorder;
};

// A bfloat16 hidden layer is written in bfloat16, for which oneDNN has other primitives than for
// float32.
TEST(MatmulRecorderTest, RunsProductsWithTheirOutputType) {
  if (!IsSupported(ComputeType::kBFloat16)) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  const Linear up = Ones(64, 128, ComputeType::kBFloat16);
  const Linear down = Ones(128, 64, ComputeType::kBFloat16);
  Outputs outputs;
  Matmul matmul;
  matmul.SetObserver(&outputs);
  RowBuffer x(8, 64);
  RowBuffer y(8, 64);
  std::fill_n(x.data(), x.size(), 1.0f);
  matmul.ApplyPair(up, down, x.span(), y.span());
  EXPECT_EQ(outputs.all, std::vector<DType>({DType::kBFloat16, DType::kFloat32}));
  EXPECT_EQ(outputs.recorder.own_calls(), 0u);
  EXPECT_GT(*outputs.recorder.Replay(MatmulKernels::kAuto), 0);
}

// 10 rows x 4 x 8 take 640 operations, and one row as many bytes as its weights have.
TEST(MatmulRecorderTest, LimitOfProducts) {
  const Linear linear = Ones(4, 8, ComputeType::kFloat32);
  MatmulRecorder recorder;
  recorder.Observe({linear, 10, DType::kFloat32, /*threads=*/1, false, 0});
  EXPECT_EQ(recorder.weight_bytes(), 128u);
  EXPECT_DOUBLE_EQ(recorder.Limit({.operations_per_second = 64, .bytes_per_second = 64}), 10);
  recorder.Observe({linear, 1, DType::kFloat32, /*threads=*/2, false, 0});
  EXPECT_EQ(recorder.weight_bytes(), 128u);
  EXPECT_DOUBLE_EQ(recorder.Limit({.operations_per_second = 64, .bytes_per_second = 64}), 10 + 1);
}

TEST(MatmulRecorderTest, PeaksArePositive) {
  for (const size_t bytes : {size_t{0}, size_t{5} << 20}) {
    const MachinePeak peak = *MeasurePeak(ComputeType::kInt8, MatmulKernels::kAuto, 2, bytes);
    EXPECT_GT(peak.operations_per_second, 0);
    EXPECT_GT(peak.bytes_per_second, 0);
  }
}

}  // namespace
}  // namespace nibu::internal
