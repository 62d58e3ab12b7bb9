#include "tools/bench/matmul_recorder.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "engine/core/aligned_buffer.h"
#include "engine/core/profile.h"

namespace nibu::internal {
namespace {

// Returns a map of the shape and type of another one.
Linear StandIn(const Linear& linear) {
  const std::vector<float> zeros(static_cast<size_t>(linear.in()) *
                                 static_cast<size_t>(linear.out()));
  const MatrixView matrix{
      {DType::kFloat32, {linear.out(), linear.in()}, zeros.data()}, /*out_in=*/true, {}};
  return *Linear::Create({matrix}, {}, Activation::kNone, linear.compute_type());
}

}  // namespace

void MatmulRecorder::Clear() { *this = MatmulRecorder(); }

void MatmulRecorder::Observe(const MatmulCall& call) {
  const Linear& linear = call.linear;
  const void* const identity = linear.is_selected() ? nullptr : linear.packed().get();
  const WeightsKey key(identity, linear.in(), linear.out(), linear.compute_type());
  auto found = weights_.find(key);
  if (found == weights_.end()) {
    found = weights_.emplace(key, linear.is_selected() ? StandIn(linear) : linear).first;
  }
  order_.push_back({&found->second, call.rows, call.threads});
  own_calls_ += call.is_own_kernel ? 1 : 0;
  seconds_ += call.seconds;
}

double MatmulRecorder::Replay(MatmulKernels kernels) const {
  constexpr size_t kReplays = 3;       // of which the median counts
  constexpr double kLongEnough = 0.2;  // seconds of all of them
  const auto rows = static_cast<size_t>(Matmul::PaddedRows(Matmul::kMostRows));
  size_t in = 0;
  size_t out = 0;
  for (const auto& [key, linear] : weights_) {
    in = std::max(in, static_cast<size_t>(linear.in()));
    out = std::max(out, static_cast<size_t>(linear.out()));
  }
  AlignedBuffer<float> x(rows * in);
  AlignedBuffer<float> y(rows * out);
  std::memset(x.data(), 0, x.size() * sizeof(float));
  std::memset(y.data(), 0, y.size() * sizeof(float));
  const std::vector<float> scales(rows, 1.0f);
  Matmul matmul(kernels);
  const auto replay = [&] {
    double seconds = 0;
    int threads = 1;
    matmul.SetThreads(threads);
    {
      ScopedTimer timer(&seconds);
      for (const Product& product : order_) {
        if (product.threads != threads) matmul.SetThreads(threads = product.threads);
        matmul.Multiply(*product.linear, {x.data(), scales.data()}, product.rows, y.data());
      }
    }
    return seconds;
  };
  replay();  // creates the primitives
  std::vector<double> replays;
  for (double total = 0; !order_.empty() && (total < kLongEnough || replays.size() < kReplays);) {
    total += replays.emplace_back(replay());
  }
  if (replays.empty()) return 0;
  std::nth_element(replays.begin(), replays.begin() + replays.size() / 2, replays.end());
  return replays[replays.size() / 2];
}

double MatmulFloor(const std::vector<MatmulRecorder>& recorders, MatmulKernels kernels) {
  std::vector<double> floors(recorders.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < floors.size(); ++i) {
    threads.emplace_back([&, i] { floors[i] = recorders[i].Replay(kernels); });
  }
  for (std::thread& thread : threads) thread.join();
  return floors.empty() ? 0 : *std::max_element(floors.begin(), floors.end());
}

}  // namespace nibu::internal
