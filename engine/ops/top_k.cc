#include "engine/ops/top_k.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/top_k.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The first i in [start, n) with x[i] > threshold, or n.
size_t FindAbove(const float* x, size_t start, size_t n, float threshold) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto thresholds = hn::Set(d, threshold);
  size_t i = start;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto a = hn::Max(hn::LoadU(d, x + i), hn::LoadU(d, x + i + lanes));
    const auto b = hn::Max(hn::LoadU(d, x + i + 2 * lanes), hn::LoadU(d, x + i + 3 * lanes));
    if (!hn::AllFalse(d, hn::Gt(hn::Max(a, b), thresholds))) break;
  }
  for (; i + lanes <= n; i += lanes) {
    const auto found = hn::FindFirstTrue(d, hn::Gt(hn::LoadU(d, x + i), thresholds));
    if (found >= 0) return i + static_cast<size_t>(found);
  }
  for (; i < n; ++i) {
    if (x[i] > threshold) return i;
  }
  return n;
}

// sum_i exp(x[i] - shift)
float SumExp(const float* x, size_t n, float shift) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto shifts = hn::Set(d, shift);
  auto sums = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    sums = hn::Add(sums, hn::Exp(d, hn::Sub(hn::LoadU(d, x + i), shifts)));
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < n; ++i) sum += std::exp(x[i] - shift);
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu {
namespace {
HWY_EXPORT(FindAbove);
HWY_EXPORT(SumExp);
constexpr float kInfinity = std::numeric_limits<float>::infinity();
}  // namespace

int LogitTokens::Find(int token) const {
  if (listed_ == nullptr) return token >= first_ && token < first_ + count_ ? token - first_ : -1;
  const int* const found = std::lower_bound(listed_, listed_ + count_, token);
  return found < listed_ + count_ && *found == token ? static_cast<int>(found - listed_) : -1;
}

void TopK::Reset(int k, bool normalize) {
  k_ = static_cast<size_t>(k);
  normalize_ = normalize;
  sum_ = 0;
  sum_max_ = -kInfinity;
  best_.clear();
  best_.reserve(k_ + 1);
}

// Behind its equals, since tokens come in ascending order.
void TopK::Insert(int token, float logit) {
  size_t i = best_.size();
  best_.push_back({token, logit});
  for (; i > 0 && best_[i - 1].log_prob < logit; --i) best_[i] = best_[i - 1];
  best_[i] = {token, logit};
  if (best_.size() > k_) best_.pop_back();
}

void TopK::Update(const float* logits, const LogitTokens& tokens) {
  const auto size = static_cast<size_t>(tokens.count());
  size_t i = 0;
  while (true) {
    const float threshold = best_.size() < k_ ? -kInfinity : best_.back().log_prob;
    i = HWY_DYNAMIC_DISPATCH(FindAbove)(logits, i, size, threshold);
    if (i == size) break;
    Insert(tokens[static_cast<int>(i)], logits[i]);
    ++i;
  }
  if (!normalize_ || best_.empty()) return;
  const float most = best_.front().log_prob;
  if (most > sum_max_) {
    sum_ *= std::exp(sum_max_ - most);
    sum_max_ = most;
  }
  sum_ += HWY_DYNAMIC_DISPATCH(SumExp)(logits, size, most);
}

absl::Span<const Candidate> TopK::Finish() {
  if (normalize_) {
    const float log_sum = sum_max_ + std::log(sum_);
    for (Candidate& c : best_) {
      c.log_prob -= log_sum;
      if (std::isnan(c.log_prob)) c.log_prob = -kInfinity;  // logits out of a float's range
    }
  }
  return best_;
}

}  // namespace nibu
#endif  // HWY_ONCE
