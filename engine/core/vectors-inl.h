// Loops over arrays, exp and sigmoid, for Highway's targets.
#if defined(NIBU_ENGINE_CORE_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NIBU_ENGINE_CORE_VECTORS_INL_H_
#undef NIBU_ENGINE_CORE_VECTORS_INL_H_
#else
#define NIBU_ENGINE_CORE_VECTORS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;  // a whole vector of floats
using One = hn::CappedTag<float, 1>;      // a single float

// Floats near this number are 1 apart. Adding it to a number below 2^22 therefore rounds that
// number to a whole one, to nearest even, whose lowest 16 bits (and more) are then the lowest bits
// of the sum.
constexpr float kWholeSteps = 12582912.0f;  // 1.5 * 2^23

// Stores v + zero, rounded to whole numbers, as T (8 or 16 bits), modulo its range.
template <typename T, class D, class V>
HWY_INLINE void StoreRounded(D d, V v, int zero, T* out) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<T, D> narrow;
  const auto bits = hn::Add(v, hn::Set(d, kWholeSteps + static_cast<float>(zero)));
  hn::StoreU(hn::TruncateTo(narrow, hn::BitCast(du, bits)), narrow, out);
}

// Rounds n up to a multiple of the floats in a whole vector.
HWY_INLINE size_t RoundUpToVectors(size_t n) {
  const size_t lanes = hn::Lanes(Floats());
  return (n + lanes - 1) / lanes * lanes;
}

// Calls f(tag, i) for the whole vectors in n floats, which begin at i, then for the other floats
// one by one.
template <typename F>
HWY_INLINE void ForEachVector(size_t n, F f) {
  const Floats d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) f(d, i);
  for (; i < n; ++i) f(One(), i);
}

// Returns a sum over n floats. It begins with 0 and sets sum = f(tag, i, sum) for the whole
// vectors, adds their lanes up, and goes on for the other floats one by one. Several sums (kSums)
// at a time hide the latency of additions where there is little else to do.
template <size_t kSums = 1, typename F>
HWY_INLINE float Sum(size_t n, F f) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<Floats> sums[kSums];
  const auto zero = hn::Zero(d);  // once: GCC 12 fails at -fsanitize=thread otherwise
  for (auto& each : sums) each = zero;
  size_t i = 0;
  for (; i + kSums * lanes <= n; i += kSums * lanes) {
    for (size_t k = 0; k < kSums; ++k) sums[k] = f(d, i + k * lanes, sums[k]);
  }
  for (; i + lanes <= n; i += lanes) sums[0] = f(d, i, sums[0]);
  for (size_t k = 1; k < kSums; ++k) sums[0] = hn::Add(sums[0], sums[k]);
  auto sum = hn::Set(One(), hn::GetLane(hn::SumOfLanes(d, sums[0])));
  for (; i < n; ++i) sum = f(One(), i, sum);
  return hn::GetLane(sum);
}

// Returns the largest |x[i]|; 0 if n is 0. Where an x[i] is NaN, it may be left out: on x86, Max
// returns its second argument then.
inline float MaxAbs(const float* x, size_t n) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const auto abs = [=](size_t i) HWY_ATTR { return hn::Abs(hn::LoadU(d, x + i)); };
  hn::Vec<Floats> most[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    for (size_t k = 0; k < 4; ++k) most[k] = hn::Max(abs(i + k * lanes), most[k]);
  }
  for (; i + lanes <= n; i += lanes) most[0] = hn::Max(abs(i), most[0]);
  most[0] = hn::Max(hn::Max(most[0], most[1]), hn::Max(most[2], most[3]));
  float result = hn::GetLane(hn::MaxOfLanes(d, most[0]));
  for (; i < n; ++i) result = std::max(result, std::abs(x[i]));
  return result;
}

// Sets x[i] += y[i].
inline void AddArrays(const float* y, size_t n, float* x) {
  ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, x + i);
  });
}

// Sets x[i] *= y[i].
inline void MultiplyArrays(const float* y, size_t n, float* x) {
  ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, x + i);
  });
}

// Returns exp(x) for x <= 0, with a relative error below 3e-7, and 0 for x below -86.5. It is 2^(n
// + r) = 2^n p(r), where n is the whole number nearest to x / log(2), r the rest, at most a half,
// and p a minimax polynomial of degree 5.
template <class D, class V>
HWY_INLINE V ExpOfNegative(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto per_log2 = hn::Set(d, 1.44269504f);
  const auto whole = hn::MulAdd(x, per_log2, hn::Set(d, kWholeSteps));
  const auto r = hn::MulSub(x, per_log2, hn::Sub(whole, hn::Set(d, kWholeSteps)));
  auto p = hn::Set(d, 1.3276467e-3f);
  p = hn::MulAdd(p, r, hn::Set(d, 9.675541e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 5.5507135e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 2.402212e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 6.9314694e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0000001f));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, whole));  // n's lowest bits
  const auto power = hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
  return hn::IfThenElseZero(hn::Gt(x, hn::Set(d, -86.5f)), power);
}

// Returns 1 / (1 + exp(-x)), with a relative error below 4e-7, and 0 for x below -86.5.
template <class D, class V>
HWY_INLINE V Sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V e = ExpOfNegative(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu::internal
HWY_AFTER_NAMESPACE();

#endif  // NIBU_ENGINE_CORE_VECTORS_INL_H_
