// Matmuls by our own int8 kernels (int8_product.h). Internal to engine/ops.
#ifndef NIBU_ENGINE_OPS_BACKEND_INT8_BACKEND_H_
#define NIBU_ENGINE_OPS_BACKEND_INT8_BACKEND_H_

#include <cstdint>

#include "engine/core/aligned_buffer.h"
#include "engine/ops/backend/backend.h"
#include "engine/ops/backend/int8_rows.h"
#include "engine/ops/backend/packed_linear.h"

namespace nibu::internal {

// Multiplies on the calling thread. Results equal those of OneDnnBackend bit for bit, since sums of
// integers are exact.
class Int8Backend final : public MatmulBackend {
 public:
  // Returns whether it has kernels for so many rows: int8 on AVX-512 VNNI or AMX, in the layout
  // that oneDNN prefers for inputs and outputs that are multiples of 64; and for few rows on AVX2.
  static bool Has(const Linear::Packed& map, int rows) {
    return map.int8_weights != nullptr || (map.int8_rows != nullptr && rows <= kMostInt8Rows);
  }

  bool WritesBFloat16(const Linear::Packed&) const override { return false; }
  // REQUIRES: Has(map, rows).
  void Run(const Linear::Packed& map, const MatmulInput& x, int rows,
           const MatmulOutput& y) override;

 private:
  void RunRows(const Linear::Packed& map, const MatmulInput& x, size_t rows, float* y);

  // The weights of the latest call. They are in L2 and need not be prefetched.
  const int8_t* in_l2_ = nullptr;
  AlignedBuffer<int32_t> sums_;  // of few rows
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_INT8_BACKEND_H_
