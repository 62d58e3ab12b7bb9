// Draws samples from a row of logits that arrives in blocks, by the Gumbel-max trick (Kool et al.
// 2019, "Stochastic Beams and Where to Find Them"): the token with the largest sum of
// logit / temperature and Gumbel noise is a sample of softmax(logits / temperature).
#ifndef NIBU_ENGINE_SEARCH_SAMPLER_H_
#define NIBU_ENGINE_SEARCH_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/core/candidate.h"
#include "engine/core/logits.h"
#include "engine/search/sampling.h"
#include "engine/search/top_k.h"

namespace nibu::internal {

// Not thread-safe. It stores the whole row only for samples from all tokens with topp below 1.
class Sampler {
 public:
  // Starts a row for which no sample has been asked yet.
  void Reset(const Sampling& sampling);
  // Asks for one more sample, which this noise decides.
  void Add(const Noise& noise);
  bool is_on() const { return !samples_.empty(); }

  // Takes a block of logits.
  void Update(const float* logits, const LogitTokens& tokens);
  // The largest logit so far.
  float largest() const { return largest_; }

  // Replaces `drawn` by the samples, in the order of their noises, each with its logit. There are
  // none if the row has no possible token.
  void Finish(std::vector<Candidate>* drawn);

 private:
  struct Sample {
    uint32_t noise;
    float best;  // the largest sum so far
    Candidate token;
  };

  // Returns whether samples are drawn from all tokens, so that each block can be used at once.
  bool is_unlimited() const { return sampling_.topk == 0 && sampling_.topp >= 1; }
  // Adds noise to these logits and updates the best token of each sample.
  void Draw(const float* logits, const LogitTokens& tokens);
  // Keeps the most probable tokens of `best` that together have the part topp of the probability of
  // all of them.
  void CutNucleus(std::vector<Candidate>* best) const;

  Sampling sampling_;
  std::vector<Sample> samples_;
  TopK best_;  // the tokens that are drawn from; not used if is_unlimited()
  float largest_ = 0;
  std::vector<float> noisy_;  // scratch of Draw
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_SAMPLER_H_
