// The result of a search: a translation in tokens, with its scores.
#ifndef NIBU_ENGINE_SEARCH_HYPOTHESIS_H_
#define NIBU_ENGINE_SEARCH_HYPOTHESIS_H_

#include <vector>

#include "engine/search/constraints.h"

namespace nibu::internal {

struct Hypothesis {
  std::vector<int> tokens;          // the end token left out
  std::vector<float> token_scores;  // log-probability of each token, the end's (if reached) last
  float log_prob = 0;               // S, the sum of the generated tokens' log-probabilities
  float coverage = 0;               // coverage_penalty's part of the score
  float score = 0;
  bool finished = true;     // false: it was cut before its end
  int end_token = -1;       // the token that ended it; -1: none
  bool repetition = false;  // an n-gram follows itself again and again: see HasLoop
  ConstraintSet met = 0;    // the constraints that it meets
  // With return_attention: the weights of cross-attention, [token_scores, source with its frame].
  std::vector<float> attention;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_HYPOTHESIS_H_
