#include "engine/attention/mixers/reduction.h"

#include <algorithm>
#include <cstddef>

#include "engine/attention/kernels.h"

namespace nibu::internal {

void AttendMeans(int reduction, const AttentionSpec& spec, const Queries& queries,
                 const KeyValueRows& memory, const AttentionOutput& output, Arena* arena) {
  const size_t inner =
      static_cast<size_t>(spec.shape.heads) * static_cast<size_t>(spec.shape.head_dim);
  const auto positions = static_cast<size_t>(memory.positions);
  const auto each = static_cast<size_t>(reduction);
  const size_t means = (positions + each - 1) / each;
  const auto size_of = [=](size_t mean) { return std::min(each, positions - mean * each); };
  float* const rows = arena->Floats(means * 2 * inner);
  std::fill_n(rows, means * 2 * inner, 0.0f);
  for (size_t j = 0; j < positions; ++j) {
    const float part = 1.0f / static_cast<float>(size_of(j / each));
    float* const row = rows + j / each * 2 * inner;
    for (size_t i = 0; i < inner; ++i) row[i] += part * memory.keys[j * memory.stride + i];
    for (size_t i = 0; i < inner; ++i) {
      row[inner + i] += part * memory.values[j * memory.stride + i];
    }
  }
  AttentionSpec full = spec;
  full.mixer = {};
  AttentionOutput reduced = output;
  const size_t matrix_rows =
      static_cast<size_t>(spec.shape.heads) * static_cast<size_t>(queries.count);
  if (output.weights != nullptr) reduced.weights = arena->Floats(matrix_rows * means);
  AttendRows(full, queries, {rows, rows + inner, 2 * inner, static_cast<int>(means)}, reduced,
             arena);
  for (size_t n = 0; output.weights != nullptr && n < matrix_rows; ++n) {
    for (size_t j = 0; j < positions; ++j) {
      const size_t mean = j / each;
      output.weights[n * positions + j] =
          reduced.weights[n * means + mean] / static_cast<float>(size_of(mean));
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
