// The kernels of full attention, for every type of stored elements.
//
// AttendToPacked, for each head, a tile of queries and each tile of keys in turn (Dao et al. 2022):
//   s = scale q k^T + bias                         scores of the tile
//   m' = max(m, max s),  keep = exp(m - m')        the running maximum
//   p = exp(s - m'),     l = l keep + sum p        the running sum
//   o = o keep + p v                               the running output
// and in the end o / l. No matrix of all scores is stored.
// AttendToCells does the same for one query and one tile of all keys, each in a cell of its own.
#include "engine/attention/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/attention/kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/attention/int8_kernels-inl.h"
#include "engine/attention/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The softmax of one query's scores, a tile of keys at a time.
struct RunningSoftmax {
  float* weights = nullptr;  // receives the weights of all keys; null: not wanted
  size_t keys = 0;           // keys so far; maximum and sum are theirs
  float maximum = -std::numeric_limits<float>::infinity();
  float sum = 0;

  // Divides the weights by the sum, and returns what the output is to be multiplied by.
  float Finish() const {
    const float inverse = 1.0f / sum;
    for (size_t i = 0; weights != nullptr && i < keys; ++i) weights[i] *= inverse;
    return inverse;
  }
};

// Adds the next n keys: turns their scores into exp(scores + bias - maximum). A null `bias` adds
// nothing. `scores` has room for whole vectors after n, which are filled up. Returns the factor by
// which the sums over the keys so far have to be multiplied; it is 0 for the first keys.
HWY_INLINE float ExtendSoftmax(const float* bias, size_t n, float* scores,
                               RunningSoftmax* softmax) {
  if (bias != nullptr) AddArrays(bias, n, scores);
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const size_t filled = RoundUpToVectors(n);
  if (n < filled) {  // by a whole vector: loads wait long for several stores to be done
    const size_t last = filled - lanes;
    const auto hidden = hn::Set(d, -std::numeric_limits<float>::infinity());
    const auto shown = hn::FirstN(d, n - last);
    hn::StoreU(hn::IfThenElse(shown, hn::LoadU(d, scores + last), hidden), d, scores + last);
  }
  auto best = hn::Set(d, softmax->maximum);
  for (size_t i = 0; i < filled; i += lanes) best = hn::Max(best, hn::LoadU(d, scores + i));
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

// Loads cached elements as floats.
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
                            size_t stride, float* scores) {
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
        hn::Store(hn::Mul(sums[r][b], scales), d, scores + r * stride + b * kKeyBlock + part);
      }
    }
  }
}

template <size_t kRows, typename T>
void Scores(const float* const* q, float scale, const HeadTile& tile, float* scores) {
  const T* const keys = static_cast<const T*>(tile.keys);
  ForEachRun<kRun<kRows>>(tile.blocks(), [=, &tile](auto count, size_t b) HWY_ATTR {
    ScoreBlocks<kRows, count>(q, tile.dim, scale, keys + b * tile.dim * kKeyBlock, tile.stride(),
                              scores + b * kKeyBlock);
  });
}

// out[r][i] = out[r][i] * keep[r] + sum_s p[r][s] v[s][i] for kVectors vectors of columns.
// p[r] begins r * stride behind p; `values(s)` is v[s]; keep null: out is not read.
template <size_t kRows, size_t kVectors, class D, typename Values>
HWY_INLINE void WeighColumns(D d, const float* p, size_t stride, const float* keep, Values values,
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
        sums[r][c] = hn::MulAdd(hn::Set(d, p[r * stride + s]), value, sums[r][c]);
      }
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kVectors; ++c) {
      hn::StoreU(sums[r][c], d, out[r] + column + c * lanes);
    }
  }
}

// Does the same for all columns of a head.
template <size_t kRows, typename Values>
HWY_INLINE void Weigh(const float* p, size_t stride, const float* keep, Values values,
                      size_t positions, size_t dim, float* const* out) {
  ForEachColumnRun<kRows>(dim, [=](auto d, auto count, size_t column) HWY_ATTR {
    WeighColumns<kRows, count>(d, p, stride, keep, values, positions, out, column);
  });
}

template <size_t kRows, typename T>
void WeighRows(float* p, const float* keep, const HeadTile& tile, float* const* out) {
  const T* const first = static_cast<const T*>(tile.values);
  const auto values = [first, stride = tile.value_stride](size_t s) { return first + s * stride; };
  Weigh<kRows>(p, tile.stride(), keep, values, tile.positions, tile.dim, out);
}

