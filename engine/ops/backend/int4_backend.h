// Matmuls with weights of 4 bits (int4_product.h). Internal to engine/ops.
#ifndef NIBU_ENGINE_OPS_BACKEND_INT4_BACKEND_H_
#define NIBU_ENGINE_OPS_BACKEND_INT4_BACKEND_H_

#include "engine/core/aligned_buffer.h"
#include "engine/ops/backend/backend.h"
#include "engine/ops/backend/packed_linear.h"

namespace nibu::internal {

// Multiplies by maps of type kInt4, on every CPU. Threads share out the outputs, so that results do
// not depend on their number.
class Int4Backend final : public MatmulBackend {
 public:
  void SetThreads(int threads) { threads_ = threads; }

  bool WritesBFloat16(const Linear::Packed&) const override { return false; }
  void Run(const Linear::Packed& map, const MatmulInput& x, int rows,
           const MatmulOutput& y) override;

 private:
  int threads_ = 1;
  AlignedBuffer<float> sums_;  // SumInt4Inputs
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_INT4_BACKEND_H_
