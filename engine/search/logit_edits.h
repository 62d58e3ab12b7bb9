// The edits that the rules of a search make to one row of logits, and the tokens or samples that
// they ask for.
#ifndef NIBU_ENGINE_SEARCH_LOGIT_EDITS_H_
#define NIBU_ENGINE_SEARCH_LOGIT_EDITS_H_

#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "engine/core/logits.h"
#include "engine/search/sampling.h"

namespace nibu::internal {

// Returns the logarithm of p' = (1 - beta) p, plus beta for the token that is favoured. A
// probability of 0 stays 0.
float BiasedLogProb(float log_prob, bool is_favoured, float beta);

// The rules fill it before the row is computed; it is then applied to each block of logits as the
// block comes. Not thread-safe. Reused from row to row; it allocates only while its lists grow.
class LogitEdits {
 public:
  void Clear();
  // True: a row's log-probabilities are suppressed and penalized instead of its logits (see
  // SearchRow).
  void SetOnLogProbs(bool on_log_probs) { on_log_probs_ = on_log_probs; }

  // Gives the token probability 0. Repeated calls are the same as one.
  void Suppress(int token) { suppressed_.push_back(token); }
  // Does so for all of these tokens, which outlive the row.
  void Suppress(absl::Span<const int> tokens) { suppressed_lists_.push_back(tokens); }
  // Multiplies the logits of these tokens by `penalty` if they are negative, and divides them by it
  // otherwise. A token that is listed several times is changed once; the penalties of several calls
  // multiply.
  void Penalize(absl::Span<const int> tokens, float penalty);
  // Asks for a token's log-probability, whether or not it is among the best.
  void Request(int token) { requested_.push_back(token); }
  // Requests a token and makes it more probable: see BiasedLogProb. REQUIRES: no token of the row
  // has been requested or favoured before.
  void Favour(int token, float beta);
  // Asks for a sample, which this noise decides, instead of the best tokens. Each call adds one.
  // `sampling` outlives the row.
  void Sample(const Sampling& sampling, const Noise& noise);

  // Suppresses and penalizes the logits of a block.
  void Apply(const LogitTokens& tokens, float* logits) const;
  // Does only one of both.
  void ApplySuppression(const LogitTokens& tokens, float* logits) const;
  // Returns a logit, or log-probability, with the penalties of its token.
  float Penalized(int token, float logit) const;

  bool on_log_probs() const { return on_log_probs_; }
  const std::vector<std::pair<int, float>>& penalized() const { return penalized_; }
  const std::vector<int>& requested() const { return requested_; }
  float beta() const { return beta_; }                    // 0: no token is favoured
  const Sampling* sampling() const { return sampling_; }  // null: no samples
  const std::vector<Noise>& noises() const { return noises_; }

 private:
  bool on_log_probs_ = false;
  std::vector<int> suppressed_;
  absl::InlinedVector<absl::Span<const int>, 4> suppressed_lists_;
  std::vector<std::pair<int, float>> penalized_;  // tokens and their penalties
  std::vector<int> requested_;
  float beta_ = 0;
  const Sampling* sampling_ = nullptr;
  std::vector<Noise> noises_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_LOGIT_EDITS_H_
