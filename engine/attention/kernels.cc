#include "engine/attention/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/attention/kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/attention/cache.h"
#include "engine/ops/vectors-inl.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kTile = 256;   // keys between two updates of the running maximum
constexpr size_t kQueries = 4;  // share a pass over the keys

// Vectors of at most one key block.
using Block = hn::CappedTag<float, kKeyBlock>;

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

// See AddToSoftmax.
HWY_INLINE float ExtendSoftmax(const float* bias, size_t n, float* scores,
                               RunningSoftmax* softmax) {
  if (bias != nullptr) {
    ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, scores + i), hn::LoadU(d, bias + i)), d, scores + i);
    });
  }
  const float most = Maximum(scores, n, softmax->maximum);
  const float keep = softmax->keys == 0 ? 0.0f : std::exp(softmax->maximum - most);
  softmax->maximum = most;
  softmax->sum = softmax->sum * keep + Exponentials(scores, n, most);
  if (softmax->weights != nullptr) {
    for (size_t i = 0; i < softmax->keys; ++i) softmax->weights[i] *= keep;
    std::copy_n(scores, n, softmax->weights + softmax->keys);
  }
  softmax->keys += n;
  return keep;
}

float ExtendByTile(const float* bias, size_t n, float* scores, RunningSoftmax* softmax) {
  return ExtendSoftmax(bias, n, scores, softmax);
}

void AddPart(const float* part, float keep, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = out[i] * keep + part[i];
}

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
void Scores(const float* const* q, size_t dim, float scale, const void* packed, size_t blocks,
            float* scores) {
  constexpr size_t kAtOnce = kRows == 1 ? 4 : 2;
  const T* const keys = static_cast<const T*>(packed);
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
void Weigh(const float* p, const float* keep, const void* rows, size_t value_stride,
           size_t positions, size_t dim, float* const* out) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const T* const values = static_cast<const T*>(rows);
  constexpr size_t kAtOnce = kRows == 1 ? 4 : 2;
  size_t i = 0;
  for (; i + kAtOnce * lanes <= dim; i += kAtOnce * lanes) {
    WeighColumns<kRows, kAtOnce>(d, p, keep, values, value_stride, positions, out, i);
  }
  for (; i + lanes <= dim; i += lanes) {
    WeighColumns<kRows, 1>(d, p, keep, values, value_stride, positions, out, i);
  }
  for (; i < dim; ++i) {
    for (size_t r = 0; r < kRows; ++r) {
      WeighColumns<1, 1>(One(), p + r * kTile, keep + r, values, value_stride, positions, out + r,
                         i);
    }
  }
}

// x[i] *= y[i]; both have room for whole vectors after n.
HWY_INLINE void Multiply(const float* y, size_t n, float* x) {
  const Block d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, x + i);
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

// scores[t] = scale * sum_i q[i] k_t[i], from element `key` of a cell on.
template <typename T>
void ScoreCells(const float* q, size_t dim, float scale, const CellHistory& history, size_t key,
                float* scores) {
  for (const void* cell : history.cells) {
    *scores++ = scale * Dot(q, Elements<T>(cell, history.offset) + key, dim);
  }
}

// out[i] = sum_t p[t] v_t[i] for kVectors vectors of columns, from element `value` of a cell on.
template <size_t kVectors, typename T, class D>
HWY_INLINE void WeighCellColumns(D d, const float* p, const CellHistory& history, size_t value,
                                 float* out) {
  const size_t lanes = hn::Lanes(d);
  hn::Vec<D> sums[kVectors];
  for (size_t c = 0; c < kVectors; ++c) sums[c] = hn::Zero(d);
  for (size_t t = 0; t < history.cells.size(); ++t) {
    const T* v = Elements<T>(history.cells[t], history.offset) + value;
    const auto weight = hn::Set(d, p[t]);
    for (size_t c = 0; c < kVectors; ++c) {
      sums[c] = hn::MulAdd(weight, LoadFloats(d, v + c * lanes), sums[c]);
    }
  }
  for (size_t c = 0; c < kVectors; ++c) hn::StoreU(sums[c], d, out + c * lanes);
}

// The same for all columns of a head.
template <typename T>
void WeighCells(const float* p, size_t dim, const CellHistory& history, size_t value, float* out) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 4 * lanes <= dim; i += 4 * lanes) {
    WeighCellColumns<4, T>(d, p, history, value + i, out + i);
  }
  for (; i + lanes <= dim; i += lanes) {
    WeighCellColumns<1, T>(d, p, history, value + i, out + i);
  }
  for (; i < dim; ++i) WeighCellColumns<1, T>(One(), p, history, value + i, out + i);
}

// What differs between the types of stored elements.
struct Kernels {
  decltype(&Scores<1, float>) score[kQueries];  // of 1, 2, ... queries
  decltype(&Weigh<1, float>) weigh[kQueries];
  decltype(&ScoreCells<float>) score_cells;
  decltype(&WeighCells<float>) weigh_cells;
};
template <typename T>
constexpr Kernels kKernelsFor = {{Scores<1, T>, Scores<2, T>, Scores<3, T>, Scores<4, T>},
                                 {Weigh<1, T>, Weigh<2, T>, Weigh<3, T>, Weigh<4, T>},
                                 ScoreCells<T>,
                                 WeighCells<T>};

