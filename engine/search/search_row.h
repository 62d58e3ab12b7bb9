// Turns a row of logits, which arrives in blocks, into the candidates that a search ranks.
#ifndef NIBU_ENGINE_SEARCH_SEARCH_ROW_H_
#define NIBU_ENGINE_SEARCH_SEARCH_ROW_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "engine/core/candidate.h"
#include "engine/core/log_sum_exp.h"
#include "engine/core/logits.h"
#include "engine/search/logit_edits.h"
#include "engine/search/sampler.h"
#include "engine/search/top_k.h"

namespace nibu::internal {

// Not thread-safe. Reused from row to row; it allocates only while its lists grow.
//
//   plan.FindEdits(context, &row.edits());
//   row.Start(k, normalize);
//   ...                       // the output layer calls Edit and Take for each block of logits
//   row.Finish();
//
// For each block, Edit applies the edits of the rules; Take then keeps the best tokens (TopK) or
// samples (Sampler), the requested tokens, and the running sum of exp(logit). Finish turns logits
// into log-probabilities, applies the bias to a prefix and merges the requested tokens in. If the
// edits are of log-probabilities, Edit changes nothing, so that the sum is that of the unedited
// logits.
class SearchRow final : public LogitSink {
 public:
  LogitEdits& edits() { return edits_; }

  // Starts a row with the edits that it has now. `k`: the number of best tokens to be returned.
  // `normalize`: the candidates get log-probabilities, logit - log(sum of exp of all logits).
  // Otherwise they keep their logits, unless an edit needs probabilities.
  void Start(int k, bool normalize);

  void Edit(const LogitTokens& tokens, float* logits) const override {
    if (!edits_.on_log_probs()) edits_.Apply(tokens, logits);
  }
  void Take(const LogitTokens& tokens, const float* logits) override;
  void SetLogSum(float log_sum) override { log_sum_ = log_sum; }

  // Returns the k best tokens (fewer if there are no more) and the requested ones, best first, the
  // lower token first among equals; or the samples, in the order of their noises. To be called
  // once, after the last block. The candidates are valid until the next Start.
  absl::Span<const Candidate> Finish();
  // Returns the requested tokens alone, as far as the row has logits for them. To be called after
  // Finish.
  absl::Span<const Candidate> requested() const { return requested_; }

 private:
  void SetPenalizedAside(const LogitTokens& tokens);
  void Normalize(float log_sum, std::vector<Candidate>* candidates) const;
  // Puts the best candidates and the requested ones into merged_.
  void Merge(absl::Span<const Candidate> best);

  LogitEdits edits_;
  size_t k_ = 1;
  bool normalize_ = false;
  TopK best_;
  Sampler sampler_;  // used instead of best_ if the edits ask for samples
  LogSumExp sum_;
  std::optional<float> log_sum_;  // set by SetLogSum; takes the place of sum_
  std::vector<Candidate> samples_;
  std::vector<Candidate> requested_;
  std::vector<float> block_;          // a block of suppressed logits, if edits are of
  std::vector<Candidate> penalized_;  // log-probabilities, and its penalized tokens
  std::vector<Candidate> merged_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_SEARCH_ROW_H_
