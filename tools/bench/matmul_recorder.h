// The matmul floor: the time of exactly the matrix products of a run, with nothing between them.
#ifndef NIBU_TOOLS_BENCH_MATMUL_RECORDER_H_
#define NIBU_TOOLS_BENCH_MATMUL_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/ops/matmul.h"

namespace nibu::internal {

// The most that a thread of this machine can do while the other threads do the same.
struct MachinePeak {
  double operations_per_second = 0;  // multiplications and additions of matrix products in L2
  double bytes_per_second = 0;       // read from where so many bytes of weights lie
};

// Records the products of one worker, which calls Observe. The other functions must be called while
// the worker waits. Not thread-safe otherwise.
class MatmulRecorder final : public MatmulObserver {
 public:
  MatmulRecorder() = default;
  MatmulRecorder(const MatmulRecorder&) = delete;
  MatmulRecorder& operator=(const MatmulRecorder&) = delete;
  MatmulRecorder(MatmulRecorder&&) noexcept = default;
  MatmulRecorder& operator=(MatmulRecorder&&) noexcept = default;

  void Clear();
  void Observe(const MatmulCall& call) override;

  size_t calls() const { return order_.size(); }
  // Returns how many of the calls were made by our own kernels.
  size_t own_calls() const { return own_calls_; }
  // Returns the seconds that the products took in the run.
  double seconds() const { return seconds_; }

  // Returns the bytes of all weights that the products used, each counted once.
  size_t weight_bytes() const;
  // Returns the seconds that the products take at least: each of them needs its operations, and has
  // to read its weights. Products of several threads share both among these.
  double Limit(const MachinePeak& peak) const;

  // Runs the recorded products in their order, several times and with inputs of zeros, and returns
  // the median of the seconds that they took. The weights of the model must still exist. Output
  // layers that a shortlist selected end with their sentence, so weights of the same shape replace
  // them. Returns ResourceExhausted if memory is short, and Internal if a kernel failed.
  absl::StatusOr<double> Replay(MatmulKernels kernels) const;

 private:
  struct Weights {
    std::optional<Linear> lasting;  // nullopt for a shortlist's outputs, which have ended
    int in;
    int out;
    ComputeType type;
    bool has_bias;
    double bytes() const;
  };
  // Lasting weights are known by their address, since they stay while they are recorded; others by
  // their shape, with a null address.
  using WeightsKey = std::tuple<const void*, int, int, ComputeType, bool>;
  struct Product {
    size_t weights;  // an index in weights_
    int rows;
    DType output;
    int threads;
  };

  // Returns weights of zeros by which Replay multiplies in place of a shortlist's outputs.
  static absl::StatusOr<Linear> StandIn(const Weights& weights);
  friend absl::StatusOr<MachinePeak> MeasurePeak(ComputeType type, MatmulKernels kernels,
                                                 int threads, size_t bytes);

  std::map<WeightsKey, size_t> found_;  // indices in weights_
  std::vector<Weights> weights_;
  std::vector<Product> order_;
  size_t own_calls_ = 0;
  double seconds_ = 0;
};

// Replays all recorders side by side, each on a thread of its own, and returns the seconds of the
// slowest. Returns the errors of Replay, and Internal if a thread cannot be started.
absl::StatusOr<double> MatmulFloor(const std::vector<MatmulRecorder>& recorders,
                                   MatmulKernels kernels);

// Measures the peaks of so many threads, of products in a compute type, and of reading `bytes`
// bytes (as many as a model's weights, so that they come from the cache that these fit in, or from
// memory). Returns the errors of MatmulFloor.
absl::StatusOr<MachinePeak> MeasurePeak(ComputeType type, MatmulKernels kernels, int threads,
                                        size_t bytes);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_BENCH_MATMUL_RECORDER_H_
