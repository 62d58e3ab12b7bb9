// Kernels around the int8 and bfloat16 matmuls: activations in, float results out.
//
// Activations of a row are quantized to u8 around a zero point z, x ~ (q - z) * scale, weights of
// an output to s8, w ~ q * scale. The product's zero point part, z * sum of the output's q, is
// known at load.
#ifndef NIBU_ENGINE_OPS_QUANTIZE_H_
#define NIBU_ENGINE_OPS_QUANTIZE_H_

#include <cstddef>
#include <cstdint>

#include "engine/ops/activation.h"

namespace nibu::internal {

// How activations are laid on u8: q = round(x * levels / max|x|) + zero, from zero - levels to
// zero + levels. Without VNNI, products are summed in pairs in saturating int16, so one side keeps
// to 7 bits.
struct QuantizationRange {
  int levels;
  int zero;
};
constexpr QuantizationRange kFullRange{127, 128};
constexpr QuantizationRange kSevenBitRange{63, 64};
constexpr QuantizationRange kSignedRange{127, 0};  // to be read as s8

// q [rows, n] from x [rows, n]. static_scale 0: scales[r] = max|x[r]| / levels; else every row gets
// static_scale and what lies outside is clipped.
void QuantizeRows(const float* x, size_t rows, size_t n, QuantizationRange range,
                  float static_scale, uint8_t* q, float* scales);

// What turns an output's integer sum into a float.
struct Dequantization {
  const float* scales;       // [n] of the weights
  const int32_t* zero_sums;  // [n] zero * sum of the output's weights
  const float* bias;         // [n] or null
  Activation activation;
};

// y [rows, n] = act((sum - zero_sum) * row_scale * scale + bias). Rows are as far apart as said; y
// may be the sums themselves.
void DequantizeRows(const Dequantization& dequantization, const float* row_scales, size_t rows,
                    size_t n, const int32_t* sums, size_t sums_stride, float* y, size_t y_stride);

// bfloat16, rounded to nearest even.
void RoundToBFloat16(const float* x, size_t n, uint16_t* out);

// Scale and values of one output's weights: q = round(w / scale), scale = max|w| / 127. Elements
// are `stride` apart in both. Returns the scale.
float QuantizeWeights(const float* w, size_t n, size_t stride, int8_t* q);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_QUANTIZE_H_
