// Attention over int8 keys and values with integer products, for Highway's targets.
//
//   score[r][s] = scale a[r] key_scales[s] * sum over i of Q[r][i] K[s][i]
//     Q = round(q / a), a = max|q| / levels
//   out[r][c] = keep[r] out[r][c] + b * sum over the tile's s of P[r][s] V[s][c]
//     P = round(p value_scales[s] / b), b = max(value_scales) / kLevels16
//
// A query q, and the weights p of a tile of keys, become 16-bit integers, which keep 15 bits of the
// largest number; bfloat16 would keep 8 of each, int8 7. Their products with 8-bit integers are
// added up in pairs, in 32 bits, without overflow: queries of many elements get fewer levels.
#if defined(NIBU_ENGINE_ATTENTION_INT8_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NIBU_ENGINE_ATTENTION_INT8_KERNELS_INL_H_
#undef NIBU_ENGINE_ATTENTION_INT8_KERNELS_INL_H_
#else
#define NIBU_ENGINE_ATTENTION_INT8_KERNELS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "absl/base/macros.h"
#include "engine/attention/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kLevels16 = 32767;

// Returns levels / most, by which numbers up to `most` become integers up to `levels`; 0 if `most`
// is so small that this is no float: the integers are 0 then.
inline float Inverse(float levels, float most) {
  return most > levels / std::numeric_limits<float>::max() ? levels / most : 0.0f;
}

// q = round(scale * x), filled up to pairs. REQUIRES: |q| <= kLevels16.
template <typename Scale>
HWY_INLINE void RoundTo16(const float* x, size_t n, Scale scale, uint16_t* q) {
  ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
    const auto scaled = hn::Mul(hn::LoadU(d, x + i), scale(d, i));
    ABSL_ASSERT(hn::AllFalse(d, hn::Gt(hn::Abs(scaled), hn::Set(d, kLevels16 + 0.5f))));
    StoreRounded(d, scaled, /*zero=*/0, q + i);
  });
  if (n % 2 != 0) q[n] = 0;
}

// sums[r] += the pairs of values at `pairs`, each times the pair of 16-bit integers at
// factors + r * stride. A sum is in two vectors, `sums` and `rests`, which are added up at the end.
template <size_t kRows, class D, class V>
HWY_INLINE void AddPairs(D d32, const int8_t* pairs, const uint16_t* factors, size_t stride,
                         V* sums, V* rests) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t r = 0; r < kRows; ++r) {
    const auto factor = [=](size_t i) { return static_cast<int16_t>(factors[r * stride + i]); };
    sums[r] = hn::Add(sums[r], hn::Set(d32, pairs[0] * factor(0) + pairs[1] * factor(1)));
  }
  (void)rests;
#else
  const hn::Repartition<int16_t, D> d16;
  const auto values = hn::PromoteTo(d16, hn::LoadU(hn::Rebind<int8_t, decltype(d16)>(), pairs));
  for (size_t r = 0; r < kRows; ++r) {
    int32_t factor;
    std::memcpy(&factor, factors + r * stride, sizeof(factor));
    sums[r] = hn::ReorderWidenMulAccumulate(d32, values, hn::BitCast(d16, hn::Set(d32, factor)),
                                            sums[r], rests[r]);
  }
#endif
}

