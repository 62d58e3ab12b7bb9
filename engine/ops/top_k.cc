#include "engine/ops/top_k.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/top_k.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/ops/vectors-inl.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
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

// sum_i exp(x[i] - shift), none of x above the shift
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

// noisy[i] = scale * x[i] + a Gumbel variable of token first + i: -log(-log(u)), u of 23 bits, by
// MurmurHash3's finalizer.
void AddGumbel(const float* x, size_t n, float scale, uint32_t noise, uint32_t first,
               float* noisy) {
  ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
    const hn::RebindToUnsigned<decltype(d)> du;
    const hn::RebindToSigned<decltype(d)> di;
    auto h = hn::Add(hn::Iota(du, first + static_cast<uint32_t>(i)), hn::Set(du, noise));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<16>(h)), hn::Set(du, 0x85ebca6bu));
    h = hn::Xor(hn::Mul(hn::Xor(h, hn::ShiftRight<13>(h)), hn::Set(du, 0xc2b2ae35u)),
                hn::Set(du, noise));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<16>(h)), hn::Set(du, 0x85ebca6bu));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<13>(h)), hn::Set(du, 0xc2b2ae35u));
    h = hn::ShiftRight<9>(hn::Xor(h, hn::ShiftRight<16>(h)));
    const auto u = hn::Mul(hn::Add(hn::ConvertTo(d, hn::BitCast(di, h)), hn::Set(d, 0.5f)),
                           hn::Set(d, 0x1p-23f));
    const auto gumbel = hn::Neg(hn::Log(d, hn::Neg(hn::Log(d, u))));
    hn::StoreU(hn::MulAdd(hn::LoadU(d, x + i), hn::Set(d, scale), gumbel), d, noisy + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu::internal {
namespace {
HWY_EXPORT(FindAbove);
HWY_EXPORT(SumExp);
HWY_EXPORT(AddGumbel);
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kAll = std::numeric_limits<int>::max();
constexpr size_t kMostSorted = 64;

bool IsBefore(const Candidate& a, const Candidate& b) {
  return a.log_prob != b.log_prob ? a.log_prob > b.log_prob : a.token < b.token;
}
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
  log_sum_.reset();
  best_.clear();
  wanted_.clear();
  samples_.clear();
}

void TopK::Reset(const Sampling& sampling, absl::Span<const Noise> noises) {
  // Of all tokens none but the samples has to be kept, unless topp asks which are the best.
  Reset(sampling.topk == 0 && sampling.topp < 1 ? kAll : sampling.topk, /*normalize=*/true);
  sampling_ = sampling;
  for (const Noise& noise : noises) samples_.push_back({noise.seed(), -kInfinity, {-1, 0.0f}});
}

// Of many, best_ is a heap with the worst one in front; of few, a list, where a token goes behind
// its equals, since tokens come in ascending order.
void TopK::Insert(int token, float logit) {
  size_t i = best_.size();
  best_.push_back({token, logit});
  if (k_ > kMostSorted) {
    std::push_heap(best_.begin(), best_.end(), IsBefore);
    if (best_.size() > k_) {
      std::pop_heap(best_.begin(), best_.end(), IsBefore);
      best_.pop_back();
    }
    return;
  }
  for (; i > 0 && best_[i - 1].log_prob < logit; --i) best_[i] = best_[i - 1];
  best_[i] = {token, logit};
  if (best_.size() > k_) best_.pop_back();
}

void TopK::Update(const float* logits, const LogitTokens& tokens) {
  const auto size = static_cast<size_t>(tokens.count());
  float most = sum_max_;
  if (k_ == 0) {
    Draw(logits, tokens);
    for (size_t i = 0; i < size; ++i) most = std::max(most, logits[i]);
  } else if (k_ == kAll) {
    for (size_t i = 0; i < size; ++i) {
      best_.push_back({tokens[static_cast<int>(i)], logits[i]});
      most = std::max(most, logits[i]);
    }
  } else {
    for (size_t i = 0; true; ++i) {
      const Candidate* const worst =
          best_.size() < k_ ? nullptr : &(k_ > kMostSorted ? best_.front() : best_.back());
      const float threshold = worst == nullptr ? -kInfinity : worst->log_prob;
      i = HWY_DYNAMIC_DISPATCH(FindAbove)(logits, i, size, threshold);
      if (i == size) break;
      Insert(tokens[static_cast<int>(i)], logits[i]);
      most = std::max(most, logits[i]);
    }
  }
  if (!normalize_ || most == -kInfinity) return;
  if (most > sum_max_) {
    sum_ *= std::exp(sum_max_ - most);
    sum_max_ = most;
  }
  sum_ += HWY_DYNAMIC_DISPATCH(SumExp)(logits, size, sum_max_);
}

void TopK::Draw(const float* logits, const LogitTokens& tokens) {
  const auto count = static_cast<size_t>(tokens.count());
  noisy_.resize(std::max(noisy_.size(), count));
  const float scale = 1.0f / std::max(sampling_.temperature, 1e-30f);  // no logit overflows
  for (Sample& sample : samples_) {
    // Runs of tokens: all of a block, or of those listed each its own.
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
      const int first = tokens[static_cast<int>(begin)];
      do {
        ++end;
      } while (end < count &&
               tokens[static_cast<int>(end)] == first + static_cast<int>(end - begin));
      HWY_DYNAMIC_DISPATCH(AddGumbel)
      (logits + begin, end - begin, scale, sample.noise, static_cast<uint32_t>(first),
       noisy_.data() + begin);
    }
    for (size_t i = 0; true; ++i) {
      i = HWY_DYNAMIC_DISPATCH(FindAbove)(noisy_.data(), i, count, sample.best);
      if (i == count) break;
      sample.best = noisy_[i];
      sample.token = {tokens[static_cast<int>(i)], logits[i]};
    }
  }
}

void TopK::CutNucleus() {
  const auto weight = [this](const Candidate& c) {
    return static_cast<double>(std::exp((c.log_prob - sum_max_) / sampling_.temperature));
  };
  double enough = 0;
  for (const Candidate& c : best_) enough += weight(c);
  enough *= static_cast<double>(sampling_.topp);
  // A few are enough, as a rule: no more are sorted than it takes.
  double sum = 0;
  size_t kept = 0;
  for (size_t sorted = 0; kept < best_.size() && sum < enough; ++kept) {
    if (kept == sorted) {
      sorted = std::min(best_.size(), 4 * sorted + 64);
      std::partial_sort(best_.begin() + static_cast<long>(kept),
                        best_.begin() + static_cast<long>(sorted), best_.end(), IsBefore);
    }
    sum += weight(best_[kept]);
  }
  best_.resize(std::max<size_t>(kept, 1));
}

void TopK::Normalize(Candidate* candidate) const {
  if (!normalize_) return;
  candidate->log_prob -= LogSum();
  if (std::isnan(candidate->log_prob)) candidate->log_prob = -kInfinity;  // out of a float's range
}

absl::Span<const Candidate> TopK::Finish() {
  if (k_ > kMostSorted && k_ != kAll) std::sort_heap(best_.begin(), best_.end(), IsBefore);
  if (!samples_.empty()) {
    if (k_ != 0 && !best_.empty()) {
      if (sampling_.topp < 1) CutNucleus();
      std::vector<int> tokens;
      std::vector<float> logits;
      for (const Candidate& c : best_) {
        tokens.push_back(c.token);
        logits.push_back(c.log_prob);
      }
      Draw(logits.data(), LogitTokens(tokens));
    }
    best_.clear();
    for (const Sample& sample : samples_) {
      if (sample.token.token >= 0) best_.push_back(sample.token);
    }
  }
  for (Candidate& c : best_) Normalize(&c);
  for (Candidate& c : wanted_) Normalize(&c);
  return best_;
}

}  // namespace nibu::internal
#endif  // HWY_ONCE
