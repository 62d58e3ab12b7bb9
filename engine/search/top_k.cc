// A running top-k. Almost all logits are worse than the k best so far, so a vector loop (FindAbove)
// skips them; only the others are inserted.
#include "engine/search/top_k.h"

#include <algorithm>

#include "absl/base/macros.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/search/top_k.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Looks at four vectors at a time until one of them has a number above the threshold, then finds
// its place vector by vector; the rest of the array is looked at number by number.
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

}  // namespace HWY_NAMESPACE
}  // namespace nibu::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu::internal {
namespace {
HWY_EXPORT(FindAbove);
// Up to this k, best_ is a sorted list; beyond it, a heap with the worst token in front.
constexpr size_t kMostSorted = 64;
}  // namespace

size_t FindAbove(const float* x, size_t start, size_t n, float threshold) {
  return HWY_DYNAMIC_DISPATCH(FindAbove)(x, start, n, threshold);
}

void TopK::Reset(int k) {
  ABSL_ASSERT(k >= 1);
  k_ = static_cast<size_t>(k);
  largest_ = -std::numeric_limits<float>::infinity();
  best_.clear();
}

// Tokens come in ascending order, so that a token goes behind its equals in the list.
void TopK::Insert(int token, float logit) {
  size_t i = best_.size();
  best_.push_back({token, logit});
  if (k_ > kMostSorted) {
    std::push_heap(best_.begin(), best_.end(), IsBetterCandidate);
    if (best_.size() > k_) {
      std::pop_heap(best_.begin(), best_.end(), IsBetterCandidate);
      best_.pop_back();
    }
    return;
  }
  for (; i > 0 && best_[i - 1].log_prob < logit; --i) best_[i] = best_[i - 1];
  best_[i] = {token, logit};
  if (best_.size() > k_) best_.pop_back();
}

// The threshold is the worst logit kept, once there are k. The largest logit is always found, so
// that largest_ is right.
void TopK::Update(const float* logits, const LogitTokens& tokens) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  const auto size = static_cast<size_t>(tokens.count());
  for (size_t i = 0; true; ++i) {
    float threshold = kNone;
    if (best_.size() == k_) threshold = (k_ > kMostSorted ? best_.front() : best_.back()).log_prob;
    i = FindAbove(logits, i, size, threshold);
    if (i == size) return;
    const int token = tokens[static_cast<int>(i)];
    if (k_ == static_cast<size_t>(kAll)) {
      best_.push_back({token, logits[i]});
    } else {
      Insert(token, logits[i]);
    }
    largest_ = std::max(largest_, logits[i]);
  }
}

std::vector<Candidate>& TopK::Finish() {
  if (k_ > kMostSorted && k_ != static_cast<size_t>(kAll)) {
    std::sort_heap(best_.begin(), best_.end(), IsBetterCandidate);
  }
  return best_;
}

}  // namespace nibu::internal
#endif  // HWY_ONCE
