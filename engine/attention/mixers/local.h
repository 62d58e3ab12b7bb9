// Local attention with predicted centres, local-p (Luong et al. 2015): a query looks at
//   p = N sigmoid(v_p^T tanh(W_p h))
// with h the row that it is made of, and sees the keys s within `width` of p; the softmax over them
// is multiplied by exp(-(s - p)^2 / (2 sigma^2)), sigma = width / 2, so that a row of the matrix
// sums to less than 1. Positions begin with 0.
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_LOCAL_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_LOCAL_H_

#include <cstddef>

namespace nibu::internal {

// centres [positions], from h mapped by W_p [positions, dim] and v [dim] = v_p.
void FindCentres(const float* mapped, const float* v, int positions, size_t dim, float* centres);

// Of a key at a distance from p.
double LocalWeight(double distance, int width);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_LOCAL_H_
