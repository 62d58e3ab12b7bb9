// Makes one key from several neighbours, and shares its weight among them.
#include "engine/attention/mixers/reduction.h"

#include <algorithm>
#include <cstddef>

#include "engine/attention/kernels.h"

namespace nibu::internal {

void AttendMeans(int reduction, const AttentionSpec& spec, const Queries& queries,
                 const KeyValueRows& memory, const AttentionOutput& output, Arena* arena) {
  const size_t inner =
      static_cast<size_t>(spec.shape.heads) * static_cast<size_t>(spec.shape.head_dim);
  const auto means = static_cast<size_t>(CeilOf(memory.positions, reduction));
  float* const keys = arena->Floats(means * inner);
  float* const values = arena->Floats(means * inner);
  TakeMeans(memory.keys, memory.stride, memory.positions, inner, reduction, keys);
  TakeMeans(memory.values, memory.stride, memory.positions, inner, reduction, values);
  AttentionSpec full = spec;
  full.mixer = {};
  AttendRows(full, queries, {keys, values, inner, static_cast<int>(means)}, output, arena);
}

int TakeMeans(const float* x, size_t stride, int positions, size_t dim, int reduction, float* out) {
  for (int first = 0; first < positions; first += reduction, out += dim) {
    const int count = std::min(reduction, positions - first);
    const float part = 1.0f / static_cast<float>(count);
    for (size_t i = 0; i < dim; ++i) out[i] = part * x[i];  // which may be where x is
    x += stride;
    for (int n = 1; n < count; ++n, x += stride) {
      for (size_t i = 0; i < dim; ++i) out[i] += part * x[i];
    }
  }
  return CeilOf(positions, reduction);
}

void ShareWeights(const float* weights, size_t rows, int positions, int reduction, float* out) {
  for (; rows > 0; --rows) {
    for (int first = 0; first < positions; first += reduction, ++weights) {
      const int count = std::min(reduction, positions - first);
      out = std::fill_n(out, count, *weights / static_cast<float>(count));
    }
  }
}

void JoinNeighbours(const float* x, int positions, int dim, int reduction, float* out) {
  const size_t size = static_cast<size_t>(positions) * static_cast<size_t>(dim);
  const size_t row = static_cast<size_t>(reduction) * static_cast<size_t>(dim);
  std::copy_n(x, size, out);  // as they lie
  std::fill(out + size, out + (size + row - 1) / row * row, 0.0f);
}

}  // namespace nibu::internal
