#include "engine/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/attention/attention.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most one key block.
using Block = hn::CappedTag<float, kKeyBlock>;
using One = hn::CappedTag<float, 1>;

constexpr size_t kTile = 256;  // keys between two updates of the running maximum

// scores[r][s] = scale * sum_i q[r][i] k[s][i] for the blocks of a tile. `keys`: packed blocks.
template <size_t kRows>
HWY_INLINE void Scores(const float* const* q, size_t dim, float scale, const float* keys,
                       size_t blocks, float* scores) {
  const Block d;
  const size_t lanes = hn::Lanes(d);
  const auto scales = hn::Set(d, scale);
  for (size_t b = 0; b < blocks; ++b) {
    for (size_t part = 0; part < kKeyBlock; part += lanes) {
      const float* k = keys + b * dim * kKeyBlock + part;
      decltype(hn::Zero(d)) sums[kRows];
      for (size_t r = 0; r < kRows; ++r) sums[r] = hn::Zero(d);
      for (size_t i = 0; i < dim; ++i) {
        const auto key = hn::Load(d, k + i * kKeyBlock);
        for (size_t r = 0; r < kRows; ++r) {
          sums[r] = hn::MulAdd(hn::Set(d, q[r][i]), key, sums[r]);
        }
      }
      for (size_t r = 0; r < kRows; ++r) {
        hn::Store(hn::Mul(sums[r], scales), d, scores + r * kTile + b * kKeyBlock + part);
      }
    }
  }
}

// The largest of x[0..n) and `most`. x has room for whole vectors after n, filled up here.
HWY_INLINE float Maximum(float* x, size_t n, float most) {
  const Block d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = n; i % lanes != 0; ++i) x[i] = -std::numeric_limits<float>::infinity();
  auto best = hn::Set(d, most);
  for (size_t i = 0; i < n; i += lanes) best = hn::Max(best, hn::LoadU(d, x + i));
  return hn::GetLane(hn::MaxOfLanes(d, best));
}

// x[i] = exp(x[i] - most); returns their sum. Filled up like Maximum's.
HWY_INLINE float Exponentials(float* x, size_t n, float most) {
  const Block d;
  const size_t lanes = hn::Lanes(d);
  const auto shift = hn::Set(d, most);
  auto sums = hn::Zero(d);
  for (size_t i = 0; i < n; i += lanes) {
    const auto e = hn::Exp(d, hn::Sub(hn::LoadU(d, x + i), shift));
    hn::StoreU(e, d, x + i);
    sums = hn::Add(sums, e);
  }
  return hn::GetLane(hn::SumOfLanes(d, sums));
}

// out[r][i] = out[r][i] * keep[r] + sum_s p[r][s] v[s][i] for kVectors vectors of columns.
template <class D, size_t kRows, size_t kVectors>
HWY_INLINE void WeighColumns(D d, const float* p, const float* keep, const float* values,
                             size_t value_stride, size_t positions, float* const* out) {
  const size_t lanes = hn::Lanes(d);
  decltype(hn::Zero(d)) sums[kRows][kVectors];
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kVectors; ++c) {
      sums[r][c] = hn::Mul(hn::LoadU(d, out[r] + c * lanes), hn::Set(d, keep[r]));
    }
  }
  for (size_t s = 0; s < positions; ++s) {
    const float* v = values + s * value_stride;
    for (size_t c = 0; c < kVectors; ++c) {
      const auto value = hn::LoadU(d, v + c * lanes);
      for (size_t r = 0; r < kRows; ++r) {
        sums[r][c] = hn::MulAdd(hn::Set(d, p[r * kTile + s]), value, sums[r][c]);
      }
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kVectors; ++c) hn::StoreU(sums[r][c], d, out[r] + c * lanes);
  }
}

