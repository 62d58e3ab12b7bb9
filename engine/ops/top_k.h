// The best tokens of a row of logits that arrives in blocks, without storing the row.
#ifndef NIBU_ENGINE_OPS_TOP_K_H_
#define NIBU_ENGINE_OPS_TOP_K_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/core/candidate.h"

namespace nibu {

// Running top-k and, if asked for, running log-sum-exp. Not thread-safe. Allocates only when k
// grows.
class TopK {
 public:
  // Starts a row.
  void Reset(int k, bool normalize);

  // The logits of tokens first, first + 1, ... (n of them). Blocks come in ascending order. A logit
  // of -infinity is a token that cannot be chosen.
  void Update(const float* logits, int n, int first);
  // The same for chosen tokens, ascending.
  void Update(const float* logits, absl::Span<const int> tokens);

  // The best k tokens (fewer when there are no more), best first, the lower token first among
  // equals. With `normalize`, log_prob = logit - log(sum of exp of all logits); else the logit
  // itself.
  absl::Span<const Candidate> Finish();

 private:
  template <typename TokenAt>
  void UpdateWith(const float* logits, size_t n, TokenAt token_at);
  void Insert(int token, float logit);

  size_t k_ = 0;
  bool normalize_ = false;
  float sum_ = 0;  // of exp(logit - sum_max_)
  float sum_max_ = 0;
  std::vector<Candidate> best_;
};

}  // namespace nibu

#endif  // NIBU_ENGINE_OPS_TOP_K_H_
