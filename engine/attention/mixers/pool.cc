// Mean pooling: adds up the rows of each window.
#include "engine/attention/mixers/pool.h"

#include <algorithm>
#include <cstddef>

#include "engine/ops/row_kernels.h"

namespace nibu::internal {

void MeanPool(const float* x, int positions, int dim, int width, float* out) {
  const auto row = static_cast<size_t>(dim);
  for (int i = 0; i < positions; ++i) {
    const int first = std::max(0, i - width / 2);
    const int last = std::min(positions - 1, i + width / 2);
    float* const to = out + static_cast<size_t>(i) * row;
    std::fill_n(to, row, 0.0f);
    for (int j = first; j <= last; ++j) Add(x + static_cast<size_t>(j) * row, dim, to);
    const float part = 1.0f / static_cast<float>(last - first + 1);
    const float* const self = x + static_cast<size_t>(i) * row;
    for (size_t c = 0; c < row; ++c) to[c] = to[c] * part - self[c];
  }
}

}  // namespace nibu::internal
