// The matmul floor: the time of exactly the matrix products of a run, with nothing between them.
#ifndef NIBU_TOOLS_BENCH_MATMUL_RECORDER_H_
#define NIBU_TOOLS_BENCH_MATMUL_RECORDER_H_

#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/ops/matmul.h"

namespace nibu::internal {

// Records the products of one worker. Clear and the others are called while the worker waits; it is
// not thread-safe otherwise.
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

  // Runs the recorded products, of zeros, in their order and several times, and returns the seconds
  // that they took, the median. The weights of the model must still be there; a shortlist's
  // outputs, which end with their sentence, are replaced by weights of the same shape.
  // ResourceExhausted: no memory. Internal: a kernel failed.
  absl::StatusOr<double> Replay(MatmulKernels kernels) const;

 private:
  struct Weights {
    std::optional<Linear> lasting;  // nullopt: a shortlist's outputs, of which only this is known:
    int in;
    int out;
    ComputeType type;
    bool has_bias;
  };
  // The address of lasting weights, which stay while they are recorded; of others the shape.
  using WeightsKey = std::tuple<const void*, int, int, ComputeType, bool>;
  struct Product {
    size_t weights;  // index in weights_
    int rows;
    DType output;
    int threads;
  };

  // Returns weights that Replay multiplies by in place of those that are gone.
  static absl::StatusOr<Linear> StandIn(const Weights& weights);

  std::map<WeightsKey, size_t> found_;  // indices in weights_
  std::vector<Weights> weights_;
  std::vector<Product> order_;
  size_t own_calls_ = 0;
  double seconds_ = 0;
};

// Replays all recorders side by side, each on a thread of its own, and returns the seconds of the
// slowest. Errors: those of Replay; Internal: a thread cannot be started.
absl::StatusOr<double> MatmulFloor(const std::vector<MatmulRecorder>& recorders,
                                   MatmulKernels kernels);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_BENCH_MATMUL_RECORDER_H_
