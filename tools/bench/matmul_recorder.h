// The matmul floor: the time of exactly the matrix products of a run, with nothing between them.
#ifndef NIBU_TOOLS_BENCH_MATMUL_RECORDER_H_
#define NIBU_TOOLS_BENCH_MATMUL_RECORDER_H_

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "engine/ops/matmul.h"

namespace nibu::internal {

// Records the products of one worker. Clear and the others are called while the worker waits; it is
// not thread-safe otherwise.
class MatmulRecorder final : public MatmulObserver {
 public:
  void Clear();
  void Observe(const MatmulCall& call) override;

  size_t calls() const { return order_.size(); }
  // Of the calls, those of our own kernels.
  size_t own_calls() const { return own_calls_; }
  // The seconds that the products took in the run.
  double seconds() const { return seconds_; }

  // Runs the recorded products, of zeros, in their order and several times, and returns the seconds
  // that they took, the median. The weights of the model must still be there; a shortlist's
  // outputs, which end with their sentence, are replaced by weights of the same shape. Throws what
  // a Matmul throws.
  double Replay(MatmulKernels kernels) const;

 private:
  // Weights by their identity; a shortlist's outputs by their shape.
  using WeightsKey = std::tuple<const void*, int, int, ComputeType>;
  struct Product {
    const Linear* linear;
    int rows;
    int threads;
  };

  std::map<WeightsKey, Linear> weights_;
  std::vector<Product> order_;
  size_t own_calls_ = 0;
  double seconds_ = 0;
};

// Replays all recorders side by side, each on a thread of its own, and returns the seconds of the
// slowest.
double MatmulFloor(const std::vector<MatmulRecorder>& recorders, MatmulKernels kernels);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_BENCH_MATMUL_RECORDER_H_
