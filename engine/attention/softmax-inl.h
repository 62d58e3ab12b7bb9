// The softmax of a row of scores, piece by piece. For Highway's targets.
#if defined(NIBU_ENGINE_ATTENTION_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NIBU_ENGINE_ATTENTION_SOFTMAX_INL_H_
#undef NIBU_ENGINE_ATTENTION_SOFTMAX_INL_H_
#else
#define NIBU_ENGINE_ATTENTION_SOFTMAX_INL_H_
#endif

#include <cstddef>
#include <limits>

#include "engine/attention/attention.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nibu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

// scores[i] += bias[i].
HWY_INLINE void AddBias(const float* bias, size_t n, float* scores) {
  const Block d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, scores + i), hn::LoadU(d, bias + i)), d, scores + i);
  }
  for (; i < n; ++i) scores[i] += bias[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu
HWY_AFTER_NAMESPACE();

#endif  // NIBU_ENGINE_ATTENTION_SOFTMAX_INL_H_
