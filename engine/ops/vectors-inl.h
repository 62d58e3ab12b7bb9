// Loops over arrays and what they share, for Highway's targets.
#if defined(NIBU_ENGINE_OPS_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NIBU_ENGINE_OPS_VECTORS_INL_H_
#undef NIBU_ENGINE_OPS_VECTORS_INL_H_
#else
#define NIBU_ENGINE_OPS_VECTORS_INL_H_
#endif

#include <cstddef>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nibu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;  // a whole vector
using One = hn::CappedTag<float, 1>;

// Calls f(tag, i) for whole vectors of n floats, which begin at i, then for the rest one by one.
template <typename F>
HWY_INLINE void ForEachVector(size_t n, F f) {
  const Floats d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) f(d, i);
  for (; i < n; ++i) f(One(), i);
}

// A sum over n floats: so_far = f(tag, i, so_far), from 0 on, for whole vectors, whose lanes are
// added up, then for the rest one by one.
template <typename F>
HWY_INLINE float Sum(size_t n, F f) {
  const Floats d;
  auto sums = hn::Zero(d);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) sums = f(d, i, sums);
  auto sum = hn::Set(One(), hn::GetLane(hn::SumOfLanes(d, sums)));
  for (; i < n; ++i) sum = f(One(), i, sum);
  return hn::GetLane(sum);
}

// x[i] += y[i]
inline void AddArrays(const float* y, size_t n, float* x) {
  ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, x + i);
  });
}

// x[i] *= y[i]
inline void MultiplyArrays(const float* y, size_t n, float* x) {
  ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, x + i);
  });
}

// 1 / (1 + exp(-x))
template <class D, class V>
HWY_INLINE V Sigmoid(D d, V x) {
  return hn::Div(hn::Set(d, 1.0f), hn::Add(hn::Set(d, 1.0f), hn::Exp(d, hn::Neg(x))));
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu
HWY_AFTER_NAMESPACE();

#endif  // NIBU_ENGINE_OPS_VECTORS_INL_H_