template <typename T>
HWY_INLINE const T* Elements(const void* cell, size_t offset) {
  return reinterpret_cast<const T*>(static_cast<const char*>(cell) + offset);
}

// scores[h][t] = scale * sum_i q_h[i] k_t,h[i], [H][positions, padded].
template <typename T>
void ScoreCells(const float* q, const AttentionShape& shape, const CellHistory& history, Arena*,
                float* scores) {
  const auto dim = static_cast<size_t>(shape.head_dim);
  for (size_t h = 0; h < static_cast<size_t>(shape.heads); ++h, q += dim) {
    float* score = scores + h * PaddedPositions(history.cells.size());
    for (const void* cell : history.cells) {
      const T* const k = Elements<T>(cell, history.offset) + h * dim;
      *score++ = shape.Scale() * Sum(dim, [=](auto d, size_t i, auto so_far) HWY_ATTR {
                   return hn::MulAdd(hn::LoadU(d, q + i), LoadFloats(d, k + i), so_far);
                 });
    }
  }
}

// out[i] = sum_t p[t] v_t[i], from element `value` of a cell on.
template <typename T>
void WeighCells(const float* p, size_t dim, const CellHistory& history, size_t value, float* out) {
  const auto values = [value, cells = history.cells.data(), offset = history.offset](size_t t) {
    return Elements<T>(cells[t], offset) + value;
  };
  Weigh<1>(p, /*stride=*/0, nullptr, values, history.cells.size(), dim, &out);
}

// The functions that differ between the types of stored elements.
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
constexpr Kernels kInt8Kernels = {
    {ScoresOfInt8<1>, ScoresOfInt8<2>, ScoresOfInt8<3>, ScoresOfInt8<4>},
    {WeighInt8<1>, WeighInt8<2>, WeighInt8<3>, WeighInt8<4>},
    ScoreInt8Cells,
    WeighCells<int8_t>};

constexpr const Kernels* kKernels[] = {&kKernelsFor<float>, &kKernelsFor<hwy::bfloat16_t>,
                                       &kInt8Kernels};  // by CacheType

// Returns head h's keys and values of n positions from `start` on.
HeadTile TileOf(const KeysValues& memory, size_t h, size_t start, size_t n, size_t dim) {
  const PackedLayout layout(memory.type);
  HeadTile tile;
  tile.dim = dim;
  tile.positions = n;
  tile.keys = static_cast<const char*>(memory.keys) +
              (h * memory.head_stride + start) * layout.KeyBytes(dim);
  tile.values = static_cast<const char*>(memory.values) +
                (h * dim * layout.pair + start * memory.value_stride) * layout.element;
  tile.value_stride = memory.value_stride;
  if (memory.key_scales != nullptr) {
    tile.key_scales = memory.key_scales + h * memory.scale_stride + start;
    tile.value_scales = memory.value_scales + h * memory.scale_stride + start;
  }
  return tile;
}