// WeighColumns for all columns of a head.
template <size_t kRows>
HWY_INLINE void Weigh(const float* p, const float* keep, const float* values, size_t value_stride,
                      size_t positions, size_t dim, float* const* out) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  float* to[kRows];
  const auto advance = [&](size_t column) {
    for (size_t r = 0; r < kRows; ++r) to[r] = out[r] + column;
    return values + column;
  };
  size_t i = 0;
  for (; i + 2 * lanes <= dim; i += 2 * lanes) {
    const float* v = advance(i);
    WeighColumns<decltype(d), kRows, 2>(d, p, keep, v, value_stride, positions, to);
  }
  for (; i + lanes <= dim; i += lanes) {
    const float* v = advance(i);
    WeighColumns<decltype(d), kRows, 1>(d, p, keep, v, value_stride, positions, to);
  }
  for (; i < dim; ++i) {
    const float* v = advance(i);
    WeighColumns<One, kRows, 1>(One(), p, keep, v, value_stride, positions, to);
  }
}

// kRows queries of one head.
template <size_t kRows>
void AttendHead(const float* q, size_t q_stride, size_t dim, float scale, const float* keys,
                const float* values, size_t value_stride, size_t positions, float* out,
                size_t out_stride) {
  HWY_ALIGN float scores[kRows * kTile];
  float maximum[kRows];
  float sum[kRows];
  float keep[kRows];
  const float* queries[kRows];
  float* outputs[kRows];
  for (size_t r = 0; r < kRows; ++r) {
    maximum[r] = -std::numeric_limits<float>::infinity();
    sum[r] = 0;
    queries[r] = q + r * q_stride;
    outputs[r] = out + r * out_stride;
    std::fill_n(outputs[r], dim, 0.0f);
  }
  for (size_t start = 0; start < positions; start += kTile) {
    const size_t n = std::min(kTile, positions - start);
    const size_t blocks = (n + kKeyBlock - 1) / kKeyBlock;
    Scores<kRows>(queries, dim, scale, keys + start * dim, blocks, scores);
    for (size_t r = 0; r < kRows; ++r) {
      float* row = scores + r * kTile;
      const float most = Maximum(row, n, maximum[r]);
      keep[r] = std::exp(maximum[r] - most);
      maximum[r] = most;
      sum[r] = sum[r] * keep[r] + Exponentials(row, n, most);
    }
    Weigh<kRows>(scores, keep, values + start * value_stride, value_stride, n, dim, outputs);
  }
  for (size_t r = 0; r < kRows; ++r) {
    const float inverse = 1.0f / sum[r];
    for (size_t i = 0; i < dim; ++i) outputs[r][i] *= inverse;
  }
}

void AttendAll(const AttentionShape& shape, const float* q, size_t q_stride, int queries,
               const float* keys, const float* values, size_t value_stride, int positions,
               float* out, size_t out_stride) {
  const auto dim = static_cast<size_t>(shape.head_dim);
  const auto n = static_cast<size_t>(positions);
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  const size_t key_size = (n + kKeyBlock - 1) / kKeyBlock * kKeyBlock * dim;
  for (size_t h = 0; h < static_cast<size_t>(shape.heads); ++h) {
    const auto attend = [&](auto function, size_t row) {
      function(q + row * q_stride + h * dim, q_stride, dim, scale, keys + h * key_size,
               values + h * dim, value_stride, n, out + row * out_stride + h * dim, out_stride);
    };
    size_t r = 0;
    const auto rows = static_cast<size_t>(queries);
    // Four queries share a pass over the keys.
    for (; r + 4 <= rows; r += 4) attend(AttendHead<4>, r);
    if (rows - r == 3) attend(AttendHead<3>, r);
    if (rows - r == 2) attend(AttendHead<2>, r);
    if (rows - r == 1) attend(AttendHead<1>, r);
  }
}

// sum_i q[i] k[i]
HWY_INLINE float Dot(const float* q, const float* k, size_t dim) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  auto sums = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= dim; i += lanes) {
    sums = hn::MulAdd(hn::LoadU(d, q + i), hn::LoadU(d, k + i), sums);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < dim; ++i) sum += q[i] * k[i];
  return sum;
}

