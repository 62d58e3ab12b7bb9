#include "engine/ops/ssru.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/ssru.cc"
// foreach_target.h must come before what is built for each target.
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace nibu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void Step(const float* gate_value, size_t dim, const float* previous, float* cell, float* out) {
  const hn::ScalableTag<float> d;
  const auto one = hn::Set(d, 1.0f);
  const size_t whole = dim / hn::Lanes(d) * hn::Lanes(d);
  for (size_t i = 0; i < whole; i += hn::Lanes(d)) {
    const auto f = hn::Div(one, hn::Add(one, hn::Exp(d, hn::Neg(hn::LoadU(d, gate_value + i)))));
    const auto v = hn::LoadU(d, gate_value + dim + i);
    const auto c = hn::MulAdd(f, hn::Sub(hn::LoadU(d, previous + i), v), v);
    hn::StoreU(c, d, cell + i);
    hn::StoreU(hn::Max(c, hn::Zero(d)), d, out + i);
  }
  for (size_t i = whole; i < dim; ++i) {
    const float f = 1.0f / (1.0f + std::exp(-gate_value[i]));
    const float v = gate_value[dim + i];
    cell[i] = f * (previous[i] - v) + v;
    out[i] = cell[i] > 0.0f ? cell[i] : 0.0f;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu {

HWY_EXPORT(Step);

void SsruStep(const float* gate_value, size_t dim, const float* previous, float* cell, float* out) {
  HWY_DYNAMIC_DISPATCH(Step)(gate_value, dim, previous, cell, out);
}

}  // namespace nibu
#endif  // HWY_ONCE
