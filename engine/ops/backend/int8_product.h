// int8 matmuls of our own, on AMX's tiles or with AVX-512 VNNI:
//
//   sum[r][n] = sum over k of x[r][k] * W[k][n]
//   y[r][n]   = act((sum[r][n] - zero_sums[n]) * row_scales[r] * scales[n] + bias[n])
//
//   x [rows, in] u8, W [in, out] s8, sum int32 (exact), y [rows, out] float32; the rest: quantize.h
//
// oneDNN's kernels wait for weights that are not in L2. These kernels fetch the next weights while
// they multiply by the present ones, and they turn sums into floats without a pass of its own over
// y. engine/PERFORMANCE.md has the times. Since the sums are exact and finished in the same way as
// by DequantizeRows, the results equal those of oneDNN and DequantizeRows bit for bit.
#ifndef NIBU_ENGINE_OPS_BACKEND_INT8_PRODUCT_H_
#define NIBU_ENGINE_OPS_BACKEND_INT8_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "engine/ops/backend/row_counts.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {

// Weights in oneDNN's layout BA16a64b4a. W[k][n] is values[i] with
//
//   i = n / 64 * (64 in) + k / 4 * 256 + n % 64 * 4 + k % 4
//
// A block of 64 outputs lies in one piece. In it, four inputs of all 64 outputs lie together, as
// the instructions multiply and add four pairs of bytes at a time.
struct Int8Weights {
  const int8_t* values;  // 64-byte aligned
  size_t in;             // a multiple of 64
  size_t out;            // a multiple of 64
};

constexpr int kInt8Rows = 16;  // rows of an AMX tile

// Returns whether there are kernels for an instruction set.
constexpr bool HasInt8Product(Isa isa) { return isa >= Isa::kAvx512Vnni; }

// Computes y as above, on the calling thread. Thread-safe. With an activation for which
// FinishesInt8 is false, y gets the bits of the sums instead. Rows of x up to the next multiple of
// kInt8Rows are read, and may hold anything beyond `rows`; only `rows` rows of y are written.
// `fetches`: the weights may be missing in L2, so that they are prefetched. REQUIRES: rows > 0; the
// weights' alignment and multiples of 64; HasInt8Product(isa); this CPU has the instructions; and
// the system has allowed the process to use AMX if isa is kAmx (oneDNN asks for it).
void MultiplyInt8(Isa isa, const Int8Weights& weights, bool fetches, const uint8_t* x, size_t rows,
                  const Dequantization& dequantization, const float* row_scales, float* y);

// Returns whether MultiplyInt8 finishes sums with this activation.
constexpr bool FinishesInt8(Activation activation) {
  return activation == Activation::kNone || activation == Activation::kRelu;
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_INT8_PRODUCT_H_
