// The edits that the rules of a search make to one row of logits, and what else they ask of it.
#ifndef NIBU_ENGINE_SEARCH_LOGIT_EDITS_H_
#define NIBU_ENGINE_SEARCH_LOGIT_EDITS_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "engine/core/logits.h"
#include "engine/search/sampling.h"

namespace nibu::internal {

// Returns the logarithm of p' = (1 - beta) p, plus beta for the token that is favoured. A token of
// probability 0 stays one.
float BiasedLogProb(float log_prob, bool is_favoured, float beta);

// Filled by the rules before the row is computed, applied to each block of its logits as it comes.
// Not thread-safe. Reused from row to row; allocates only while its lists grow.
class LogitEdits {
 public:
  void Clear();

  // The token gets probability 0. More often than once is the same as once.
  void Suppress(int token) { suppressed_.push_back(token); }
  // All of these do. `tokens` outlive the row.
  void Suppress(absl::Span<const int> tokens) { suppressed_lists_.push_back(tokens); }
  // Multiplies the logits of these tokens by `penalty` if they are negative, and divides them by it
  // otherwise; a token that is listed several times, once. Once a row.
  void Penalize(absl::Span<const int> tokens, float penalty);
  // Asks for a token's log-probability, whether or not it is among the best.
  void Request(int token) { requested_.push_back(token); }
  // Requests a token and makes it more probable: see BiasedLogProb. Once a row, before any other
  // request.
  void Favour(int token, float beta);
  // Asks for samples instead of the best tokens: one for each noise.
  void Sample(const Sampling& sampling, const Noise& noise);

  // Suppresses and penalizes the logits of a block.
  void Apply(const LogitTokens& tokens, float* logits) const;

  const std::vector<int>& requested() const { return requested_; }
  float beta() const { return beta_; }                    // 0: no token is favoured
  const Sampling* sampling() const { return sampling_; }  // null: no samples
  const std::vector<Noise>& noises() const { return noises_; }

 private:
  std::vector<int> suppressed_;
  absl::InlinedVector<absl::Span<const int>, 4> suppressed_lists_;
  std::vector<int> penalized_;
  float penalty_ = 1;
  std::vector<int> requested_;
  float beta_ = 0;
  const Sampling* sampling_ = nullptr;
  std::vector<Noise> noises_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_LOGIT_EDITS_H_
