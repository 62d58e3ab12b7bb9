// Records the matrix products of a run, and replays them with nothing between them.
#include "tools/bench/matmul_recorder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>

#include "engine/core/aligned_buffer.h"
#include "engine/core/exception_status.h"
#include "engine/core/huge_memory.h"
#include "engine/core/profile.h"
#include "engine/core/status_macros.h"

namespace nibu::internal {

void MatmulRecorder::Clear() { *this = MatmulRecorder(); }

// This is called within the measured run, so it only records what Replay needs.
void MatmulRecorder::Observe(const MatmulCall& call) {
  const Linear& linear = call.linear;
  const bool is_lasting = !linear.is_selected();
  const WeightsKey key(is_lasting ? linear.packed().get() : nullptr, linear.in(), linear.out(),
                       linear.compute_type(), linear.has_bias());
  auto found = found_.find(key);
  if (found == found_.end()) {
    weights_.push_back({is_lasting ? std::optional(linear) : std::nullopt, linear.in(),
                        linear.out(), linear.compute_type(), linear.has_bias()});
    found = found_.emplace(key, weights_.size() - 1).first;
  }
  order_.push_back({found->second, call.rows, call.output, call.threads});
  own_calls_ += call.is_own_kernel ? 1 : 0;
  seconds_ += call.seconds;
}

double MatmulRecorder::Weights::bytes() const {
  constexpr double kSizes[] = {4, 2, 1, 0.5625};  // in the order of ComputeType
  return static_cast<double>(in) * out * kSizes[static_cast<size_t>(type)];
}

size_t MatmulRecorder::weight_bytes() const {
  double bytes = 0;
  for (const Weights& weights : weights_) bytes += weights.bytes();
  return static_cast<size_t>(bytes);
}

double MatmulRecorder::Limit(const MachinePeak& peak) const {
  double seconds = 0;
  for (const Product& product : order_) {
    const Weights& weights = weights_[product.weights];
    const double operations = 2.0 * product.rows * weights.in * weights.out;
    seconds +=
        std::max(operations / peak.operations_per_second, weights.bytes() / peak.bytes_per_second) /
        product.threads;
  }
  return seconds;
}

absl::StatusOr<Linear> MatmulRecorder::StandIn(const Weights& weights) {
  const std::vector<float> zeros(static_cast<size_t>(weights.in) *
                                 static_cast<size_t>(weights.out));
  const MatrixView matrix{
      {DType::kFloat32, {weights.out, weights.in}, zeros.data()}, /*out_in=*/true, {}};
  std::vector<TensorView> biases;
  if (weights.has_bias) biases.push_back({DType::kFloat32, {weights.out}, zeros.data()});
  return Linear::Create({matrix}, biases, Activation::kNone, weights.type);
}

absl::StatusOr<double> MatmulRecorder::Replay(MatmulKernels kernels) const try {
  constexpr size_t kReplays = 3;       // the fewest replays; the median counts
  constexpr double kLongEnough = 0.2;  // seconds that all replays take at least
  const auto rows = static_cast<size_t>(Matmul::kMostPaddedRows);
  size_t in = 0;
  size_t out = 0;
  std::vector<Linear> linears;
  for (const Weights& weights : weights_) {
    in = std::max(in, static_cast<size_t>(weights.in));
    out = std::max(out, static_cast<size_t>(weights.out));
    if (weights.lasting.has_value()) {
      linears.push_back(*weights.lasting);
    } else {
      NIBU_ASSIGN_OR_RETURN(linears.emplace_back(), StandIn(weights));
    }
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
        matmul.Multiply(linears[product.weights],
                        {x.data(), scales.data(), Matmul::kMostPaddedRows}, product.rows,
                        {y.data(), Matmul::kMostPaddedRows, product.output});
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
} catch (...) {
  return StatusOfException();
}

namespace {

// Calls f(i) on a thread for each i below `count`, and waits for them.
template <typename F>
void OnThreads(size_t count, F f) {
  std::vector<std::jthread> threads;  // joins them at the end, even if one cannot be started
  for (size_t i = 0; i < count; ++i) threads.emplace_back([f, i] { f(i); });
}

// Returns the bytes per second that each of so many threads reads. memchr reads with the widest
// instructions that the CPU has, and finds nothing in zeros.
double MeasureReading(size_t threads, size_t bytes) {
  constexpr double kLongEnough = 0.1;         // seconds
  constexpr int kReadings = 3;                // the fewest; the fastest counts
  constexpr size_t kLeast = size_t{4} << 20;  // bytes of a reading
  const std::shared_ptr<char> zeros = MapHuge(bytes);
  std::memset(zeros.get(), 0, bytes);  // otherwise all pages may be the same one
  std::vector<double> fastest(threads, std::numeric_limits<double>::infinity());
  OnThreads(threads, [&](size_t thread) {
    // Volatile, so that the compiler does not take one reading for all of them.
    const char* volatile start = zeros.get();
    double total = 0;
    for (int i = 0; total < kLongEnough || i < kReadings; ++i) {
      double seconds = 0;
      int times = 0;
      {
        const ScopedTimer timer(&seconds);
        // Small buffers are read several times, since one reading is too short for the clock.
        for (size_t read = 0; read < kLeast; read += bytes) {
          const void* volatile found = std::memchr(start, 1, bytes);
          static_cast<void>(found);
          ++times;
        }
      }
      fastest[thread] = std::min(fastest[thread], seconds / times);
      total += seconds;
    }
  });
  return static_cast<double>(bytes) / *std::max_element(fastest.begin(), fastest.end());
}

}  // namespace

absl::StatusOr<double> MatmulFloor(const std::vector<MatmulRecorder>& recorders,
                                   MatmulKernels kernels) try {
  std::vector<absl::StatusOr<double>> floors(recorders.size(), 0.0);
  OnThreads(floors.size(), [&](size_t i) { floors[i] = recorders[i].Replay(kernels); });
  double slowest = 0;
  for (const absl::StatusOr<double>& floor : floors) {
    NIBU_RETURN_IF_ERROR(floor.status());
    slowest = std::max(slowest, *floor);
  }
  return slowest;
} catch (...) {
  return StatusOfException();
}

absl::StatusOr<MachinePeak> MeasurePeak(ComputeType type, MatmulKernels kernels, int threads,
                                        size_t bytes) try {
  // Weights of 64 to 256 KB stay in L2, and 64 rows are enough for the full speed of each kernel.
  constexpr int kRows = 64;
  constexpr int kWidth = 256;
  constexpr int kProducts = 500;
  NIBU_ASSIGN_OR_RETURN(const Linear linear,
                        MatmulRecorder::StandIn({std::nullopt, kWidth, kWidth, type, false}));
  std::vector<MatmulRecorder> recorders(static_cast<size_t>(threads));
  for (MatmulRecorder& recorder : recorders) {
    for (int i = 0; i < kProducts; ++i) {
      recorder.Observe({linear, kRows, DType::kFloat32, /*threads=*/1, false, /*seconds=*/0});
    }
  }
  NIBU_ASSIGN_OR_RETURN(const double seconds, MatmulFloor(recorders, kernels));
  return MachinePeak{2.0 * kRows * kWidth * kWidth * kProducts / seconds,
                     MeasureReading(recorders.size(), std::max<size_t>(bytes, 1))};
} catch (...) {
  return StatusOfException();
}

}  // namespace nibu::internal
