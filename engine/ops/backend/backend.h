// The interface of what multiplies rows by packed weights. Internal to engine/ops.
#ifndef NIBU_ENGINE_OPS_BACKEND_BACKEND_H_
#define NIBU_ENGINE_OPS_BACKEND_BACKEND_H_

#include "engine/ops/linear.h"

namespace nibu::internal {

// Rows of activations in the type in which a map reads them.
struct MatmulInput {
  const void* rows;     // [rows, in]: float32, bfloat16, or int8 as u8
  const float* scales;  // [rows], int8 only: what one step of a row's integers is worth
};

// One worker's; not thread-safe. Whatever it computes with, it gives finished floats, and the same
// bits for a row whatever the other rows are.
class MatmulBackend {
 public:
  virtual ~MatmulBackend() = default;

  // Sets y [rows, out] = act(x W + b), in float32. `rows` is at most kMostRows. Rows of x and y up
  // to Matmul::PaddedRows(rows) may be read and overwritten, except that a whole piece (PieceRows)
  // has no padding in y. Throws dnnl::error, std::bad_alloc.
  virtual void Run(const Linear::Packed& map, const MatmulInput& x, int rows, float* y) = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_BACKEND_H_
