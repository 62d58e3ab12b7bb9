#include "engine/attention/dense.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "engine/attention/pattern.h"

namespace nibu {
namespace {

double Dot(const float* x, const float* y, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return sum;
}

}  // namespace

void AttendDense(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                 const AttentionOutput& output) {
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const auto positions = static_cast<size_t>(memory.positions);
  const auto scale = static_cast<double>(spec.shape.Scale());
  std::vector<KeySpan> spans;
  std::vector<double> weights(positions);
  std::vector<double> out(dim);
  for (int r = 0; r < queries.count; ++r) {
    const auto query = static_cast<size_t>(r);
    FindKeys(spec.mixer, memory.positions, r, 0, &spans);
    for (size_t h = 0; h < static_cast<size_t>(spec.shape.heads); ++h) {
      const float* const q = queries.rows + query * queries.stride + h * dim;
      const float* const bias = spec.bias.Of(h, static_cast<size_t>(queries.first) + query, 0);
      std::fill(weights.begin(), weights.end(), -HUGE_VAL);
      for (const KeySpan& span : spans) {
        for (int key = span.begin; key < span.end; key += span.step) {
          const auto j = static_cast<size_t>(key);
          weights[j] = scale * Dot(q, memory.keys + j * memory.stride + h * dim, dim);
          if (bias != nullptr) weights[j] += static_cast<double>(bias[j]);
        }
      }
      const double most = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      for (double& weight : weights) sum += weight = std::exp(weight - most);
      std::fill(out.begin(), out.end(), 0.0);
      float* const wanted = output.WeightsOf(h, query, queries, positions);
      for (size_t j = 0; j < positions; ++j) {
        const double weight = weights[j] / sum;
        if (wanted != nullptr) wanted[j] = static_cast<float>(weight);
        if (weight == 0) continue;
        const float* const v = memory.values + j * memory.stride + h * dim;
        for (size_t i = 0; i < dim; ++i) out[i] += weight * static_cast<double>(v[i]);
      }
      for (size_t i = 0; i < dim; ++i) {
        output.rows[query * output.stride + h * dim + i] = static_cast<float>(out[i]);
      }
    }
  }
}

}  // namespace nibu
