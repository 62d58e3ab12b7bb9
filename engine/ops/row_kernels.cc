// Operations on rows between matmuls, by Highway.
#include "engine/ops/row_kernels.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/row_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void LayerNormRow(const float* gamma, const float* beta, float epsilon, const float* x,
                  const float* y, size_t dim, float* out) {
  // Store z in `out` and add it up.
  const float sum = Sum<4>(dim, [=](auto d, size_t i, auto so_far) HWY_ATTR {
    auto z = hn::LoadU(d, x + i);
    if (y != nullptr) z = hn::Add(z, hn::LoadU(d, y + i));
    hn::StoreU(z, d, out + i);
    return hn::Add(so_far, z);
  });
  const float mean = beta == nullptr ? 0.0f : sum / static_cast<float>(dim);
  const float square = Sum<4>(dim, [=](auto d, size_t i, auto so_far) HWY_ATTR {
    const auto c = hn::Sub(hn::LoadU(d, out + i), hn::Set(d, mean));
    return hn::MulAdd(c, c, so_far);
  });
  const float inverse = 1.0f / std::sqrt(square / static_cast<float>(dim) + epsilon);
  ForEachVector(dim, [=](auto d, size_t i) HWY_ATTR {
    const auto c = hn::Mul(hn::Sub(hn::LoadU(d, out + i), hn::Set(d, mean)), hn::Set(d, inverse));
    // Adding -0 changes no number, not even the sign of 0.
    const auto shift = beta != nullptr ? hn::LoadU(d, beta + i) : hn::Set(d, -0.0f);
    hn::StoreU(hn::MulAdd(c, hn::LoadU(d, gamma + i), shift), d, out + i);
  });
}

void LayerNormRows(const float* gamma, const float* beta, float epsilon, const float* x,
                   const float* y, size_t rows, size_t dim, float* out) {
  for (size_t r = 0; r < rows; ++r) {
    LayerNormRow(gamma, beta, epsilon, x + r * dim, y != nullptr ? y + r * dim : nullptr, dim,
                 out + r * dim);
  }
}

void StepOfSsru(const float* gate_value, size_t dim, const float* previous, float* cell,
                float* out) {
  ForEachVector(dim, [=](auto d, size_t i) HWY_ATTR {
    const auto f = Sigmoid(d, hn::LoadU(d, gate_value + i));
    const auto v = hn::LoadU(d, gate_value + dim + i);
    const auto c = hn::MulAdd(f, hn::Sub(hn::LoadU(d, previous + i), v), v);
    hn::StoreU(c, d, cell + i);
    hn::StoreU(hn::Max(c, hn::Zero(d)), d, out + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu::internal {
namespace {
HWY_EXPORT(LayerNormRows);
HWY_EXPORT(AddArrays);
HWY_EXPORT(MultiplyArrays);
HWY_EXPORT(StepOfSsru);
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

void SsruStep(const float* gate_value, size_t dim, const float* previous, float* cell, float* out) {
  HWY_DYNAMIC_DISPATCH(StepOfSsru)(gate_value, dim, previous, cell, out);
}

}  // namespace nibu::internal
#endif  // HWY_ONCE