constexpr const Kernels* kKernels[] = {&kKernelsFor<float>, &kKernelsFor<hwy::bfloat16_t>,
                                       &kKernelsFor<int8_t>};  // by CacheType

void AttendToPacked(const AttentionSpec& spec, const Queries& queries, const KeysValues& memory,
                    const AttentionOutput& output) {
  const Kernels& kernels = *kKernels[static_cast<size_t>(memory.type)];
  const size_t element = ElementSize(memory.type);
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const auto positions = static_cast<size_t>(memory.positions);
  const auto rows = static_cast<size_t>(queries.count);
  const float scale = spec.shape.Scale();
  const char* keys = static_cast<const char*>(memory.keys);
  const char* values = static_cast<const char*>(memory.values);
  HWY_ALIGN float scores[kQueries * kTile];
  RunningSoftmax softmax[kQueries];
  float keep[kQueries];
  const float* q[kQueries];
  float* out[kQueries];
  for (size_t h = 0; h < static_cast<size_t>(spec.shape.heads); ++h) {
    for (size_t row = 0; row < rows; row += kQueries) {
      const size_t n = std::min(kQueries, rows - row);
      for (size_t r = 0; r < n; ++r) {
        q[r] = queries.rows + (row + r) * queries.stride + h * dim;
        out[r] = output.rows + (row + r) * output.stride + h * dim;
        std::fill_n(out[r], dim, 0.0f);
        softmax[r] = {output.WeightsOf(h, row + r, queries, positions)};
      }
      for (size_t start = 0; start < positions; start += kTile) {
        const size_t count = std::min(kTile, positions - start);
        const size_t scales = h * memory.scale_stride + start;
        kernels.score[n - 1](q, dim, scale, keys + start * dim * element,
                             (count + kKeyBlock - 1) / kKeyBlock, scores);
        for (size_t r = 0; r < n; ++r) {
          float* const part = scores + r * kTile;
          if (memory.key_scales != nullptr) Multiply(memory.key_scales + scales, count, part);
          const float* bias = spec.bias.Of(h, static_cast<size_t>(queries.first) + row + r, start);
          keep[r] = ExtendSoftmax(bias, count, part, &softmax[r]);
          if (memory.value_scales != nullptr) Multiply(memory.value_scales + scales, count, part);
        }
        kernels.weigh[n - 1](scores, keep, values + start * memory.value_stride * element,
                             memory.value_stride, count, dim, out);
      }
      for (size_t r = 0; r < n; ++r) {
        const float inverse = softmax[r].Finish();
        for (size_t i = 0; i < dim; ++i) out[r][i] *= inverse;
      }
    }
    keys += (positions + kKeyBlock - 1) / kKeyBlock * kKeyBlock * dim * element;
    values += dim * element;
  }
}

void AttendToCells(const AttentionSpec& spec, const Queries& queries, const CellHistory& history,
                   const AttentionOutput& output, float* scores) {
  const Kernels& kernels = *kKernels[static_cast<size_t>(history.type)];
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const auto heads = static_cast<size_t>(spec.shape.heads);
  const size_t positions = history.cells.size();
  const float scale = spec.shape.Scale();
  // Behind the 2 D elements of an int8 cell.
  const size_t scales = history.offset + (2 * heads * dim + 3) / 4 * 4;
  const auto scale_by = [&](size_t which) HWY_ATTR {
    if (history.type != CacheType::kInt8) return;
    for (size_t t = 0; t < positions; ++t) {
      scores[t] *= Elements<float>(history.cells[t], scales)[which];
    }
  };
  for (size_t h = 0; h < heads; ++h) {
    const size_t key = h * dim;
    kernels.score_cells(queries.rows + key, dim, scale, history, key, scores);
    scale_by(h);
    RunningSoftmax softmax{output.WeightsOf(h, 0, queries, positions)};
    ExtendSoftmax(spec.bias.Of(h, static_cast<size_t>(queries.first), 0), positions, scores,
                  &softmax);
    const float inverse = softmax.Finish();
    for (size_t t = 0; t < positions; ++t) scores[t] *= inverse;
    scale_by(heads + h);
    kernels.weigh_cells(scores, dim, history, key + heads * dim, output.rows + key);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu {
namespace {
HWY_EXPORT(AttendToPacked);
HWY_EXPORT(AttendToCells);
HWY_EXPORT(ExtendByTile);
HWY_EXPORT(AddPart);
}  // namespace

void AttendPacked(const AttentionSpec& spec, const Queries& queries, const KeysValues& memory,
                  const AttentionOutput& output) {
  HWY_DYNAMIC_DISPATCH(AttendToPacked)(spec, queries, memory, output);
}

void AttendCells(const AttentionSpec& spec, const Queries& queries, const CellHistory& history,
                 const AttentionOutput& output, float* scores) {
  HWY_DYNAMIC_DISPATCH(AttendToCells)(spec, queries, history, output, scores);
}

float AddToSoftmax(const float* bias, size_t n, float* scores, RunningSoftmax* softmax) {
  return HWY_DYNAMIC_DISPATCH(ExtendByTile)(bias, n, scores, softmax);
}

void Accumulate(const float* part, float keep, size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(AddPart)(part, keep, n, out);
}

}  // namespace nibu
#endif  // HWY_ONCE