void AttendToPacked(const AttentionSpec& spec, const Queries& queries, const KeysValues& memory,
                    const AttentionOutput& output, Arena* arena, Prefetcher* next) {
  const Kernels& kernels = *kKernels[static_cast<size_t>(memory.type)];
  const auto heads = static_cast<size_t>(spec.shape.heads);
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const auto positions = static_cast<size_t>(memory.positions);
  const auto rows = static_cast<size_t>(queries.count);
  const auto most = static_cast<size_t>(spec.mixer.tile());
  const float scale = spec.shape.Scale();
  // Few queries take a step of several heads at a time, because a step is a chain of operations
  // that wait for each other. Many go head by head, a tile of them for each tile of keys and
  // values.
  const bool few = rows <= kQueries;
  const size_t group = few ? kHeads : 1;
  const size_t most_rows = few ? kQueries : kQueryTile;
  float* const scores = arena->Floats(group * most_rows * kTile);
  auto* const scratch = reinterpret_cast<uint16_t*>(arena->Floats(kQueries * (dim + 1) / 2));
  HeadTile tiles[kHeads];
  static_assert(kHeads * kQueries <= kQueryTile);
  // Query r of head g of a group has entry g * n + r of these arrays and of the scores.
  RunningSoftmax softmax[kQueryTile];
  float keep[kQueryTile];
  const float* q[kQueryTile];
  float* out[kQueryTile];
  for (size_t first = 0; first < heads; first += group) {
    const size_t width = std::min(group, heads - first);
    for (size_t row = 0; row < rows; row += most_rows) {
      const size_t n = std::min(most_rows, rows - row);
      for (size_t i = 0; i < width * n; ++i) {
        const size_t h = first + i / n;
        const size_t r = row + i % n;
        q[i] = queries.rows + r * queries.stride + h * dim;
        out[i] = output.rows + r * output.stride + h * dim;
        std::fill_n(out[i], dim, 0.0f);
        softmax[i] = {output.WeightsOf(h, r, queries, positions)};
      }
      for (size_t start = 0; start < positions; start += most) {
        for (size_t g = 0; g < width; ++g) {
          tiles[g] = TileOf(memory, first + g, start, std::min(most, positions - start), dim);
          tiles[g].scratch = scratch;
          for (size_t r = 0; r < n; r += kQueries) {
            const size_t i = g * n + r;
            kernels.score[std::min(kQueries, n - r) - 1](q + i, scale, tiles[g],
                                                         scores + i * tiles[g].stride());
          }
          if (next != nullptr) next->Advance();
        }
        const size_t stride = tiles[0].stride();
        for (size_t i = 0; i < width * n; ++i) {
          const size_t query = static_cast<size_t>(queries.first) + row + i % n;
          keep[i] = ExtendSoftmax(spec.bias.Of(first + i / n, query, start), tiles[0].positions,
                                  scores + i * stride, &softmax[i]);
        }
        for (size_t g = 0; g < width; ++g) {
          for (size_t r = 0; r < n; r += kQueries) {
            const size_t i = g * n + r;
            kernels.weigh[std::min(kQueries, n - r) - 1](scores + i * stride, keep + i, tiles[g],
                                                         out + i);
          }
          if (next != nullptr) next->Advance();
        }
      }
      for (size_t i = 0; i < width * n; ++i) {
        const float inverse = softmax[i].Finish();
        for (size_t c = 0; c < dim; ++c) out[i][c] *= inverse;
      }
    }
  }
}

void AttendToCells(const AttentionSpec& spec, const Queries& queries, const CellHistory& history,
                   const AttentionOutput& output, Arena* arena, Prefetcher* next) {
  const Kernels& kernels = *kKernels[static_cast<size_t>(history.type)];
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const auto heads = static_cast<size_t>(spec.shape.heads);
  const size_t positions = history.cells.size();
  const size_t stride = PaddedPositions(positions);
  float* const scores = arena->Floats(heads * stride);
  // A step of all heads at a time, as above.
  kernels.score_cells(queries.rows, spec.shape, history, arena, scores);
  const size_t scales = history.offset + CellScales(spec.shape) + heads * sizeof(float);
  for (size_t h = 0; h < heads; ++h) {
    if (next != nullptr) next->Advance();
    float* const row = scores + h * stride;
    RunningSoftmax softmax{output.WeightsOf(h, 0, queries, positions)};
    ExtendSoftmax(spec.bias.Of(h, static_cast<size_t>(queries.first), 0), positions, row, &softmax);
    const float inverse = softmax.Finish();
    for (size_t t = 0; t < positions; ++t) {
      const bool is_scaled = history.type == CacheType::kInt8;
      row[t] *= is_scaled ? inverse * Elements<float>(history.cells[t], scales)[h] : inverse;
    }
  }
  for (size_t h = 0; h < heads; ++h) {
    if (next != nullptr) next->Advance();
    kernels.weigh_cells(scores + h * stride, dim, history, (heads + h) * dim,
                        output.rows + h * dim);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu::internal {
namespace {
HWY_EXPORT(AttendToPacked);
HWY_EXPORT(AttendToCells);
}  // namespace

void AttendPacked(const AttentionSpec& spec, const Queries& queries, const KeysValues& memory,
                  const AttentionOutput& output, Arena* arena, Prefetcher* next) {
  HWY_DYNAMIC_DISPATCH(AttendToPacked)(spec, queries, memory, output, arena, next);
}

void AttendCells(const AttentionSpec& spec, const Queries& queries, const CellHistory& history,
                 const AttentionOutput& output, Arena* arena, Prefetcher* next) {
  HWY_DYNAMIC_DISPATCH(AttendToCells)(spec, queries, history, output, arena, next);
}

}  // namespace nibu::internal
#endif  // HWY_ONCE
