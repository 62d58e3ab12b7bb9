// Computes the scores that have weights, and attends by them.
#include "engine/attention/mixers/score.h"

#include <algorithm>
#include <vector>

#include "absl/base/macros.h"
#include "engine/attention/cache.h"
#include "engine/attention/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/attention/mixers/score.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// out [dim] = map x, with x [dim] and map [dim, dim], whose rows are `columns` floats apart.
void MapVector(const float* map, size_t columns, const float* x, size_t dim, float* out) {
  for (size_t i = 0; i < dim; ++i, map += columns) {
    out[i] = Sum(dim, [=](auto d, size_t j, auto so_far) HWY_ATTR {
      return hn::MulAdd(hn::LoadU(d, map + j), hn::LoadU(d, x + j), so_far);
    });
  }
}

// tanh|x| = (1 - e) / (1 + e) with e = exp(-2 |x|)
template <class D, class V>
HWY_INLINE V Tanh(D d, V x) {
  const auto one = hn::Set(d, 1.0f);
  const auto e = ExpOfNegative(d, hn::Mul(hn::Set(d, -2.0f), hn::Abs(x)));
  return hn::CopySignToAbs(hn::Div(hn::Sub(one, e), hn::Add(one, e)), x);
}

// scores [blocks, kKeyBlock] += v^T tanh(k + q) for each k of `keys` [blocks, dim, kKeyBlock].
void AddConcatScores(const float* keys, const float* q, const float* v, size_t dim, size_t blocks,
                     float* scores) {
  constexpr size_t kBlock = kKeyBlock;
  const hn::CappedTag<float, kBlock> d;
  for (size_t b = 0; b < blocks; ++b, keys += dim * kBlock, scores += kBlock) {
    for (size_t lane = 0; lane < kBlock; lane += hn::Lanes(d)) {
      auto sum = hn::LoadU(d, scores + lane);
      for (size_t c = 0; c < dim; ++c) {
        const auto k = hn::LoadU(d, keys + c * kBlock + lane);
        sum = hn::MulAdd(hn::Set(d, v[c]), Tanh(d, hn::Add(k, hn::Set(d, q[c]))), sum);
      }
      hn::StoreU(sum, d, scores + lane);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu::internal {
namespace {
HWY_EXPORT(MapVector);
HWY_EXPORT(AddConcatScores);

// Queries whose concat scores are held at a time.
constexpr int kMostQueries = 64;

// out [I] = each head's map times x [I]; `first`: the map's first column.
void MapHeads(const AttentionSpec& spec, size_t first, const float* x, float* out) {
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const size_t columns = spec.mixer.score == Score::kConcat ? 2 * dim : dim;
  for (size_t h = 0; h < static_cast<size_t>(spec.shape.heads); ++h) {
    HWY_DYNAMIC_DISPATCH(MapVector)
    (spec.weights.map + h * dim * columns + first, columns, x + h * dim, dim, out + h * dim);
  }
}

// Concat scores, and spec.bias, of `count` queries from `row` on: [H, count, S'], in the arena.
ScoreBias ConcatBias(const AttentionSpec& spec, const Queries& queries, size_t row, size_t count,
                     const KeysValues& memory, Arena* arena) {
  const auto heads = static_cast<size_t>(spec.shape.heads);
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const auto positions = static_cast<size_t>(memory.positions);
  const size_t padded = PaddedPositions(positions);
  float* const values = arena->Floats(heads * count * padded);
  std::fill_n(values, heads * count * padded, 0.0f);
  float* scores = values;
  for (size_t h = 0; h < heads; ++h) {
    for (size_t r = row; r < row + count; ++r, scores += padded) {
      const float* const bias = spec.bias.Of(h, static_cast<size_t>(queries.first) + r, 0);
      if (bias != nullptr) std::copy_n(bias, positions, scores);
      HWY_DYNAMIC_DISPATCH(AddConcatScores)
      (static_cast<const float*>(memory.keys) + h * memory.head_stride * dim,
       queries.rows + r * queries.stride + h * dim, spec.weights.vector + h * dim, dim,
       padded / kKeyBlock, scores);
    }
  }
  return {values, count * padded, static_cast<ptrdiff_t>(padded)};
}

}  // namespace

Queries MapQueries(const AttentionSpec& spec, const Queries& queries, Arena* arena) {
  const bool is_concat = spec.mixer.score == Score::kConcat;
  if (!is_concat && spec.mixer.score != Score::kGeneral) return queries;
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  Queries mapped = queries;
  mapped.stride = static_cast<size_t>(spec.shape.heads) * dim;
  float* row = arena->Floats(static_cast<size_t>(queries.count) * mapped.stride);
  mapped.rows = row;
  for (size_t r = 0; r < static_cast<size_t>(queries.count); ++r, row += mapped.stride) {
    MapHeads(spec, is_concat ? dim : 0, queries.rows + r * queries.stride, row);
  }
  return mapped;
}

void MapKeys(const AttentionSpec& spec, size_t stride, int positions, float* keys) {
  if (spec.mixer.score != Score::kConcat) return;
  std::vector<float> row(static_cast<size_t>(spec.shape.heads) *
                         static_cast<size_t>(spec.shape.head_dim));
  for (int j = 0; j < positions; ++j, keys += stride) {
    MapHeads(spec, 0, keys, row.data());
    std::copy(row.begin(), row.end(), keys);
  }
}

void AttendByScore(const AttentionSpec& spec, const Queries& queries, const KeysValues& memory,
                   const AttentionOutput& output, Arena* arena, Prefetcher* next) {
  ABSL_ASSERT(spec.mixer.score != Score::kConcat || memory.type == CacheType::kFloat32);
  AttentionSpec products = spec;
  if (spec.mixer.score != Score::kScaledDot) products.shape.scale = 1;
  if (spec.mixer.score != Score::kConcat) {
    return AttendPacked(products, queries, memory, output, arena, next);
  }
  // The scores are biases of the products with a query of zeros.
  const auto inner =
      static_cast<size_t>(spec.shape.heads) * static_cast<size_t>(spec.shape.head_dim);
  float* const zeros = arena->Floats(inner);
  std::fill_n(zeros, inner, 0.0f);
  const int most = output.weights != nullptr ? queries.count : kMostQueries;
  for (int row = 0; row < queries.count; row += most) {
    const Arena::Mark mark = arena->mark();
    const int count = std::min(most, queries.count - row);
    const auto first = static_cast<size_t>(row);
    products.bias = ConcatBias(spec, queries, first, static_cast<size_t>(count), memory, arena);
    AttendPacked(products, {zeros, 0, count}, memory,
                 {output.rows + first * output.stride, output.stride, output.weights}, arena, next);
    arena->Rewind(mark);
  }
}

}  // namespace nibu::internal
#endif  // HWY_ONCE
