// Computes log(sum of exp(x)) of numbers that arrive in blocks, without overflow and without
// storing them.
#ifndef NIBU_ENGINE_CORE_LOG_SUM_EXP_H_
#define NIBU_ENGINE_CORE_LOG_SUM_EXP_H_

#include <cmath>
#include <limits>

#include "absl/types/span.h"

namespace nibu::internal {

// The running sum is kept relative to the largest number so far (Milakov and Gimelshein 2018,
// "Online normalizer calculation for softmax"). Not thread-safe.
class LogSumExp {
 public:
  void Reset() { *this = LogSumExp(); }

  // Adds numbers, which may be -infinity. The second form is for callers who know the largest of
  // all numbers so far, these included.
  void Add(absl::Span<const float> numbers);
  void Add(absl::Span<const float> numbers, float largest);

  // Returns log(sum of exp of all numbers so far); -infinity if they are all -infinity.
  float value() const { return largest_ + std::log(sum_); }

 private:
  float sum_ = 0;  // of exp(x - largest_)
  float largest_ = -std::numeric_limits<float>::infinity();
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_LOG_SUM_EXP_H_