// Scores of kBlocks blocks of keys, [d / 2][kKeyBlock][2] each.
template <size_t kRows, size_t kBlocks>
HWY_INLINE void ScoreInt8Blocks(const uint16_t* q, size_t pairs, const float* scales,
                                const int8_t* keys, const float* key_scales, size_t stride,
                                float* scores) {
  const Floats d;
  const hn::RebindToSigned<Floats> d32;
  for (size_t part = 0; part < kKeyBlock; part += hn::Lanes(d)) {
    hn::Vec<decltype(d32)> sums[kBlocks][kRows];
    hn::Vec<decltype(d32)> rests[kBlocks][kRows];
    for (size_t b = 0; b < kBlocks; ++b) {
      for (size_t r = 0; r < kRows; ++r) sums[b][r] = rests[b][r] = hn::Zero(d32);
    }
    for (size_t i = 0; i < pairs; ++i) {
      for (size_t b = 0; b < kBlocks; ++b) {
        AddPairs<kRows>(d32, keys + 2 * ((b * pairs + i) * kKeyBlock + part), q + 2 * i, 2 * pairs,
                        sums[b], rests[b]);
      }
    }
    for (size_t b = 0; b < kBlocks; ++b) {
      const auto key_scale = hn::LoadU(d, key_scales + b * kKeyBlock + part);
      for (size_t r = 0; r < kRows; ++r) {
        const auto sum = hn::ConvertTo(d, hn::RearrangeToOddPlusEven(sums[b][r], rests[b][r]));
        hn::Store(hn::Mul(hn::Mul(sum, hn::Set(d, scales[r])), key_scale), d,
                  scores + r * stride + b * kKeyBlock + part);
      }
    }
  }
}

// Sets q to x in 16-bit integers, filled up to pairs, and returns the value of one level.
HWY_INLINE float QuantizeQuery(const float* x, size_t dim, uint16_t* q) {
  // Sums of `dim` products with 8-bit integers stay below 2^31.
  const auto levels = static_cast<float>(std::min(kLevels16, (size_t{1} << 31) / (128 * dim) - 1));
  const float most = MaxAbs(x, dim);
  const float inverse = Inverse(levels, most);
  RoundTo16(
      x, dim, [=](auto d, size_t) HWY_ATTR { return hn::Set(d, inverse); }, q);
  return most / levels;
}

template <size_t kRows>
void ScoresOfInt8(const float* const* q, float scale, const HeadTile& tile, float* scores) {
  const size_t pairs = (tile.dim + 1) / 2;
  float scales[kRows];
  for (size_t r = 0; r < kRows; ++r) {
    scales[r] = scale * QuantizeQuery(q[r], tile.dim, tile.scratch + r * 2 * pairs);
  }
  const auto* const keys = static_cast<const int8_t*>(tile.keys);
  ForEachRun<kRows == 1 ? 4 : 2>(tile.blocks(), [=, &tile](auto count, size_t b) HWY_ATTR {
    ScoreInt8Blocks<kRows, count>(tile.scratch, pairs, scales, keys + b * 2 * pairs * kKeyBlock,
                                  tile.key_scales + b * kKeyBlock, tile.stride(),
                                  scores + b * kKeyBlock);
  });
}

// Does what WeighColumns in kernels.cc does for floats; values are [positions / 2][...][2].
template <size_t kRows, size_t kVectors, class D>
HWY_INLINE void WeighInt8Columns(D d, const uint16_t* p, const float* scales, const float* keep,
                                 const HeadTile& tile, float* const* out, size_t column) {
  const hn::RebindToSigned<D> d32;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d32)> sums[kVectors][kRows];
  hn::Vec<decltype(d32)> rests[kVectors][kRows];
  for (size_t c = 0; c < kVectors; ++c) {
    for (size_t r = 0; r < kRows; ++r) sums[c][r] = rests[c][r] = hn::Zero(d32);
  }
  const auto* values = static_cast<const int8_t*>(tile.values) + 2 * column;
  for (size_t s = 0; s < tile.positions; s += 2, values += 2 * tile.value_stride) {
    for (size_t c = 0; c < kVectors; ++c) {
      AddPairs<kRows>(d32, values + 2 * c * lanes, p + s, kTile, sums[c], rests[c]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kVectors; ++c) {
      float* const to = out[r] + column + c * lanes;
      const auto sum = hn::ConvertTo(d, hn::RearrangeToOddPlusEven(sums[c][r], rests[c][r]));
      const auto before = hn::Mul(hn::LoadU(d, to), hn::Set(d, keep[r]));
      hn::StoreU(hn::MulAdd(sum, hn::Set(d, scales[r]), before), d, to);
    }
  }
}

