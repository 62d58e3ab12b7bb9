// int8 products on AMX's tiles, for weights that come from memory.
//
// oneDNN's kernels wait for weights that are not in L2: a product of 64 x 512 x 2048 takes 38 us
// where they are, 68 with them in L3, 130 from memory. These fetch weights while they multiply by
// those before (50 and 65 us), and finish sums between products. The sums are exact, and finished
// as by DequantizeRows: results are the same bit for bit.
#ifndef NIBU_ENGINE_OPS_AMX_H_
#define NIBU_ENGINE_OPS_AMX_H_

#include <cstddef>
#include <cstdint>

#include "engine/ops/quantize.h"

namespace nibu {

// In oneDNN's layout BA16a64b4a: blocks of 64 outputs, in them fours of inputs, in these the
// outputs.
struct AmxWeights {
  const int8_t* values;  // 64-byte aligned
  size_t in;             // multiples of 64
  size_t out;
};

constexpr int kAmxRows = 16;  // of a tile

// y [rows, out] = x [rows, in] W as DequantizeRows finishes it, but for activations other than
// ReLU: then y gets the sums' bits. Rows of x up to a multiple of kAmxRows are read. `fetches`:
// whether the weights may be missing in L2. REQUIRES: AMX, which the process may use (oneDNN has
// asked for it).
void MultiplyOnAmx(const AmxWeights& weights, bool fetches, const uint8_t* x, size_t rows,
                   const Dequantization& dequantization, const float* row_scales, float* y);

// Whether it finishes sums with this activation.
constexpr bool FinishesOnAmx(Activation activation) {
  return activation == Activation::kNone || activation == Activation::kRelu;
}

}  // namespace nibu

#endif  // NIBU_ENGINE_OPS_AMX_H_
