// The parts that the attention kernels of all element types share, for Highway's targets.
#if defined(NIBU_ENGINE_ATTENTION_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NIBU_ENGINE_ATTENTION_TILE_INL_H_
#undef NIBU_ENGINE_ATTENTION_TILE_INL_H_
#else
#define NIBU_ENGINE_ATTENTION_TILE_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/attention/cache.h"
#include "engine/core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kTile = FullAttention::kMostTile;
constexpr size_t kQueries = 4;     // queries of one call of a kernel
constexpr size_t kQueryTile = 64;  // queries of a head that share a tile of keys and values
constexpr size_t kHeads = 8;       // heads of a step of at most kQueries queries

// Vectors that a kernel adds up at a time for each of its kRows queries. 16 sums hide the latency
// of multiply-adds; only AVX-512 has registers for so many.
template <size_t kRows>
constexpr size_t kRun = kRows == 1 || hn::MaxLanes(Floats()) == 16 ? 4 : 2;

static_assert(hn::MaxLanes(Floats()) <= kKeyBlock);

// A head's stored keys and values, up to kTile of them.
struct HeadTile {
  size_t dim;
  size_t positions;
  const void* keys;
  const void* values;
  size_t value_stride;
  const float* key_scales;  // of int8, as what follows
  const float* value_scales;
  uint16_t* scratch;  // for kQueries queries

  size_t stride() const { return PaddedPositions(positions); }  // of scores, from query to query
  size_t blocks() const { return stride() / kKeyBlock; }
};

// Calls f(count, i) for runs of kMost of i = 0 .. n - 1, then for runs of half as many, down to 1.
template <size_t kMost, typename F>
HWY_INLINE void ForEachRun(size_t n, F f, size_t i = 0) {
  for (; i + kMost <= n; i += kMost) f(std::integral_constant<size_t, kMost>(), i);
  if constexpr (kMost > 1) ForEachRun<kMost / 2>(n, f, i);
}

// Calls f(tag, count, column) for runs of `count` vectors of a head's columns, for as many queries.
template <size_t kRows, typename F>
HWY_INLINE void ForEachColumnRun(size_t dim, F f) {
  const Floats d;
  const size_t vectors = dim / hn::Lanes(d);
  ForEachRun<kRun<kRows>>(vectors,
                          [=](auto count, size_t i) HWY_ATTR { f(d, count, i * hn::Lanes(d)); });
  for (size_t i = vectors * hn::Lanes(d); i < dim; ++i) {
    f(One(), std::integral_constant<size_t, 1>(), i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu::internal
HWY_AFTER_NAMESPACE();

#endif  // NIBU_ENGINE_ATTENTION_TILE_INL_H_
