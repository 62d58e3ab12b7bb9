#include "engine/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/attention/attention.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/attention/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using One = hn::CappedTag<float, 1>;

constexpr size_t kTile = 256;  // keys between two updates of the running maximum

// Cached elements as floats. T: float, hwy::bfloat16_t or int8_t.
template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const hwy::bfloat16_t* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::bfloat16_t, D>(), from));
}

template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const int8_t* from) {
  const hn::RebindToSigned<D> di;
  return hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(hn::Rebind<int8_t, D>(), from)));
}

// scores[r][s] = scale * sum_i q[r][i] k[s][i] for kBlocks blocks of keys, [d][kKeyBlock] each.
// Several independent sums hide the latency of the multiply-adds.
template <size_t kRows, size_t kBlocks, typename T>
HWY_INLINE void ScoreBlocks(const float* const* q, size_t dim, float scale, const T* keys,
                            float* scores) {
  const Block d;
  const size_t lanes = hn::Lanes(d);
  const auto scales = hn::Set(d, scale);
  for (size_t part = 0; part < kKeyBlock; part += lanes) {
    hn::Vec<Block> sums[kRows][kBlocks];
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t b = 0; b < kBlocks; ++b) sums[r][b] = hn::Zero(d);
    }
    for (size_t i = 0; i < dim; ++i) {
      for (size_t b = 0; b < kBlocks; ++b) {
        const auto key = LoadFloats(d, keys + (b * dim + i) * kKeyBlock + part);
        for (size_t r = 0; r < kRows; ++r) {
          sums[r][b] = hn::MulAdd(hn::Set(d, q[r][i]), key, sums[r][b]);
        }
      }
    }
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t b = 0; b < kBlocks; ++b) {
        hn::Store(hn::Mul(sums[r][b], scales), d, scores + r * kTile + b * kKeyBlock + part);
      }
    }
  }
}

template <size_t kRows, typename T>
HWY_INLINE void Scores(const float* const* q, size_t dim, float scale, const T* keys, size_t blocks,
                       float* scores) {
  constexpr size_t kAtOnce = kRows == 1 ? 4 : 2;
  size_t b = 0;
  for (; b + kAtOnce <= blocks; b += kAtOnce) {
    ScoreBlocks<kRows, kAtOnce>(q, dim, scale, keys + b * dim * kKeyBlock, scores + b * kKeyBlock);
  }
  for (; kAtOnce > 2 && b + 2 <= blocks; b += 2) {
    ScoreBlocks<kRows, 2>(q, dim, scale, keys + b * dim * kKeyBlock, scores + b * kKeyBlock);
  }
  for (; b < blocks; ++b) {
    ScoreBlocks<kRows, 1>(q, dim, scale, keys + b * dim * kKeyBlock, scores + b * kKeyBlock);
  }
}

// out[r][i] = out[r][i] * keep[r] + sum_s p[r][s] v[s][i] for kVectors vectors of columns.
template <size_t kRows, size_t kVectors, class D, typename T>
HWY_INLINE void WeighColumns(D d, const float* p, const float* keep, const T* values,
                             size_t value_stride, size_t positions, float* const* out,
                             size_t column) {
  const size_t lanes = hn::Lanes(d);
  hn::Vec<D> sums[kRows][kVectors];
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kVectors; ++c) {
      sums[r][c] = hn::Mul(hn::LoadU(d, out[r] + column + c * lanes), hn::Set(d, keep[r]));
    }
  }
  for (size_t s = 0; s < positions; ++s) {
    const T* v = values + s * value_stride + column;
    for (size_t c = 0; c < kVectors; ++c) {
      const auto value = LoadFloats(d, v + c * lanes);
      for (size_t r = 0; r < kRows; ++r) {
        sums[r][c] = hn::MulAdd(hn::Set(d, p[r * kTile + s]), value, sums[r][c]);
      }
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kVectors; ++c) {
      hn::StoreU(sums[r][c], d, out[r] + column + c * lanes);
    }
  }
}

// WeighColumns for all columns of a head.
template <size_t kRows, typename T>
HWY_INLINE void Weigh(const float* p, const float* keep, const T* values, size_t value_stride,
                      size_t positions, size_t dim, float* const* out) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  constexpr size_t kAtOnce = kRows == 1 ? 4 : 2;
  size_t i = 0;
  for (; i + kAtOnce * lanes <= dim; i += kAtOnce * lanes) {
    WeighColumns<kRows, kAtOnce>(d, p, keep, values, value_stride, positions, out, i);
  }
  for (; i + lanes <= dim; i += lanes) {
    WeighColumns<kRows, 1>(d, p, keep, values, value_stride, positions, out, i);
  }
  for (; i < dim; ++i) {
    WeighColumns<kRows, 1>(One(), p, keep, values, value_stride, positions, out, i);
  }
}

