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
  int room;             // the rows that the memory holds, padding included
};

// Rows of results, and the type in which the caller wants them.
struct MatmulOutput {
  void* rows;                     // [rows, out]
  int room;                       // the rows that the memory holds, padding included
  DType dtype = DType::kFloat32;  // or kBFloat16
};

// It belongs to one worker; not thread-safe. Results are always finished values, never sums of
// integers, and a row has the same bits whatever the other rows are.
class MatmulBackend {
 public:
  virtual ~MatmulBackend() = default;

  // Returns whether it can write the results of a map in bfloat16.
  virtual bool WritesBFloat16(const Linear::Packed& map) const = 0;

  // Sets y [rows, out] = act(x W + b). Rows of x beyond `rows` may be read, and rows of y beyond
  // them overwritten, as far as there has to be room. Throws dnnl::error and std::bad_alloc.
  // REQUIRES: 1 to kMostRows rows; y is float32, or WritesBFloat16(map); x and y have room for
  // UsualRows(rows) rows, in bfloat16 for kMostPaddedRows, and x in int8 for a multiple of
  // kInt8Rows (int8_product.h), too, in int4 for kInt4Inputs more bytes (int4_product.h).
  virtual void Run(const Linear::Packed& map, const MatmulInput& x, int rows,
                   const MatmulOutput& y) = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_BACKEND_H_
