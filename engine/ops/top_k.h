// The best tokens of a row of logits that arrives in blocks, or some drawn at random, without
// storing the row.
#ifndef NIBU_ENGINE_OPS_TOP_K_H_
#define NIBU_ENGINE_OPS_TOP_K_H_

#include <cmath>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "engine/core/candidate.h"
#include "engine/ops/sampling.h"

namespace nibu::internal {

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
  // The same for samples by the Gumbel-max trick (Kool et al. 2019), one for each noise: the token
  // with the largest sum of logit / temperature and noise. Only samples among all tokens by topp
  // store the row.
  void Reset(const Sampling& sampling, absl::Span<const Noise> noises);

  // The logits of some tokens. Blocks come in ascending order. A logit of -infinity is a token that
  // cannot be chosen.
  void Update(const float* logits, const LogitTokens& tokens);

  // Asks for this token, too, whose logit this is.
  void Want(int token, float logit) { wanted_.push_back({token, logit}); }

  // The best k tokens (fewer when there are no more), best first, the lower token first among
  // equals; or the samples, in the order of their noises. With `normalize`, and of samples,
  // log_prob = logit - log(sum of exp of all logits); else the logit itself.
  absl::Span<const Candidate> Finish();
  // log(sum of exp of all logits), as far as it has come; and another in its place.
  float LogSum() const { return log_sum_.value_or(sum_max_ + std::log(sum_)); }
  void SetLogSum(float log_sum) { log_sum_ = log_sum; }
  // What was wanted, in the same way. After Finish.
  absl::Span<const Candidate> wanted() const { return wanted_; }

 private:
  struct Sample {
    uint32_t noise;
    float best;  // with noise
    Candidate token;
  };

  void Insert(int token, float logit);
  // Takes what is best for each sample.
  void Draw(const float* logits, const LogitTokens& tokens);
  // Cuts best_ down to what topp allows.
  void CutNucleus();
  void Normalize(Candidate* candidate) const;

  size_t k_ = 0;  // 0: no best tokens are kept
  bool normalize_ = false;
  float sum_ = 0;  // of exp(logit - sum_max_)
  float sum_max_ = 0;
  std::optional<float> log_sum_;
  std::vector<Candidate> best_;
  std::vector<Candidate> wanted_;
  Sampling sampling_;
  std::vector<Sample> samples_;
  std::vector<float> noisy_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_TOP_K_H_
