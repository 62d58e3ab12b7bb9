// Kernels around the int8 and bfloat16 matmuls: they quantize activations and turn sums into
// floats.
//
// Activations of a row are quantized to u8 around a zero point z, x ~ (q - z) * row_scale, weights
// of an output to s8, w ~ p * scale. So
//
//   sum of x w  ~  (sum of q p  -  z * sum of p) * row_scale * scale
//
// The kernels compute the first sum. The second product, the zero sum of an output, is known when
// the weights are packed.
#ifndef NIBU_ENGINE_OPS_QUANTIZE_H_
#define NIBU_ENGINE_OPS_QUANTIZE_H_

#include <cstddef>
#include <cstdint>

#include "engine/ops/activation.h"

namespace nibu::internal {

// The range of u8 that activations use: q = round(x * levels / max|x|) + zero lies between zero -
// levels and zero + levels. Without VNNI, the CPU sums pairs of products in saturating int16, so
// activations keep to 7 bits there.
struct QuantizationRange {
  int levels;
  int zero;
};
constexpr QuantizationRange kFullRange{127, 128};
constexpr QuantizationRange kSevenBitRange{63, 64};
constexpr QuantizationRange kSignedRange{127, 0};  // its bytes are to be read as s8

// Quantizes x [rows, n] to q [rows, n] and sets `scales` [rows]. static_scale 0: a row's scale is
// max|x| / levels. Otherwise every row gets static_scale, and values outside its range are clipped.
void QuantizeRows(const float* x, size_t rows, size_t n, QuantizationRange range,
                  float static_scale, uint8_t* q, float* scales);

// The vectors that turn the integer sums of n outputs into floats.
struct Dequantization {
  const float* scales;  // [n], of the weights
  // [n], zero * sum of the output's weights. Null: sums are floats, and nothing is taken off them.
  const int32_t* zero_sums;
  const float* bias;  // [n] or null
  Activation activation;
};

// Sets y [rows, n] = act((sum - zero_sum) * row_scale * scale + bias). Rows are `sums_stride` and
// `y_stride` elements apart. y may be the memory of the sums.
void DequantizeRows(const Dequantization& dequantization, const float* row_scales, size_t rows,
                    size_t n, const int32_t* sums, size_t sums_stride, float* y, size_t y_stride);

// Converts n floats to bfloat16, rounded to nearest even.
void RoundToBFloat16(const float* x, size_t n, uint16_t* out);

// Quantizes the n weights of one output: q = round(w / scale), scale = max|w| / 127. Elements are
// `stride` apart in both. Returns the scale.
float QuantizeWeights(const float* w, size_t n, size_t stride, int8_t* q);

// Returns what files hold for the scale of int8 weights: its reciprocal, which is finite and not 0
// for any scale; 1 for that of an output whose weights are all 0. 1 / FileScale(scale) is the scale
// of a map that is read from such a file.
float FileScale(float scale);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_QUANTIZE_H_
