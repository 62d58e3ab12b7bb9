// Samples by the Gumbel-max trick. With topk or topp, the tokens to draw from are collected first
// and Finish draws; otherwise each block is drawn from as it comes.
#include "engine/search/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/search/sampler.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/core/vectors-inl.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// noisy[i] = scale * x[i] + the Gumbel noise of token first + i. The noise is -log(-log(u)), where
// MurmurHash3's finalizer makes the 23 bits of u from the token and `noise`.
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
HWY_EXPORT(AddGumbel);
constexpr float kInfinity = std::numeric_limits<float>::infinity();
}  // namespace

void Sampler::Reset(const Sampling& sampling) {
  sampling_ = sampling;
  samples_.clear();
  largest_ = -kInfinity;
  best_.Reset(sampling.topk == 0 ? TopK::kAll : sampling.topk);
}

void Sampler::Add(const Noise& noise) {
  samples_.push_back({noise.seed(), -kInfinity, {-1, 0.0f}});
}

void Sampler::Update(const float* logits, const LogitTokens& tokens) {
  if (!is_unlimited()) {
    best_.Update(logits, tokens);
    largest_ = best_.largest();
    return;
  }
  Draw(logits, tokens);
  for (int i = 0; i < tokens.count(); ++i) largest_ = std::max(largest_, logits[i]);
}

// AddGumbel takes runs of consecutive tokens: a whole block, or the runs that a list consists of.
void Sampler::Draw(const float* logits, const LogitTokens& tokens) {
  const auto count = static_cast<size_t>(tokens.count());
  noisy_.resize(std::max(noisy_.size(), count));
  const float scale = 1.0f / std::max(sampling_.temperature, 1e-30f);  // no logit overflows
  for (Sample& sample : samples_) {
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
      i = FindAbove(noisy_.data(), i, count, sample.best);
      if (i == count) break;
      sample.best = noisy_[i];
      sample.token = {tokens[static_cast<int>(i)], logits[i]};
    }
  }
}

// The list is sorted no further than needed, since a few tokens usually have enough probability.
void Sampler::CutNucleus(std::vector<Candidate>* best) const {
  const auto weight = [this](const Candidate& c) {
    return static_cast<double>(std::exp((c.log_prob - largest_) / sampling_.temperature));
  };
  double enough = 0;
  for (const Candidate& c : *best) enough += weight(c);
  enough *= static_cast<double>(sampling_.topp);
  double sum = 0;
  size_t kept = 0;
  for (size_t sorted = 0; kept < best->size() && sum < enough; ++kept) {
    if (kept == sorted) {
      sorted = std::min(best->size(), 4 * sorted + 64);
      std::partial_sort(best->begin() + static_cast<long>(kept),
                        best->begin() + static_cast<long>(sorted), best->end(), IsBetterCandidate);
    }
    sum += weight((*best)[kept]);
  }
  best->resize(std::max<size_t>(kept, 1));
}

void Sampler::Finish(std::vector<Candidate>* drawn) {
  drawn->clear();
  if (!is_unlimited()) {
    std::vector<Candidate>& best = best_.Finish();
    if (best.empty()) return;
    if (sampling_.topp < 1) CutNucleus(&best);
    std::vector<int> tokens;
    std::vector<float> logits;
    for (const Candidate& c : best) {
      tokens.push_back(c.token);
      logits.push_back(c.log_prob);
    }
    Draw(logits.data(), LogitTokens(tokens));
  }
  for (const Sample& sample : samples_) {
    if (sample.token.token >= 0) drawn->push_back(sample.token);
  }
}

}  // namespace nibu::internal
#endif  // HWY_ONCE
