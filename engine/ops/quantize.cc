#include "engine/ops/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/quantize.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

float MaxAbs(const float* x, size_t n) {
  const F d;
  const size_t lanes = hn::Lanes(d);
  V most = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) most = hn::Max(most, hn::Abs(hn::LoadU(d, x + i)));
  float result = hn::GetLane(hn::MaxOfLanes(d, most));
  for (; i < n; ++i) result = std::max(result, std::abs(x[i]));
  return result;
}

void QuantizeRow(const float* x, size_t n, float inverse, QuantizationRange range, uint8_t* q) {
  const F d;
  const hn::RebindToSigned<F> di;
  const hn::RebindToUnsigned<F> du;
  const hn::Rebind<uint8_t, F> du8;
  const size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, inverse);
  const auto low = hn::Set(d, static_cast<float>(-range.levels));
  const auto high = hn::Set(d, static_cast<float>(range.levels));
  const auto zero = hn::Set(di, range.zero);
  const auto quantize = [&](V v) HWY_ATTR {
    const V clipped = hn::Min(hn::Max(hn::Mul(v, scale), low), high);
    const auto i32 = hn::Add(hn::NearestInt(clipped), zero);
    return hn::U8FromU32(hn::BitCast(du, i32));
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(quantize(hn::LoadU(d, x + i)), du8, q + i);
  if (i < n) {
    HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
    HWY_ALIGN uint8_t result[hn::MaxLanes(d)];
    std::copy(x + i, x + n, rest);
    hn::StoreU(quantize(hn::Load(d, rest)), du8, result);
    std::copy(result, result + (n - i), q + i);
  }
}

void QuantizeAll(const float* x, size_t rows, size_t n, QuantizationRange range, float static_scale,
                 uint8_t* q, float* scales) {
  for (size_t r = 0; r < rows; ++r) {
    float scale = static_scale;
    if (scale == 0) scale = MaxAbs(x + r * n, n) / static_cast<float>(range.levels);
    scales[r] = scale;
    QuantizeRow(x + r * n, n, scale > 0 ? 1.0f / scale : 0.0f, range, q + r * n);
  }
}

// 1 / (1 + exp(-x))
HWY_INLINE V Sigmoid(F d, V x) {
  return hn::Div(hn::Set(d, 1.0f), hn::Add(hn::Set(d, 1.0f), hn::Exp(d, hn::Neg(x))));
}

// Abramowitz and Stegun 7.1.26, error below 1.5e-7.
HWY_INLINE V Erf(F d, V x) {
  const V a = hn::Abs(x);
  const V one = hn::Set(d, 1.0f);
  const V t = hn::Div(one, hn::MulAdd(hn::Set(d, 0.3275911f), a, one));
  V p = hn::Set(d, 1.061405429f);
  p = hn::MulAdd(p, t, hn::Set(d, -1.453152027f));
  p = hn::MulAdd(p, t, hn::Set(d, 1.421413741f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.284496736f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.254829592f));
  const V y = hn::NegMulAdd(hn::Mul(p, t), hn::Exp(d, hn::Neg(hn::Mul(a, a))), one);
  return hn::CopySign(y, x);
}

