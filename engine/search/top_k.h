// Finds the best tokens of a row of logits that arrives in blocks, without storing the row.
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

// A running top-k. Not thread-safe. It allocates only when k grows.
class TopK {
 public:
  // As k: all tokens are kept, and Finish returns them in no particular order.
  static constexpr int kAll = std::numeric_limits<int>::max();

  // Starts a row whose k best tokens are kept. REQUIRES: k >= 1.
  void Reset(int k);

  // Takes the logits of a block. A token with a logit of -infinity is never kept.
  void Update(const float* logits, const LogitTokens& tokens);

  // The largest logit so far; -infinity if there is none.
  float largest() const { return largest_; }

  // Returns the k best tokens, or as many as there are, in the order of IsBetterCandidate. Their
  // log_prob is the logit. The caller may change them.
  std::vector<Candidate>& Finish();

 private:
  void Insert(int token, float logit);

  size_t k_ = 1;
  float largest_ = 0;
  std::vector<Candidate> best_;
};

// Returns whether a comes before b: the larger log_prob first; of equals, the lower token.
inline bool IsBetterCandidate(const Candidate& a, const Candidate& b) {
  return a.log_prob != b.log_prob ? a.log_prob > b.log_prob : a.token < b.token;
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_TOP_K_H_
