// Passes rows of logits from the output layer, which computes them, to the search, which chooses
// tokens. The output layer knows no rule of the search, and the search knows no model.
#ifndef NIBU_ENGINE_CORE_LOGITS_H_
#define NIBU_ENGINE_CORE_LOGITS_H_

#include "absl/types/span.h"

namespace nibu::internal {

// The tokens that a block of logits belongs to, in ascending order. It does not own a list.
class LogitTokens {
 public:
  // The tokens first, first + 1, ..., first + count - 1.
  LogitTokens(int first, int count) : first_(first), count_(count) {}
  // The tokens of an ascending list, which outlives this object.
  explicit LogitTokens(absl::Span<const int> listed)
      : first_(0), count_(static_cast<int>(listed.size())), listed_(listed.data()) {}

  int count() const { return count_; }
  int operator[](int i) const { return listed_ == nullptr ? first_ + i : listed_[i]; }
  // Returns the index of a token in the block, or -1 if the block does not have it.
  int Find(int token) const;

 private:
  int first_;
  int count_;
  const int* listed_ = nullptr;
};

// Receives one row of logits, which arrives in blocks of ascending tokens. Each logit arrives once.
class LogitSink {
 public:
  virtual ~LogitSink() = default;

  // Changes a block's logits before anything is computed from them. An ensemble calls it with the
  // logits of each of its models; otherwise it is called once for each block.
  virtual void Edit(const LogitTokens& tokens, float* logits) const = 0;

  // Takes a block: the edited logits, or, for an ensemble, their weighted mean.
  virtual void Take(const LogitTokens& tokens, const float* logits) = 0;

  // Called after the last block of an ensemble's row: the weighted mean of its models' log-sum-exp,
  // which turns the mean logits into mean log-probabilities.
  virtual void SetLogSum(float log_sum) = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_LOGITS_H_