// x[i] *= y[i]; both have room for whole vectors after n.
HWY_INLINE void Multiply(const float* y, size_t n, float* x) {
  const Block d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, x + i);
  }
}

// One head of some queries.
template <typename T>
struct HeadTask {
  const float* q;
  size_t q_stride;
  size_t dim;
  float scale;
  const T* keys;
  const T* values;
  size_t value_stride;
  size_t positions;
  const float* bias;  // of distance 0; null: none
  const float* key_scales;
  const float* value_scales;
  float* out;
  size_t out_stride;
};

// Queries row .. row + kRows - 1.
template <size_t kRows, typename T>
void AttendHead(const HeadTask<T>& task, size_t row) {
  HWY_ALIGN float scores[kRows * kTile];
  float maximum[kRows];
  float sum[kRows];
  float keep[kRows];
  const float* queries[kRows];
  float* outputs[kRows];
  for (size_t r = 0; r < kRows; ++r) {
    maximum[r] = -std::numeric_limits<float>::infinity();
    sum[r] = 0;
    queries[r] = task.q + (row + r) * task.q_stride;
    outputs[r] = task.out + (row + r) * task.out_stride;
    std::fill_n(outputs[r], task.dim, 0.0f);
  }
  for (size_t start = 0; start < task.positions; start += kTile) {
    const size_t n = std::min(kTile, task.positions - start);
    const size_t blocks = (n + kKeyBlock - 1) / kKeyBlock;
    Scores<kRows>(queries, task.dim, task.scale, task.keys + start * task.dim, blocks, scores);
    for (size_t r = 0; r < kRows; ++r) {
      float* scores_row = scores + r * kTile;
      if (std::is_same_v<T, int8_t>) Multiply(task.key_scales + start, n, scores_row);
      if (task.bias != nullptr) AddBias(task.bias + start - (row + r), n, scores_row);
      const float most = Maximum(scores_row, n, maximum[r]);
      keep[r] = start == 0 ? 0.0f : std::exp(maximum[r] - most);
      maximum[r] = most;
      sum[r] = sum[r] * keep[r] + Exponentials(scores_row, n, most);
      if (std::is_same_v<T, int8_t>) Multiply(task.value_scales + start, n, scores_row);
    }
    Weigh<kRows>(scores, keep, task.values + start * task.value_stride, task.value_stride, n,
                 task.dim, outputs);
  }
  for (size_t r = 0; r < kRows; ++r) {
    const float inverse = 1.0f / sum[r];
    for (size_t i = 0; i < task.dim; ++i) outputs[r][i] *= inverse;
  }
}

template <typename T>
void AttendWith(const AttentionShape& shape, const float* q, size_t q_stride, size_t rows,
                const KeysValues& memory, float* out, size_t out_stride) {
  const auto dim = static_cast<size_t>(shape.head_dim);
  const auto positions = static_cast<size_t>(memory.positions);
  const size_t key_size = (positions + kKeyBlock - 1) / kKeyBlock * kKeyBlock * dim;
  HeadTask<T> task{q,
                   q_stride,
                   dim,
                   shape.Scale(),
                   static_cast<const T*>(memory.keys),
                   static_cast<const T*>(memory.values),
                   memory.value_stride,
                   positions,
                   memory.bias.values,
                   memory.key_scales,
                   memory.value_scales,
                   out,
                   out_stride};
  for (int h = 0; h < shape.heads; ++h) {
    // Four queries share a pass over the keys.
    size_t r = 0;
    for (; r + 4 <= rows; r += 4) AttendHead<4>(task, r);
    if (rows - r == 3) AttendHead<3>(task, r);
    if (rows - r == 2) AttendHead<2>(task, r);
    if (rows - r == 1) AttendHead<1>(task, r);
    task.q += dim;
    task.keys += key_size;
    task.values += dim;
    if (task.bias != nullptr) task.bias += memory.bias.stride;
    task.key_scales += memory.scale_stride;
    task.value_scales += memory.scale_stride;
    task.out += dim;
  }
}

void AttendAll(const AttentionShape& shape, const float* q, size_t q_stride, size_t rows,
               const KeysValues& memory, float* out, size_t out_stride) {
  switch (memory.type) {
    case CacheType::kFloat32:
      return AttendWith<float>(shape, q, q_stride, rows, memory, out, out_stride);
    case CacheType::kBFloat16:
      return AttendWith<hwy::bfloat16_t>(shape, q, q_stride, rows, memory, out, out_stride);
    case CacheType::kInt8:
      return AttendWith<int8_t>(shape, q, q_stride, rows, memory, out, out_stride);
  }
}

