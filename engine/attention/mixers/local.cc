// Local attention with predicted centres: the centres, and the Gaussian weights.
#include "engine/attention/mixers/local.h"

#include <cmath>

namespace nibu::internal {

void FindCentres(const float* mapped, const float* v, int rows, size_t dim, int positions,
                 float* centres) {
  for (int i = 0; i < rows; ++i, mapped += dim) {
    float sum = 0;
    for (size_t c = 0; c < dim; ++c) sum += v[c] * std::tanh(mapped[c]);
    const float centre = static_cast<float>(positions) / (1 + std::exp(-sum));
    centres[i] = centre > 0 ? centre : 0;  // no NaN
  }
}

double LocalWeight(double distance, int width) {
  const double sigma = width / 2.0;
  return std::exp(-distance * distance / (2 * sigma * sigma));
}

LocalWindow::LocalWindow(int begin, int end, double centre, int width, Arena* arena)
    : begin_(begin),
      count_(end - begin),
      logs_(arena->Floats(static_cast<size_t>(count_))),
      inverse_(arena->Floats(static_cast<size_t>(count_))) {
  for (int i = 0; i < count_; ++i) {
    const double g = LocalWeight(begin + i - centre, width);
    logs_[i] = static_cast<float>(std::log(g));
    inverse_[i] = static_cast<float>(1 / g);
  }
}

void LocalWindow::Scale(const float* b, size_t dim, float* row, size_t columns,
                        float* weights) const {
  float sum = 0;
  for (int i = 0; i < count_; ++i) sum += b[i] * inverse_[i];
  const float factor = 1 / sum;
  for (size_t i = 0; i < dim; ++i) row[i] *= factor;
  for (size_t i = 0; i < columns; ++i) weights[i] *= factor;
}

}  // namespace nibu::internal
