// Quantization of activations and weights, activation functions, and finished sums, by Highway.
#include "engine/ops/quantize.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/quantize.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <bool kClips>
void QuantizeRow(const float* x, size_t n, float inverse, QuantizationRange range, uint8_t* q) {
  const auto levels = static_cast<float>(range.levels);
  ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
    auto scaled = hn::Mul(hn::LoadU(d, x + i), hn::Set(d, inverse));
    if constexpr (kClips) {
      scaled = hn::Min(hn::Max(scaled, hn::Set(d, -levels)), hn::Set(d, levels));
    }
    StoreRounded(d, scaled, range.zero, q + i);
  });
}

void QuantizeAll(const float* x, size_t rows, size_t n, QuantizationRange range, float static_scale,
                 uint8_t* q, float* scales) {
  for (size_t r = 0; r < rows; ++r, x += n, q += n) {
    if (static_scale != 0) {
      scales[r] = static_scale;
      QuantizeRow</*kClips=*/true>(x, n, 1.0f / static_scale, range, q);
    } else {
      scales[r] = MaxAbs(x, n) / static_cast<float>(range.levels);
      QuantizeRow</*kClips=*/false>(x, n, scales[r] > 0 ? 1.0f / scales[r] : 0.0f, range, q);
    }
  }
}

// Returns erf(x) by Abramowitz and Stegun 7.1.26, with an error below 1.5e-7.
template <class D, class V>
HWY_INLINE V Erf(D d, V x) {
  const V a = hn::Abs(x);
  const V one = hn::Set(d, 1.0f);
  const V t = hn::Div(one, hn::MulAdd(hn::Set(d, 0.3275911f), a, one));
  V p = hn::Set(d, 1.061405429f);
  p = hn::MulAdd(p, t, hn::Set(d, -1.453152027f));
  p = hn::MulAdd(p, t, hn::Set(d, 1.421413741f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.284496736f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.254829592f));
  const V y = hn::NegMulAdd(hn::Mul(p, t), ExpOfNegative(d, hn::Neg(hn::Mul(a, a))), one);
  return hn::CopySign(y, x);
}

template <Activation kActivation, class D, class V>
HWY_INLINE V Activate(D d, V x) {
  if constexpr (kActivation == Activation::kRelu) return hn::Max(x, hn::Zero(d));
  if constexpr (kActivation == Activation::kSwish) return hn::Mul(x, Sigmoid(d, x));
  if constexpr (kActivation == Activation::kGeluSigmoid) {
    return hn::Mul(x, Sigmoid(d, hn::Mul(hn::Set(d, 1.702f), x)));
  }
  if constexpr (kActivation == Activation::kGelu) {
    const V erf = Erf(d, hn::Mul(x, hn::Set(d, 0.70710678f)));
    return hn::Mul(hn::Mul(hn::Set(d, 0.5f), x), hn::Add(hn::Set(d, 1.0f), erf));
  }
  if constexpr (kActivation == Activation::kGeluTanh) {
    // 0.5 x (1 + tanh(u)) = x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3)
    const V cube = hn::Mul(hn::Mul(x, x), x);
    const V u = hn::MulAdd(hn::Set(d, 0.044715f), cube, x);
    return hn::Mul(x, Sigmoid(d, hn::Mul(hn::Set(d, 1.5957691216f), u)));
  }
  return x;
}

template <Activation kActivation>
void DequantizeWith(const Dequantization& dq, const float* row_scales, size_t rows, size_t n,
                    const int32_t* sums, size_t sums_stride, float* y, size_t y_stride) {
  for (size_t r = 0; r < rows; ++r, sums += sums_stride, y += y_stride) {
    const float row_scale = row_scales[r];
    ForEachVector(n, [=, &dq](auto d, size_t i) HWY_ATTR {
      const hn::RebindToSigned<decltype(d)> di;
      const auto sum = hn::LoadU(di, sums + i);
      const auto bias = dq.bias != nullptr ? hn::LoadU(d, dq.bias + i) : hn::Zero(d);
      const auto scale = hn::Mul(hn::LoadU(d, dq.scales + i), hn::Set(d, row_scale));
      const auto value = dq.zero_sums == nullptr
                             ? hn::BitCast(d, sum)
                             : hn::ConvertTo(d, hn::Sub(sum, hn::LoadU(di, dq.zero_sums + i)));
      hn::StoreU(Activate<kActivation>(d, hn::MulAdd(value, scale, bias)), d, y + i);
    });
  }
}

void DequantizeAll(const Dequantization& dq, const float* row_scales, size_t rows, size_t n,
                   const int32_t* sums, size_t sums_stride, float* y, size_t y_stride) {
  static constexpr decltype(&DequantizeWith<Activation::kNone>) kWith[] = {
      DequantizeWith<Activation::kNone>,        DequantizeWith<Activation::kRelu>,
      DequantizeWith<Activation::kGelu>,        DequantizeWith<Activation::kGeluTanh>,
      DequantizeWith<Activation::kGeluSigmoid>, DequantizeWith<Activation::kSwish>};
  kWith[static_cast<size_t>(dq.activation)](dq, row_scales, rows, n, sums, sums_stride, y,
                                            y_stride);
}

// bfloat16 is the upper half of a float. Adding 0x7fff, and 1 if the lowest bit that stays is set,
// rounds to nearest even.
void RoundAll(const float* x, size_t n, uint16_t* out) {
  ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto bits = hn::BitCast(du, hn::LoadU(d, x + i));
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff)));
    const hn::Rebind<uint16_t, decltype(d)> d16;
    hn::StoreU(hn::TruncateTo(d16, hn::ShiftRight<16>(rounded)), d16, out + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu::internal {
namespace {
HWY_EXPORT(QuantizeAll);
HWY_EXPORT(DequantizeAll);
HWY_EXPORT(RoundAll);
}  // namespace

void QuantizeRows(const float* x, size_t rows, size_t n, QuantizationRange range,
                  float static_scale, uint8_t* q, float* scales) {
  HWY_DYNAMIC_DISPATCH(QuantizeAll)(x, rows, n, range, static_scale, q, scales);
}

void DequantizeRows(const Dequantization& dequantization, const float* row_scales, size_t rows,
                    size_t n, const int32_t* sums, size_t sums_stride, float* y, size_t y_stride) {
  HWY_DYNAMIC_DISPATCH(DequantizeAll)
  (dequantization, row_scales, rows, n, sums, sums_stride, y, y_stride);
}

void RoundToBFloat16(const float* x, size_t n, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(RoundAll)(x, n, out);
}

float QuantizeWeights(const float* w, size_t n, size_t stride, int8_t* q) {
  std::vector<float> values(n);
  std::vector<uint8_t> quantized(n);
  for (size_t i = 0; i < n; ++i) values[i] = w[i * stride];
  float scale;
  QuantizeRows(values.data(), 1, n, kFullRange, /*static_scale=*/0, quantized.data(), &scale);
  for (size_t i = 0; i < n; ++i) {
    q[i * stride] = static_cast<int8_t>(quantized[i] - kFullRange.zero);
  }
  return scale;
}

float FileScale(float scale) { return scale > 0 ? std::min(1.0f / scale, FLT_MAX) : 1.0f; }

}  // namespace nibu::internal
#endif  // HWY_ONCE