// out[i] = sum_t p[t] v_t[i] for kVectors vectors of columns.
template <class D, size_t kVectors>
HWY_INLINE void WeighCells(D d, const float* p, absl::Span<const float* const> cells, size_t offset,
                           float* out) {
  const size_t lanes = hn::Lanes(d);
  decltype(hn::Zero(d)) sums[kVectors];
  for (size_t c = 0; c < kVectors; ++c) sums[c] = hn::Zero(d);
  for (size_t t = 0; t < cells.size(); ++t) {
    const float* v = cells[t] + offset;
    const auto weight = hn::Set(d, p[t]);
    for (size_t c = 0; c < kVectors; ++c) {
      sums[c] = hn::MulAdd(weight, hn::LoadU(d, v + c * lanes), sums[c]);
    }
  }
  for (size_t c = 0; c < kVectors; ++c) hn::StoreU(sums[c], d, out + c * lanes);
}

void AttendCellsAll(const AttentionShape& shape, const float* q,
                    absl::Span<const float* const> cells, size_t key_offset, size_t value_offset,
                    float* scores, float* out) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto dim = static_cast<size_t>(shape.head_dim);
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  for (size_t h = 0; h < static_cast<size_t>(shape.heads); ++h) {
    const size_t head = h * dim;
    for (size_t t = 0; t < cells.size(); ++t) {
      scores[t] = scale * Dot(q + head, cells[t] + key_offset + head, dim);
    }
    const float most = Maximum(scores, cells.size(), -std::numeric_limits<float>::infinity());
    const float inverse = 1.0f / Exponentials(scores, cells.size(), most);
    for (size_t t = 0; t < cells.size(); ++t) scores[t] *= inverse;
    size_t i = 0;
    for (; i + 4 * lanes <= dim; i += 4 * lanes) {
      WeighCells<decltype(d), 4>(d, scores, cells, value_offset + head + i, out + head + i);
    }
    for (; i + lanes <= dim; i += lanes) {
      WeighCells<decltype(d), 1>(d, scores, cells, value_offset + head + i, out + head + i);
    }
    for (; i < dim; ++i) {
      WeighCells<One, 1>(One(), scores, cells, value_offset + head + i, out + head + i);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu {
namespace {
HWY_EXPORT(AttendAll);
HWY_EXPORT(AttendCellsAll);

size_t PackedPositions(int positions) {
  return (static_cast<size_t>(positions) + kKeyBlock - 1) / kKeyBlock * kKeyBlock;
}
}  // namespace

size_t PackedKeySize(const AttentionShape& shape, int positions) {
  return static_cast<size_t>(shape.heads) * static_cast<size_t>(shape.head_dim) *
         PackedPositions(positions);
}

void PackKeys(const AttentionShape& shape, const float* keys, size_t stride, int positions,
              float* packed) {
  const auto dim = static_cast<size_t>(shape.head_dim);
  const auto n = static_cast<size_t>(positions);
  const size_t head_size = PackedPositions(positions) * dim;
  for (size_t h = 0; h < static_cast<size_t>(shape.heads); ++h) {
    float* to = packed + h * head_size;
    if (n % kKeyBlock != 0)
      std::fill_n(to + n / kKeyBlock * kKeyBlock * dim, kKeyBlock * dim, 0.0f);
    for (size_t s = 0; s < n; ++s) {
      const float* from = keys + s * stride + h * dim;
      float* column = to + s / kKeyBlock * kKeyBlock * dim + s % kKeyBlock;
      for (size_t i = 0; i < dim; ++i) column[i * kKeyBlock] = from[i];
    }
  }
}

void Attend(const AttentionShape& shape, const float* q, size_t q_stride, int queries,
            const float* keys, const float* values, size_t value_stride, int positions, float* out,
            size_t out_stride) {
  HWY_DYNAMIC_DISPATCH(AttendAll)
  (shape, q, q_stride, queries, keys, values, value_stride, positions, out, out_stride);
}

void AttendCells(const AttentionShape& shape, const float* q, absl::Span<const float* const> cells,
                 size_t key_offset, size_t value_offset, float* scores, float* out) {
  HWY_DYNAMIC_DISPATCH(AttendCellsAll)(shape, q, cells, key_offset, value_offset, scores, out);
}

}  // namespace nibu
#endif  // HWY_ONCE
