// int8 products of our own, on AMX's tiles and with AVX-512 VNNI, for weights that come from
// memory.
//
// oneDNN's kernels wait for weights that are not in L2. These fetch weights while they multiply by
// those before, and finish sums without a pass of its own: engine/PERFORMANCE.md has the times. The
// sums are exact, and finished as by DequantizeRows: results are the same bit for bit.
#ifndef NIBU_ENGINE_OPS_BACKEND_INT8_PRODUCT_H_
#define NIBU_ENGINE_OPS_BACKEND_INT8_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "engine/ops/backend/row_counts.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {

// In oneDNN's layout BA16a64b4a: blocks of 64 outputs, in them fours of inputs, in these the
// outputs.
struct Int8Weights {
  const int8_t* values;  // 64-byte aligned
  size_t in;             // multiples of 64
  size_t out;
};

constexpr int kInt8Rows = 16;  // rows of an AMX tile

// Returns whether there are such products for an instruction set.
constexpr bool HasInt8Product(Isa isa) { return isa >= Isa::kAvx512Vnni; }

// y [rows, out] = x [rows, in] W as DequantizeRows finishes it. With an activation other than
// ReLU, y gets the sums' bits instead. Rows of x up to a multiple of kInt8Rows are read. `fetches`:
// whether the weights may be missing in L2. REQUIRES: HasInt8Product(isa), this CPU has it, and the
// process may use AMX if that is it (oneDNN has asked for it).
void MultiplyInt8(Isa isa, const Int8Weights& weights, bool fetches, const uint8_t* x, size_t rows,
                  const Dequantization& dequantization, const float* row_scales, float* y);

// Returns whether it finishes sums with this activation.
constexpr bool FinishesInt8(Activation activation) {
  return activation == Activation::kNone || activation == Activation::kRelu;
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_INT8_PRODUCT_H_
