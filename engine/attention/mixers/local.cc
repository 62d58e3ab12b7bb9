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

double LocalWeight(double distance, int width) { return std::exp(LogLocalWeight(distance, width)); }

double LogLocalWeight(double distance, int width) {
  const double sigma = width / 2.0;
  return -distance * distance / (2 * sigma * sigma);
}

}  // namespace nibu::internal
