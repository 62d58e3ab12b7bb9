// The interface of what multiplies rows by packed weights. Internal to engine/ops.
#ifndef NIBU_ENGINE_OPS_BACKEND_BACKEND_H_
#define NIBU_ENGINE_OPS_BACKEND_BACKEND_H_

#include "engine/core/tensor.h"
#include "engine/ops/linear.h"

namespace nibu::internal {

// Rows of activations in the type in which a map reads them.
struct MatmulInput {
  const void* rows;     // [rows, in]: float32, bfloat16, or int8 as u8
  const float* scales;  // [rows], int8 only: what one step of a row's integers is worth
};

// Rows of results in the type in which they are wanted.
struct MatmulOutput {
  void* rows;                     // [rows, out]
  DType dtype = DType::kFloat32;  // or kBFloat16
};

// One worker's; not thread-safe. Its results are finished whatever it computes with, and a
// row has the same bits whatever the other rows are.
class MatmulBackend {
 public:
  virtual ~MatmulBackend() = default;

  // Returns whether it can write the results of a map in bfloat16.
  virtual bool WritesBFloat16(const Linear::Packed& map) const = 0;

  // Sets y [rows, out] = act(x W + b). `rows` is at most kMostRows. float32: rows of x and y up to
  // Matmul::PaddedRows(rows) may be read and overwritten, except that a whole piece (PieceRows) has
  // no padding in y. bfloat16 (REQUIRES: WritesBFloat16(map)): y has room for kMostPaddedRows rows.
  // Throws dnnl::error, std::bad_alloc.
  virtual void Run(const Linear::Packed& map, const MatmulInput& x, int rows,
                   const MatmulOutput& y) = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_BACKEND_H_
