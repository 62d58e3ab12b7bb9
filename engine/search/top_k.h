// The best tokens of a row of logits that arrives in blocks, without storing the row.
#ifndef NIBU_ENGINE_SEARCH_TOP_K_H_
#define NIBU_ENGINE_SEARCH_TOP_K_H_

#include <cstddef>
#include <limits>
#include <vector>

#include "engine/core/candidate.h"
#include "engine/core/logits.h"

namespace nibu::internal {

// Returns the first i in [start, n) with x[i] > threshold, or n.
size_t FindAbove(const float* x, size_t start, size_t n, float threshold);

// A running top-k. Not thread-safe. Allocates only when k grows.
class TopK {
 public:
  // For Reset: keep all tokens, whose order Finish does not define then.
  static constexpr int kAll = std::numeric_limits<int>::max();

  // Starts a row, of which the k best tokens are kept. REQUIRES: k >= 1.
  void Reset(int k);

  // Takes the logits of a block. A token with a logit of -infinity is never kept.
  void Update(const float* logits, const LogitTokens& tokens);

  // The largest logit so far; -infinity if there is none.
  float largest() const { return largest_; }

  // The k best tokens, or as many as there are, the best one first; of equals, the lower token
  // first. Their log_prob is the logit. The caller may change them.
  std::vector<Candidate>& Finish();

 private:
  void Insert(int token, float logit);

  size_t k_ = 1;
  float largest_ = 0;
  std::vector<Candidate> best_;
};

// The order of Finish.
inline bool IsBetterCandidate(const Candidate& a, const Candidate& b) {
  return a.log_prob != b.log_prob ? a.log_prob > b.log_prob : a.token < b.token;
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_TOP_K_H_