template <size_t kRows>
void WeighInt8(float* p, const float* keep, const HeadTile& tile, float* const* out) {
  static_assert(kTile * kLevels16 * 128 < size_t{1} << 31);
  HWY_ALIGN uint16_t weights[kRows * kTile];
  float scales[kRows];
  const size_t filled = RoundUpToVectors(tile.positions);  // as ExtendSoftmax does
  const float* const value_scales = tile.value_scales;
  // No weight is above 1.
  const float most = MaxAbs(value_scales, filled);
  const float inverse = Inverse(kLevels16, most);
  for (size_t r = 0; r < kRows; ++r) {
    RoundTo16(
        p + r * tile.stride(), filled,
        [=](auto d, size_t i)
            HWY_ATTR { return hn::Mul(hn::LoadU(d, value_scales + i), hn::Set(d, inverse)); },
        weights + r * kTile);
    scales[r] = most / static_cast<float>(kLevels16);
  }
  ForEachColumnRun<kRows>(tile.dim, [&](auto d, auto count, size_t column) HWY_ATTR {
    WeighInt8Columns<kRows, count>(d, weights, scales, keep, tile, out, column);
  });
}

// Returns the sum over i of q[i] keys[i].
HWY_INLINE int32_t DotOfInt8(const uint16_t* q, const int8_t* keys, size_t dim) {
  int32_t dot = 0;
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::RebindToSigned<Floats> d32;
  const hn::Repartition<int16_t, decltype(d32)> d16;
  auto sum = hn::Zero(d32);
  auto rest = hn::Zero(d32);
  for (; i + hn::Lanes(d16) <= dim; i += hn::Lanes(d16)) {
    const auto key = hn::LoadU(hn::Rebind<int8_t, decltype(d16)>(), keys + i);
    const auto query = hn::LoadU(d16, reinterpret_cast<const int16_t*>(q) + i);
    sum = hn::ReorderWidenMulAccumulate(d32, hn::PromoteTo(d16, key), query, sum, rest);
  }
  dot = hn::GetLane(hn::SumOfLanes(d32, hn::Add(sum, rest)));
#endif
  for (; i < dim; ++i) dot += static_cast<int16_t>(q[i]) * keys[i];
  return dot;
}

// Does what ScoreCells in kernels.cc does for floats.
inline void ScoreInt8Cells(const float* q, const AttentionShape& shape, const CellHistory& history,
                           Arena* arena, float* scores) {
  const auto heads = static_cast<size_t>(shape.heads);
  const auto dim = static_cast<size_t>(shape.head_dim);
  const size_t stride = (dim + 1) / 2 * 2;
  auto* const quantized = reinterpret_cast<uint16_t*>(arena->Floats(heads * stride / 2));
  float* const scales = arena->Floats(heads);
  for (size_t h = 0; h < heads; ++h) {
    scales[h] = shape.Scale() * QuantizeQuery(q + h * dim, dim, quantized + h * stride);
  }
  const size_t positions = history.cells.size();
  for (size_t t = 0; t < positions; ++t) {
    const char* const cell = static_cast<const char*>(history.cells[t]) + history.offset;
    const auto* const key_scales = reinterpret_cast<const float*>(cell + CellScales(shape));
    for (size_t h = 0; h < heads; ++h) {
      const auto* const key = reinterpret_cast<const int8_t*>(cell) + h * dim;
      scores[h * PaddedPositions(positions) + t] =
          static_cast<float>(DotOfInt8(quantized + h * stride, key, dim)) * scales[h] *
          key_scales[h];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu::internal
HWY_AFTER_NAMESPACE();

#endif  // NIBU_ENGINE_ATTENTION_INT8_KERNELS_INL_H_