// sum_i q[i] k[i]
template <typename T>
HWY_INLINE float Dot(const float* q, const T* k, size_t dim) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  auto sums = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= dim; i += lanes) {
    sums = hn::MulAdd(hn::LoadU(d, q + i), LoadFloats(d, k + i), sums);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < dim; ++i) sum += q[i] * hn::GetLane(LoadFloats(One(), k + i));
  return sum;
}

template <typename T>
HWY_INLINE const T* Elements(const void* cell, size_t offset) {
  return reinterpret_cast<const T*>(static_cast<const char*>(cell) + offset);
}

// out[i] = sum_t p[t] v_t[i] for kVectors vectors of columns, from element `value` of a cell on.
template <size_t kVectors, typename T, class D>
HWY_INLINE void WeighCells(D d, const float* p, absl::Span<void* const> cells, size_t offset,
                           size_t value, float* out) {
  const size_t lanes = hn::Lanes(d);
  hn::Vec<D> sums[kVectors];
  for (size_t c = 0; c < kVectors; ++c) sums[c] = hn::Zero(d);
  for (size_t t = 0; t < cells.size(); ++t) {
    const T* v = Elements<T>(cells[t], offset) + value;
    const auto weight = hn::Set(d, p[t]);
    for (size_t c = 0; c < kVectors; ++c) {
      sums[c] = hn::MulAdd(weight, LoadFloats(d, v + c * lanes), sums[c]);
    }
  }
  for (size_t c = 0; c < kVectors; ++c) hn::StoreU(sums[c], d, out + c * lanes);
}

template <typename T>
void AttendCellsWith(const AttentionShape& shape, const float* q, const CellHistory& history,
                     float* scores, float* out) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const absl::Span<void* const> cells = history.cells;
  const auto dim = static_cast<size_t>(shape.head_dim);
  const float scale = shape.Scale();
  const float* bias = history.bias.values;
  const auto heads = static_cast<size_t>(shape.heads);
  // Behind the 2 D elements of an int8 cell.
  const size_t scales_offset = history.offset + (2 * heads * dim + 3) / 4 * 4;
  for (size_t h = 0; h < heads; ++h) {
    const size_t key = h * dim;
    const size_t value = key + heads * dim;
    for (size_t t = 0; t < cells.size(); ++t) {
      scores[t] = scale * Dot(q + key, Elements<T>(cells[t], history.offset) + key, dim);
      if (std::is_same_v<T, int8_t>) scores[t] *= Elements<float>(cells[t], scales_offset)[h];
    }
    if (bias != nullptr) {
      AddBias(bias + 1 - cells.size(), cells.size(), scores);
      bias += history.bias.stride;
    }
    const float most = Maximum(scores, cells.size(), -std::numeric_limits<float>::infinity());
    const float inverse = 1.0f / Exponentials(scores, cells.size(), most);
    for (size_t t = 0; t < cells.size(); ++t) {
      scores[t] *= inverse;
      if (std::is_same_v<T, int8_t>)
        scores[t] *= Elements<float>(cells[t], scales_offset)[heads + h];
    }
    float* to = out + key;
    size_t i = 0;
    for (; i + 4 * lanes <= dim; i += 4 * lanes) {
      WeighCells<4, T>(d, scores, cells, history.offset, value + i, to + i);
    }
    for (; i + lanes <= dim; i += lanes) {
      WeighCells<1, T>(d, scores, cells, history.offset, value + i, to + i);
    }
    for (; i < dim; ++i) {
      WeighCells<1, T>(One(), scores, cells, history.offset, value + i, to + i);
    }
  }
}

void AttendCellsAll(const AttentionShape& shape, const float* q, const CellHistory& history,
                    float* scores, float* out) {
  switch (history.type) {
    case CacheType::kFloat32:
      return AttendCellsWith<float>(shape, q, history, scores, out);
    case CacheType::kBFloat16:
      return AttendCellsWith<hwy::bfloat16_t>(shape, q, history, scores, out);
    case CacheType::kInt8:
      return AttendCellsWith<int8_t>(shape, q, history, scores, out);
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

}  // namespace

void Attend(const AttentionShape& shape, const float* q, size_t q_stride, int queries,
            const KeysValues& memory, float* out, size_t out_stride) {
  HWY_DYNAMIC_DISPATCH(AttendAll)
  (shape, q, q_stride, static_cast<size_t>(queries), memory, out, out_stride);
}

void AttendCells(const AttentionShape& shape, const float* q, const CellHistory& history,
                 float* scores, float* out) {
  HWY_DYNAMIC_DISPATCH(AttendCellsAll)(shape, q, history, scores, out);
}

}  // namespace nibu
#endif  // HWY_ONCE
