// Factorized attention: a [d, d] matrix for each head, then a product with each query.
#include "engine/attention/mixers/factorized.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/attention/mixers/factorized.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// y[i] += a * x[i]
HWY_INLINE void AddScaled(float a, const float* x, size_t n, float* y) {
  ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::MulAdd(hn::Set(d, a), hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  });
}

// product [d, d] = softmax(K)^T V of one head. `most`, `sums`: scratch for d floats each, `e` too.
void MultiplyKeysValues(const float* keys, const float* values, size_t stride, size_t positions,
                        size_t dim, float* most, float* sums, float* e, float* product) {
  std::copy_n(keys, dim, most);
  for (size_t j = 1; j < positions; ++j) {
    const float* const k = keys + j * stride;
    ForEachVector(dim, [=](auto d, size_t i) HWY_ATTR {
      hn::StoreU(hn::Max(hn::LoadU(d, most + i), hn::LoadU(d, k + i)), d, most + i);
    });
  }
  std::fill_n(sums, dim, 0.0f);
  std::fill_n(product, dim * dim, 0.0f);
  for (size_t j = 0; j < positions; ++j) {
    const float* const k = keys + j * stride;
    ForEachVector(dim, [=](auto d, size_t i) HWY_ATTR {
      const auto weight = ExpOfNegative(d, hn::Sub(hn::LoadU(d, k + i), hn::LoadU(d, most + i)));
      hn::StoreU(weight, d, e + i);
      hn::StoreU(hn::Add(hn::LoadU(d, sums + i), weight), d, sums + i);
    });
    for (size_t i = 0; i < dim; ++i) AddScaled(e[i], values + j * stride, dim, product + i * dim);
  }
  for (size_t i = 0; i < dim; ++i) {
    for (size_t n = 0; n < dim; ++n) product[i * dim + n] /= sums[i];
  }
}

// out = scale q product
void MultiplyQuery(const float* q, float scale, const float* product, size_t dim, float* out) {
  std::fill_n(out, dim, 0.0f);
  for (size_t i = 0; i < dim; ++i) AddScaled(scale * q[i], product + i * dim, dim, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu::internal {
namespace {
HWY_EXPORT(MultiplyKeysValues);
HWY_EXPORT(MultiplyQuery);

// out [I] += q * (conv(V) + b) for the query of position `query`, see the header.
void AddConvolution(const AttentionSpec& spec, int kernel, const KeyValueRows& memory, int query,
                    const float* q, float* out) {
  const auto size = static_cast<size_t>(kernel);
  const auto inner =
      static_cast<size_t>(spec.shape.heads) * static_cast<size_t>(spec.shape.head_dim);
  const int first = query - kernel / 2;
  for (size_t c = 0; c < inner; ++c) {
    float sum = spec.weights.taps_bias[c];
    for (int n = std::max(0, -first); n < std::min(kernel, memory.positions - first); ++n) {
      sum += spec.weights.taps[c * size + static_cast<size_t>(n)] *
             memory.values[static_cast<size_t>(first + n) * memory.stride + c];
    }
    out[c] += q[c] * sum;
  }
}

}  // namespace

void AttendFactorized(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                      const AttentionOutput& output, Arena* arena) {
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  float* const scratch = arena->Floats(3 * dim);
  float* const product = arena->Floats(dim * dim);
  for (size_t h = 0; h < static_cast<size_t>(spec.shape.heads); ++h) {
    HWY_DYNAMIC_DISPATCH(MultiplyKeysValues)
    (memory.keys + h * dim, memory.values + h * dim, memory.stride,
     static_cast<size_t>(memory.positions), dim, scratch, scratch + dim, scratch + 2 * dim,
     product);
    for (size_t r = 0; r < static_cast<size_t>(queries.count); ++r) {
      HWY_DYNAMIC_DISPATCH(MultiplyQuery)
      (queries.rows + r * queries.stride + h * dim, spec.shape.Scale(), product, dim,
       output.rows + r * output.stride + h * dim);
    }
  }
  const int kernel = spec.mixer.As<FactorizedAttention>()->kernel;
  for (int r = 0; kernel > 0 && r < queries.count; ++r) {
    const auto row = static_cast<size_t>(r);
    AddConvolution(spec, kernel, memory, queries.position(r), queries.rows + row * queries.stride,
                   output.rows + row * output.stride);
  }
}

}  // namespace nibu::internal
#endif  // HWY_ONCE
