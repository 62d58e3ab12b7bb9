// Local attention with predicted centres, local-p (Luong et al. 2015): a query looks at
//   p = N sigmoid(v_p^T tanh(W_p h))
// with h the row that it is made of and N the number of keys, and sees the keys s within `width` of
// p; the softmax over them is multiplied by g(s) = exp(-(s - p)^2 / (2 sigma^2)), sigma = width /
// 2, so that a row of the matrix sums to less than 1. Positions begin with 0.
//
// Other algorithms compute it as follows. A softmax with log g(s) added to the scores gives
//   b(s) = e(s) g(s) / sum(e g), where e(s) is the exponential of the score.
// What is wanted, e(s) g(s) / sum(e), is b(s) times 1 / sum(b / g), which is sum(e g) / sum(e).
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_LOCAL_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_LOCAL_H_

#include <cstddef>

namespace nibu::internal {

// centres [rows], from h mapped by W_p [rows, dim] and v [dim] = v_p, for `positions` keys.
void FindCentres(const float* mapped, const float* v, int rows, size_t dim, int positions,
                 float* centres);

// g of a key at a distance from p, and its logarithm.
double LocalWeight(double distance, int width);
double LogLocalWeight(double distance, int width);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_LOCAL_H_
