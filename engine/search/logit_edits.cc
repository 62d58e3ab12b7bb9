// Collects the edits of a row of logits and applies them to its blocks.
#include "engine/search/logit_edits.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/base/macros.h"

namespace nibu::internal {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void SuppressAll(absl::Span<const int> suppressed, const LogitTokens& tokens, float* logits) {
  for (const int token : suppressed) {
    const int i = tokens.Find(token);
    if (i >= 0) logits[i] = -kInfinity;
  }
}

float PenalizedBy(float penalty, float logit) {
  return logit < 0 ? logit * penalty : logit / penalty;
}

}  // namespace

float BiasedLogProb(float log_prob, bool is_favoured, float beta) {
  log_prob += std::log1p(-beta);
  return is_favoured && log_prob > -kInfinity ? std::log(std::exp(log_prob) + beta) : log_prob;
}

void LogitEdits::Clear() {
  on_log_probs_ = false;
  suppressed_.clear();
  suppressed_lists_.clear();
  penalized_.clear();
  requested_.clear();
  beta_ = 0;
  sampling_ = nullptr;
  noises_.clear();
}

void LogitEdits::Penalize(absl::Span<const int> tokens, float penalty) {
  const auto earlier = static_cast<std::ptrdiff_t>(penalized_.size());
  for (const int token : tokens) penalized_.emplace_back(token, penalty);
  std::sort(penalized_.begin() + earlier, penalized_.end());
  penalized_.erase(std::unique(penalized_.begin() + earlier, penalized_.end()), penalized_.end());
}

void LogitEdits::Favour(int token, float beta) {
  ABSL_ASSERT(requested_.empty());
  requested_.push_back(token);
  beta_ = beta;
}

void LogitEdits::Sample(const Sampling& sampling, const Noise& noise) {
  sampling_ = &sampling;
  noises_.push_back(noise);
}

void LogitEdits::ApplySuppression(const LogitTokens& tokens, float* logits) const {
  for (const absl::Span<const int> list : suppressed_lists_) SuppressAll(list, tokens, logits);
  SuppressAll(suppressed_, tokens, logits);
}

void LogitEdits::Apply(const LogitTokens& tokens, float* logits) const {
  ApplySuppression(tokens, logits);
  for (const auto& [token, penalty] : penalized_) {
    const int i = tokens.Find(token);
    if (i >= 0) logits[i] = PenalizedBy(penalty, logits[i]);
  }
}

float LogitEdits::Penalized(int token, float logit) const {
  for (const auto& [penalized, penalty] : penalized_) {
    if (penalized == token) logit = PenalizedBy(penalty, logit);
  }
  return logit;
}

}  // namespace nibu::internal
