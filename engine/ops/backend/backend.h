// The interface of the back ends, which multiply rows by packed weights. Internal to engine/ops.
#ifndef NIBU_ENGINE_OPS_BACKEND_BACKEND_H_
#define NIBU_ENGINE_OPS_BACKEND_BACKEND_H_

#include "engine/core/tensor.h"
#include "engine/ops/linear.h"

namespace nibu::internal {

// Rows of activations in the type in which a map reads them.
struct MatmulInput {
  const void* rows;     // [rows, in]: float32, bfloat16, or int8 as u8
  const float* scales;  // [rows], int8 only: the value of one step of a row's integers
};

// Rows of results, and the type in which the caller wants them.
struct MatmulOutput {
  void* rows;                     // [rows, out]
  DType dtype = DType::kFloat32;  // or kBFloat16
};

// It belongs to one worker; not thread-safe. Results are always finished values, never sums of
// integers, and a row has the same bits whatever the other rows are.
class MatmulBackend {
 public:
  virtual ~MatmulBackend() = default;

  // Returns whether it can write the results of a map in bfloat16.
  virtual bool WritesBFloat16(const Linear::Packed& map) const = 0;

  // Sets y [rows, out] = act(x W + b). `rows` is at most kMostRows. With float32 results, rows of x
  // up to Matmul::PaddedRows(rows) may be read, and rows of y up to there overwritten, except that
  // a whole piece (PieceRows) has no padding in y. With bfloat16 results, y has room for
  // kMostPaddedRows rows. REQUIRES: y is float32 or WritesBFloat16(map). Throws dnnl::error and
  // std::bad_alloc.
  virtual void Run(const Linear::Packed& map, const MatmulInput& x, int rows,
                   const MatmulOutput& y) = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_BACKEND_H_
