#include "engine/attention/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/attention/kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/attention/cache.h"
#include "engine/ops/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kTile = 256;   // keys between two updates of the running maximum
constexpr size_t kQueries = 4;  // share a pass over the keys

static_assert(hn::MaxLanes(Floats()) <= kKeyBlock);

// See AddToSoftmax.
HWY_INLINE float ExtendSoftmax(const float* bias, size_t n, float* scores,
                               RunningSoftmax* softmax) {
  if (bias != nullptr) AddArrays(bias, n, scores);
  const Floats d;
  size_t filled = n;
  for (; filled % hn::Lanes(d) != 0; ++filled) {
    scores[filled] = -std::numeric_limits<float>::infinity();
  }
  auto best = hn::Set(d, softmax->maximum);
  for (size_t i = 0; i < filled; i += hn::Lanes(d)) best = hn::Max(best, hn::LoadU(d, scores + i));
  const float most = hn::GetLane(hn::MaxOfLanes(d, best));
  const float keep = softmax->keys == 0 ? 0.0f : std::exp(softmax->maximum - most);
  softmax->maximum = most;
  const float sum = Sum(filled, [=](auto tag, size_t i, auto so_far) HWY_ATTR {
    const auto e = ExpOfNegative(tag, hn::Sub(hn::LoadU(tag, scores + i), hn::Set(tag, most)));
    hn::StoreU(e, tag, scores + i);
    return hn::Add(so_far, e);
  });
  softmax->sum = softmax->sum * keep + sum;
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

// Calls f(count, i) for runs of kMost of i = 0 .. n - 1, then for runs of half as many, down to 1.
template <size_t kMost, typename F>
HWY_INLINE void ForEachRun(size_t n, F f, size_t i = 0) {
  for (; i + kMost <= n; i += kMost) f(std::integral_constant<size_t, kMost>(), i);
  if constexpr (kMost > 1) ForEachRun<kMost / 2>(n, f, i);
}

// scores[r][s] = scale * sum_i q[r][i] k[s][i] for kBlocks blocks of keys, [d][kKeyBlock] each.
// Several independent sums hide the latency of the multiply-adds.
template <size_t kRows, size_t kBlocks, typename T>
HWY_INLINE void ScoreBlocks(const float* const* q, size_t dim, float scale, const T* keys,
                            float* scores) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const auto scales = hn::Set(d, scale);
  for (size_t part = 0; part < kKeyBlock; part += lanes) {
    hn::Vec<Floats> sums[kRows][kBlocks];
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
  const T* const keys = static_cast<const T*>(packed);
  ForEachRun<kRows == 1 ? 4 : 2>(blocks, [=](auto count, size_t b) HWY_ATTR {
    ScoreBlocks<kRows, count>(q, dim, scale, keys + b * dim * kKeyBlock, scores + b * kKeyBlock);
  });
}

// out[r][i] = out[r][i] * keep[r] + sum_s p[r][s] v[s][i] for kVectors vectors of columns.
// `values(s)` is v[s]; keep null: out is not read.
template <size_t kRows, size_t kVectors, class D, typename Values>
HWY_INLINE void WeighColumns(D d, const float* p, const float* keep, Values values,
                             size_t positions, float* const* out, size_t column) {
  const size_t lanes = hn::Lanes(d);
  hn::Vec<D> sums[kRows][kVectors];
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kVectors; ++c) {
      sums[r][c] = hn::Zero(d);
      if (keep == nullptr) continue;
      sums[r][c] = hn::Mul(hn::LoadU(d, out[r] + column + c * lanes), hn::Set(d, keep[r]));
    }
  }
  for (size_t s = 0; s < positions; ++s) {
    const auto* v = values(s) + column;
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

// The same for all columns of a head.
template <size_t kRows, typename Values>
HWY_INLINE void Weigh(const float* p, const float* keep, Values values, size_t positions,
                      size_t dim, float* const* out) {
  const Floats d;
  const size_t vectors = dim / hn::Lanes(d);
  ForEachRun<kRows == 1 ? 4 : 2>(vectors, [=](auto count, size_t i) HWY_ATTR {
    WeighColumns<kRows, count>(d, p, keep, values, positions, out, i * hn::Lanes(d));
  });
  for (size_t i = vectors * hn::Lanes(d); i < dim; ++i) {
    WeighColumns<kRows, 1>(One(), p, keep, values, positions, out, i);
  }
}

template <size_t kRows, typename T>
void WeighRows(const float* p, const float* keep, const void* rows, size_t stride, size_t positions,
               size_t dim, float* const* out) {
  const T* const first = static_cast<const T*>(rows);
  Weigh<kRows>(
      p, keep, [=](size_t s) { return first + s * stride; }, positions, dim, out);
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
    const T* const k = Elements<T>(cell, history.offset) + key;
    *scores++ = scale * Sum(dim, [=](auto d, size_t i, auto so_far) HWY_ATTR {
                  return hn::MulAdd(hn::LoadU(d, q + i), LoadFloats(d, k + i), so_far);
                });
  }
}

// out[i] = sum_t p[t] v_t[i], from element `value` of a cell on.
template <typename T>
void WeighCells(const float* p, size_t dim, const CellHistory& history, size_t value, float* out) {
  const auto values = [value, cells = history.cells.data(), offset = history.offset](size_t t) {
    return Elements<T>(cells[t], offset) + value;
  };
  Weigh<1>(p, nullptr, values, history.cells.size(), dim, &out);
}

// What differs between the types of stored elements.
struct Kernels {
  decltype(&Scores<1, float>) score[kQueries];  // of 1, 2, ... queries
  decltype(&WeighRows<1, float>) weigh[kQueries];
  decltype(&ScoreCells<float>) score_cells;
  decltype(&WeighCells<float>) weigh_cells;
};
template <typename T>
constexpr Kernels kKernelsFor = {
    {Scores<1, T>, Scores<2, T>, Scores<3, T>, Scores<4, T>},
    {WeighRows<1, T>, WeighRows<2, T>, WeighRows<3, T>, WeighRows<4, T>},
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
        const size_t padded = PaddedPositions(count);
        const size_t scales = h * memory.scale_stride + start;
        kernels.score[n - 1](q, dim, scale, keys + start * dim * element, padded / kKeyBlock,
                             scores);
        for (size_t r = 0; r < n; ++r) {
          float* const part = scores + r * kTile;
          if (memory.key_scales != nullptr)
            MultiplyArrays(memory.key_scales + scales, padded, part);
          const float* bias = spec.bias.Of(h, static_cast<size_t>(queries.first) + row + r, start);
          keep[r] = ExtendSoftmax(bias, count, part, &softmax[r]);
          if (memory.value_scales != nullptr) {
            MultiplyArrays(memory.value_scales + scales, padded, part);
          }
        }
        kernels.weigh[n - 1](scores, keep, values + start * memory.value_stride * element,
                             memory.value_stride, count, dim, out);
      }
      for (size_t r = 0; r < n; ++r) {
        const float inverse = softmax[r].Finish();
        for (size_t i = 0; i < dim; ++i) out[r][i] *= inverse;
      }
    }
    keys += PaddedPositions(positions) * dim * element;
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
