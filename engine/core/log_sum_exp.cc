// A running log-sum-exp. When a larger number comes, the sum so far is rescaled to it.
#include "engine/core/log_sum_exp.h"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/core/log_sum_exp.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Returns sum_i exp(x[i] - shift). No x[i] is above the shift.
float SumExp(const float* x, size_t n, float shift) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto shifts = hn::Set(d, shift);
  auto sums = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    sums = hn::Add(sums, ExpOfNegative(d, hn::Sub(hn::LoadU(d, x + i), shifts)));
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < n; ++i) sum += std::exp(x[i] - shift);
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu::internal {
namespace {
HWY_EXPORT(SumExp);
}  // namespace

void LogSumExp::Add(absl::Span<const float> numbers) {
  float largest = largest_;
  for (const float x : numbers) largest = std::max(largest, x);
  Add(numbers, largest);
}

void LogSumExp::Add(absl::Span<const float> numbers, float largest) {
  if (largest == -std::numeric_limits<float>::infinity()) return;
  if (largest > largest_) {
    sum_ *= std::exp(largest_ - largest);
    largest_ = largest;
  }
  sum_ += HWY_DYNAMIC_DISPATCH(SumExp)(numbers.data(), numbers.size(), largest_);
}

}  // namespace nibu::internal
#endif  // HWY_ONCE
