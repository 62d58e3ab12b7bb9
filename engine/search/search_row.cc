// Makes candidates of a row of logits: best tokens, samples, requested tokens, log-probabilities.
#include "engine/search/search_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/algorithm/container.h"

namespace nibu::internal {

void SearchRow::Start(int k, bool normalize) {
  const Sampling* const sampling = edits_.sampling();
  normalize_ = normalize || sampling != nullptr || edits_.beta() > 0 || edits_.on_log_probs();
  k_ = static_cast<size_t>(k);
  best_.Reset(k);
  sampler_.Reset(sampling != nullptr ? *sampling : Sampling());
  for (const Noise& noise : edits_.noises()) sampler_.Add(noise);
  sum_.Reset();
  log_sum_.reset();
  requested_.clear();
  penalized_.clear();
}

void SearchRow::Take(const LogitTokens& tokens, const float* logits) {
  const bool unedited = edits_.on_log_probs();
  if (unedited) {
    const auto count = static_cast<size_t>(tokens.count());
    sum_.Add({logits, count});
    block_.assign(logits, logits + count);
    edits_.ApplySuppression(tokens, block_.data());
    logits = block_.data();
  }
  for (const int token : edits_.requested()) {
    const int i = tokens.Find(token);
    if (i >= 0) requested_.push_back({token, logits[i]});
  }
  if (unedited) SetPenalizedAside(tokens);
  float largest = 0;
  if (sampler_.is_on()) {
    sampler_.Update(logits, tokens);
    largest = sampler_.largest();
  } else {
    best_.Update(logits, tokens);
    largest = best_.largest();
  }
  if (normalize_ && !unedited) sum_.Add({logits, static_cast<size_t>(tokens.count())}, largest);
}

// The log-probabilities of penalized tokens are known only at the end of the row, so that these
// tokens are ranked then.
void SearchRow::SetPenalizedAside(const LogitTokens& tokens) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const auto& [token, penalty] : edits_.penalized()) {
    const int i = tokens.Find(token);
    if (i < 0) continue;
    float& logit = block_[static_cast<size_t>(i)];
    if (logit > -kInfinity) penalized_.push_back({token, logit});
    logit = -kInfinity;
  }
}

// logit - log_sum is NaN if both are infinite, as when every token is suppressed. It counts as
// probability 0.
void SearchRow::Normalize(float log_sum, std::vector<Candidate>* candidates) const {
  if (!normalize_) return;
  for (Candidate& c : *candidates) {
    c.log_prob -= log_sum;
    if (std::isnan(c.log_prob)) c.log_prob = -std::numeric_limits<float>::infinity();
  }
}

absl::Span<const Candidate> SearchRow::Finish() {
  const float log_sum = log_sum_.has_value() ? *log_sum_ : sum_.value();
  std::vector<Candidate>* best = &samples_;
  if (sampler_.is_on()) {
    sampler_.Finish(best);
  } else {
    best = &best_.Finish();
  }
  Normalize(log_sum, best);
  Normalize(log_sum, &requested_);
  if (edits_.on_log_probs()) {
    Normalize(log_sum, &penalized_);
    for (auto* list : {&penalized_, &requested_}) {
      for (Candidate& c : *list) c.log_prob = edits_.Penalized(c.token, c.log_prob);
    }
    best->insert(best->end(), penalized_.begin(), penalized_.end());
    absl::c_sort(*best, IsBetterCandidate);
    best->resize(std::min(best->size(), k_));
  }
  if (requested_.empty()) return *best;
  Merge(*best);
  return merged_;
}

// With a bias, the favoured token is the first requested one (see LogitEdits::Favour). The bias
// keeps the order of all others, so that the k best without it are enough.
void SearchRow::Merge(absl::Span<const Candidate> best) {
  merged_ = requested_;
  for (const Candidate& c : best) {
    const auto is_same = [&c](const Candidate& r) { return r.token == c.token; };
    if (!absl::c_any_of(requested_, is_same)) merged_.push_back(c);
  }
  const float beta = edits_.beta();
  if (beta > 0) {
    for (Candidate& c : merged_) {
      const bool is_favoured = &c == merged_.data();
      c.log_prob = BiasedLogProb(c.log_prob, is_favoured, beta);
    }
  }
  absl::c_sort(merged_, IsBetterCandidate);
}

}  // namespace nibu::internal
