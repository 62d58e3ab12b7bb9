// Local attention with predicted centres, local-p (Luong et al. 2015): a query looks at
//   p = N sigmoid(v_p^T tanh(W_p h))
// with h the row that it is made of and N the number of keys, and sees the keys s within `width` of
// p; the softmax over them is multiplied by g(s) = exp(-(s - p)^2 / (2 sigma^2)), sigma = width /
// 2, so that a row of the matrix sums to less than 1. Positions begin with 0.
//
// Other algorithms compute it as follows. A softmax with log g(s) added to the scores gives
//   b(s) = e(s) g(s) / sum(e g), where e(s) is the exponential of the score.
// The wanted weight e(s) g(s) / sum(e) is b(s) times sum(e g) / sum(e), which is 1 / sum(b / g).
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_LOCAL_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_LOCAL_H_

#include <cstddef>

#include "engine/core/arena.h"

namespace nibu::internal {

// centres [rows], from h mapped by W_p [rows, dim] and v [dim] = v_p, for `positions` keys.
void FindCentres(const float* mapped, const float* v, int rows, size_t dim, int positions,
                 float* centres);

// g of a key at a distance from p.
double LocalWeight(double distance, int width);

// The window of one query, whose keys lie side by side. Its arrays are the arena's.
class LocalWindow {
 public:
  // Makes the window of the keys begin .. end - 1, around p = `centre`.
  LocalWindow(int begin, int end, double centre, int width, Arena* arena);

  // Returns log g of a key of the window.
  float log_weight(int key) const { return logs_[key - begin_]; }
  // Multiplies the row [dim] that a softmax with log g added has given, and its weights
  // [columns], by 1 / sum(b / g). `b` [end - begin], a part of the weights, is the window's.
  void Scale(const float* b, size_t dim, float* row, size_t columns, float* weights) const;

 private:
  int begin_;
  int count_;
  float* logs_;
  float* inverse_;  // 1 / g
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_LOCAL_H_
