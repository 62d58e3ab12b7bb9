// The best tokens of a row of logits that arrives in blocks, without storing the row.
#ifndef NIBU_ENGINE_OPS_TOP_K_H_
#define NIBU_ENGINE_OPS_TOP_K_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/core/candidate.h"

namespace nibu {

// The tokens that the logits of a row are of.
class LogitTokens {
 public:
  // first, first + 1, ...
  LogitTokens(int first, int count) : first_(first), count_(count) {}
  // Those listed, ascending.
  explicit LogitTokens(absl::Span<const int> listed)
      : first_(0), count_(static_cast<int>(listed.size())), listed_(listed.data()) {}

  int count() const { return count_; }
  int operator[](int i) const { return listed_ == nullptr ? first_ + i : listed_[i]; }
  // Which of the logits is a token's; -1: none.
  int Find(int token) const;

 private:
  int first_;
  int count_;
  const int* listed_ = nullptr;
};

// Running top-k and, if asked for, running log-sum-exp. Not thread-safe. Allocates only when k
// grows.
class TopK {
 public:
  // Starts a row.
  void Reset(int k, bool normalize);

  // The logits of some tokens. Blocks come in ascending order. A logit of -infinity is a token that
  // cannot be chosen.
  void Update(const float* logits, const LogitTokens& tokens);

  // The best k tokens (fewer when there are no more), best first, the lower token first among
  // equals. With `normalize`, log_prob = logit - log(sum of exp of all logits); else the logit
  // itself.
  absl::Span<const Candidate> Finish();

 private:
  void Insert(int token, float logit);

  size_t k_ = 0;
  bool normalize_ = false;
  float sum_ = 0;  // of exp(logit - sum_max_)
  float sum_max_ = 0;
  std::vector<Candidate> best_;
};

}  // namespace nibu

#endif  // NIBU_ENGINE_OPS_TOP_K_H_
