// A beam: the hypotheses of a sentence that are still open, and those that have finished.
#ifndef NIBU_ENGINE_SEARCH_BEAM_H_
#define NIBU_ENGINE_SEARCH_BEAM_H_

#include <cstddef>
#include <vector>

#include "engine/search/constraints.h"
#include "engine/search/token_tree.h"

namespace nibu::internal {

struct OpenHypothesis {
  int node = TokenTree::kRoot;   // of its newest token
  float log_prob = 0;            // S, the sum of its tokens' log-probabilities
  bool follows_prefix = false;   // so far, its tokens are those of the prefix that it is biased to
  ConstraintSet met = 0;         // the constraints that its tokens meet
  ConstraintSet met_before = 0;  // those that they meet without the newest one
};

struct FinishedHypothesis {
  int node;  // of its last token
  float log_prob;
  int length;  // tokens, the end token included
  ConstraintSet met;
};

struct Beam {
  // Best first, except that a continuation which takes the place of one that has ended stands in
  // that place.
  std::vector<OpenHypothesis> open;
  std::vector<FinishedHypothesis> finished;
  size_t width = 0;            // the most open hypotheses that the beam may have
  bool best_finished = false;  // in some step, the best continuation was an end token

  void Reset(size_t most_open) {
    open.clear();
    finished.clear();
    width = most_open;
    best_finished = false;
  }

  // Moves all open hypotheses, of `length` tokens each, to the finished ones.
  void FinishOpen(int length) {
    for (const OpenHypothesis& h : open) {
      finished.push_back({h.node, h.log_prob, length, h.met});
    }
    open.clear();
  }
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_BEAM_H_
