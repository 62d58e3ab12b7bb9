// Decides whether a sentence is decoded again. Each function does everything that may throw before
// it changes a member.
#include "engine/search/passes.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "engine/search/logit_edits.h"

namespace nibu::internal {

bool Passes::NeedsAnotherPass(std::vector<Hypothesis> found) {
  constexpr int kForbiddenNgram = 3;
  if (!found.empty() && DropMissedConstraints(found[0].met)) return true;
  switch (stage_) {
    case Stage::kSearch:
      if (!found.empty() && found[0].repetition && task_.target == nullptr &&
          task_.options().on_repetition == OnRepetition::kRetry &&
          task_.no_repeat_ngram_size == 0) {
        stage_ = Stage::kWithoutRepetition;
        task_.no_repeat_ngram_size = kForbiddenNgram;
        result_ = std::move(found);
        return true;
      }
      result_ = std::move(found);
      return false;
    case Stage::kWithoutRepetition:
      if (found.empty() || found[0].token_scores.empty()) return false;
      BeginScoring(std::move(found));
      return true;
    case Stage::kScore:
      break;
  }
  // Only the best hypothesis of the second search has been scored; the first search's others stay.
  Hypothesis& second = without_repetition_[0];
  Rescore(std::move(found[0].token_scores), &second);
  const auto quality = [](const Hypothesis& h) { return std::pair(std::popcount(h.met), h.score); };
  if (quality(second) > quality(result_[0])) result_[0] = std::move(second);
  return false;
}

bool Passes::DropMissedConstraints(ConstraintSet met) {
  const size_t all = task_.constraints.size();
  if (static_cast<size_t>(std::popcount(met)) == all) return false;
  std::vector<Constraint> left;
  for (size_t c = 0; c < all; ++c) {
    if (IsMet(met, c)) left.push_back(task_.constraints[c]);
  }
  constraints_ = std::move(left);
  task_.constraints = constraints_;
  return true;
}

void Passes::BeginScoring(std::vector<Hypothesis> found) {
  std::vector<int> target = found[0].tokens;
  if (found[0].finished) target.push_back(found[0].end_token);
  stage_ = Stage::kScore;
  target_ = std::move(target);
  without_repetition_ = std::move(found);
  task_.forced_in_target = task_.forced();
  task_.prefix = {};
  task_.constraints = {};
  task_.target = &target_;
  task_.no_repeat_ngram_size = 0;
}

// A search would have given the prefix' tokens other scores than the model does: 0 to those of a
// forced prefix, and the log-probability with the bias to those of a biased one.
void Passes::Rescore(std::vector<float> scores, Hypothesis* hypothesis) const {
  const float beta = task_.options().prefix_bias_beta;
  const size_t most = std::min(prefix_.size(), scores.size());
  bool follows = true;
  for (size_t i = 0; i < most && follows; ++i) {
    float& score = scores[i];
    follows = target_[i] == prefix_[i];
    if (!task_.is_biased()) {
      score = 0;
    } else {
      score = BiasedLogProb(score, follows, beta);
    }
  }
  hypothesis->token_scores = std::move(scores);
  hypothesis->log_prob = 0;
  for (const float score : hypothesis->token_scores) hypothesis->log_prob += score;
  hypothesis->score =
      HypothesisScore(task_.options(), hypothesis->log_prob, hypothesis->token_scores.size()) +
      hypothesis->coverage;
}

}  // namespace nibu::internal