template <Activation kActivation>
HWY_INLINE V Activate(F d, V x) {
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
                    int32_t* sums) {
  const F d;
  const hn::RebindToSigned<F> di;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < rows; ++r) {
    int32_t* row = sums + r * n;
    const V row_scale = hn::Set(d, row_scales[r]);
    const auto finish = [&](hn::Vec<decltype(di)> sum, hn::Vec<decltype(di)> zero_sum, V scale,
                            V bias) HWY_ATTR {
      const V product = hn::ConvertTo(d, hn::Sub(sum, zero_sum));
      return hn::BitCast(
          di, Activate<kActivation>(d, hn::MulAdd(product, hn::Mul(scale, row_scale), bias)));
    };
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      const V bias = dq.bias != nullptr ? hn::LoadU(d, dq.bias + i) : hn::Zero(d);
      hn::StoreU(finish(hn::LoadU(di, row + i), hn::LoadU(di, dq.zero_sums + i),
                        hn::LoadU(d, dq.scales + i), bias),
                 di, row + i);
    }
    if (i < n) {
      HWY_ALIGN int32_t sum[hn::MaxLanes(d)] = {};
      HWY_ALIGN int32_t zero_sum[hn::MaxLanes(d)] = {};
      HWY_ALIGN float scale[hn::MaxLanes(d)] = {};
      HWY_ALIGN float bias[hn::MaxLanes(d)] = {};
      std::copy(row + i, row + n, sum);
      std::copy(dq.zero_sums + i, dq.zero_sums + n, zero_sum);
      std::copy(dq.scales + i, dq.scales + n, scale);
      if (dq.bias != nullptr) std::copy(dq.bias + i, dq.bias + n, bias);
      hn::Store(
          finish(hn::Load(di, sum), hn::Load(di, zero_sum), hn::Load(d, scale), hn::Load(d, bias)),
          di, sum);
      std::copy(sum, sum + (n - i), row + i);
    }
  }
}

void DequantizeAll(const Dequantization& dq, const float* row_scales, size_t rows, size_t n,
                   int32_t* sums) {
  switch (dq.activation) {
    case Activation::kNone:
      return DequantizeWith<Activation::kNone>(dq, row_scales, rows, n, sums);
    case Activation::kRelu:
      return DequantizeWith<Activation::kRelu>(dq, row_scales, rows, n, sums);
    case Activation::kGelu:
      return DequantizeWith<Activation::kGelu>(dq, row_scales, rows, n, sums);
    case Activation::kGeluTanh:
      return DequantizeWith<Activation::kGeluTanh>(dq, row_scales, rows, n, sums);
    case Activation::kGeluSigmoid:
      return DequantizeWith<Activation::kGeluSigmoid>(dq, row_scales, rows, n, sums);
    case Activation::kSwish:
      return DequantizeWith<Activation::kSwish>(dq, row_scales, rows, n, sums);
  }
}

void RoundAll(const float* x, size_t n, uint16_t* out) {
  const hn::ScalableTag<uint32_t> d;
  const hn::Rebind<uint16_t, decltype(d)> d16;
  const size_t lanes = hn::Lanes(d);
  const auto round = [&](hn::Vec<decltype(d)> bits) HWY_ATTR {
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7fff)));
    return hn::TruncateTo(d16, hn::ShiftRight<16>(rounded));
  };
  const auto* bits = reinterpret_cast<const uint32_t*>(x);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(round(hn::LoadU(d, bits + i)), d16, out + i);
  for (; i < n; ++i) {
    out[i] = static_cast<uint16_t>((bits[i] + 0x7fff + (bits[i] >> 16 & 1)) >> 16);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu {
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
                    size_t n, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(DequantizeAll)(dequantization, row_scales, rows, n, sums);
}

void RoundToBFloat16(const float* x, size_t n, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(RoundAll)(x, n, out);
}

float QuantizeWeights(const float* w, size_t n, size_t stride, int8_t* q) {
  if (stride == 1) {
    float scale;
    auto* const unsigned_q = reinterpret_cast<uint8_t*>(q);
    QuantizeRows(w, 1, n, kFullRange, /*static_scale=*/0, unsigned_q, &scale);
    for (size_t i = 0; i < n; ++i) unsigned_q[i] ^= 0x80;  // less the zero point, 128
    return scale;
  }
  float most = 0;
  for (size_t i = 0; i < n; ++i) most = std::max(most, std::abs(w[i * stride]));
  // As QuantizeRows does it: a matrix and its transpose give the same.
  const float scale = most / 127.0f;
  const float inverse = scale > 0 ? 1.0f / scale : 0.0f;
  for (size_t i = 0; i < n; ++i) {
    const float clipped = std::min(std::max(w[i * stride] * inverse, -127.0f), 127.0f);
    q[i * stride] = static_cast<int8_t>(std::lrint(clipped));
  }
  return scale;
}

}  // namespace nibu
#endif  // HWY_ONCE
