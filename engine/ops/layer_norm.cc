#include "engine/ops/layer_norm.h"

#include <cmath>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/layer_norm.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/ops/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr float kNothing = -0.0f;  // added, changes nothing

// One row. Whole vectors first, then the rest one by one.
void LayerNormRow(const float* gamma, const float* beta, float epsilon, const float* x,
                  const float* y, size_t dim, float* out) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const size_t whole = dim / lanes * lanes;

  // out = z, and its sum.
  auto sums = hn::Zero(d);
  for (size_t i = 0; i < whole; i += lanes) {
    auto z = hn::LoadU(d, x + i);
    if (y != nullptr) z = hn::Add(z, hn::LoadU(d, y + i));
    hn::StoreU(z, d, out + i);
    sums = hn::Add(sums, z);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (size_t i = whole; i < dim; ++i) {
    out[i] = y != nullptr ? x[i] + y[i] : x[i];
    sum += out[i];
  }
  const float mean = beta == nullptr ? 0.0f : sum / static_cast<float>(dim);

  const auto means = hn::Set(d, mean);
  auto squares = hn::Zero(d);
  for (size_t i = 0; i < whole; i += lanes) {
    const auto c = hn::Sub(hn::LoadU(d, out + i), means);
    squares = hn::MulAdd(c, c, squares);
  }
  float square = hn::GetLane(hn::SumOfLanes(d, squares));
  for (size_t i = whole; i < dim; ++i) square += (out[i] - mean) * (out[i] - mean);
  const float inverse = 1.0f / std::sqrt(square / static_cast<float>(dim) + epsilon);

  const auto inverses = hn::Set(d, inverse);
  for (size_t i = 0; i < whole; i += lanes) {
    const auto c = hn::Mul(hn::Sub(hn::LoadU(d, out + i), means), inverses);
    const auto shift = beta != nullptr ? hn::LoadU(d, beta + i) : hn::Set(d, kNothing);
    hn::StoreU(hn::MulAdd(c, hn::LoadU(d, gamma + i), shift), d, out + i);
  }
  for (size_t i = whole; i < dim; ++i) {
    const float shift = beta != nullptr ? beta[i] : kNothing;
    out[i] = (out[i] - mean) * inverse * gamma[i] + shift;
  }
}

void LayerNormRows(const float* gamma, const float* beta, float epsilon, const float* x,
                   const float* y, size_t rows, size_t dim, float* out) {
  for (size_t r = 0; r < rows; ++r) {
    LayerNormRow(gamma, beta, epsilon, x + r * dim, y != nullptr ? y + r * dim : nullptr, dim,
                 out + r * dim);
  }
}

void AddArrays(const float* y, size_t n, float* x) {
  ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, x + i);
  });
}

void MultiplyArrays(const float* y, size_t n, float* x) {
  ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, x + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu {
namespace {
HWY_EXPORT(LayerNormRows);
HWY_EXPORT(AddArrays);
HWY_EXPORT(MultiplyArrays);
}  // namespace

void LayerNorm(const float* gamma, const float* beta, float epsilon, const float* x, const float* y,
               int rows, int dim, float* out) {
  HWY_DYNAMIC_DISPATCH(LayerNormRows)
  (gamma, beta, epsilon, x, y, static_cast<size_t>(rows), static_cast<size_t>(dim), out);
}

void Add(const float* y, long n, float* x) {
  HWY_DYNAMIC_DISPATCH(AddArrays)(y, static_cast<size_t>(n), x);
}

void Multiply(const float* y, long n, float* x) {
  HWY_DYNAMIC_DISPATCH(MultiplyArrays)(y, static_cast<size_t>(n), x);
}

}  // namespace nibu
#endif  // HWY_ONCE
