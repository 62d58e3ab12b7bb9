// Deformable attention: finds the places where keys are sampled, and samples them.
#include "engine/attention/mixers/deformable.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/ops/row_kernels.h"

namespace nibu::internal {
namespace {

// out [I]: the convolution of the queries around position `middle`; zeros lie outside.
void Convolve(int size, const OffsetWeights& weights, const Queries& queries, int middle,
              size_t inner, float* out) {
  std::copy_n(weights.bias, inner, out);
  const auto kernel = static_cast<size_t>(size);
  for (size_t k = 0; k < kernel; ++k) {
    const int i = middle + static_cast<int>(k) - size / 2;
    if (i < 0 || i >= queries.count) continue;
    const float* const q = queries.rows + static_cast<size_t>(i) * queries.stride;
    for (size_t c = 0; c < inner; ++c) out[c] += weights.taps[c * kernel + k] * q[c];
  }
}

float Gelu(float x) { return x * 0.5f * (1 + std::erf(x * static_cast<float>(M_SQRT1_2))); }

}  // namespace

void FindPlaces(const DeformableAttention& spec, const OffsetWeights& weights,
                const Queries& queries, int inner, Arena* arena, float* places) {
  const Arena::Mark mark = arena->mark();
  const auto columns = static_cast<size_t>(inner);
  float* const z = arena->Floats(columns);
  const float last = static_cast<float>(queries.count - 1);
  const auto reach = static_cast<float>(spec.reduction);
  for (int n = 0, first = 0; first < queries.count; ++n, first += spec.reduction) {
    Convolve(spec.kernel, weights, queries, first, columns, z);
    LayerNorm(weights.gamma, weights.beta, weights.epsilon, z, nullptr, 1, inner, z);
    float sum = 0;
    for (size_t c = 0; c < columns; ++c) sum += weights.offset[c] * Gelu(z[c]);
    const float place = static_cast<float>(first) + (reach - 1) / 2 + reach * std::tanh(sum);
    places[n] = place > 0 ? std::min(place, last) : 0;  // no NaN
  }
  arena->Rewind(mark);
}

void SampleRows(const float* x, int positions, int dim, const float* places, int count,
                float* out) {
  const auto columns = static_cast<size_t>(dim);
  for (int n = 0; n < count; ++n, out += columns) {
    const auto left = static_cast<size_t>(places[n]);
    const size_t right = std::min(left + 1, static_cast<size_t>(positions - 1));
    const float part = places[n] - static_cast<float>(left);
    for (size_t c = 0; c < columns; ++c) {
      out[c] = (1 - part) * x[left * columns + c] + part * x[right * columns + c];
    }
  }
}

}  // namespace nibu::internal
