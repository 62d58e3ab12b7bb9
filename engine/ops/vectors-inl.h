// Loops over arrays, for Highway's targets.
#if defined(NIBU_ENGINE_OPS_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NIBU_ENGINE_OPS_VECTORS_INL_H_
#undef NIBU_ENGINE_OPS_VECTORS_INL_H_
#else
#define NIBU_ENGINE_OPS_VECTORS_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nibu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using One = hn::CappedTag<float, 1>;

// Calls f(tag, i) for whole vectors of n floats, which begin at i, then for the rest one by one.
template <typename F>
HWY_INLINE void ForEachVector(size_t n, F f) {
  const hn::ScalableTag<float> d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) f(d, i);
  for (; i < n; ++i) f(One(), i);
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu
HWY_AFTER_NAMESPACE();

#endif  // NIBU_ENGINE_OPS_VECTORS_INL_H_
