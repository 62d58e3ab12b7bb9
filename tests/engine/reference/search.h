// The search as it is described, to which the engine's options are compared: whole rows of
// probabilities, hypotheses that are plain lists of tokens, and everything sorted in full.
#ifndef NIBU_TESTS_ENGINE_REFERENCE_SEARCH_H_
#define NIBU_TESTS_ENGINE_REFERENCE_SEARCH_H_

#include <limits>
#include <vector>

#include "engine/request.h"
#include "tests/engine/reference/rules.h"

namespace nibu::internal {
namespace reference {

struct Found {
  std::vector<int> tokens;  // the end token left out
  std::vector<double> token_scores;
  double log_prob = 0;
  double score = 0;
  bool finished = false;
  Matrix attention;  // [tokens][source]
};

struct Answer {
  std::vector<Found> hypotheses;
  // The smallest distance between two numbers whose order the answer depends on, and the largest
  // logit. Rounding errors are about largest * 1e-6, so the answer is certain if the margin is much
  // larger.
  double margin = std::numeric_limits<double>::infinity();
  double largest = 0;
  bool retried = false;     // see OnRepetition::kRetry
  bool took_retry = false;  // the retry was better
};

// Returns what a translator must find. REQUIRES: a request that a Translator accepts, without
// constraints.
Answer Search(const std::vector<Member>& models, const Request& request);
inline Answer Search(const Transformer& model, const Request& request) {
  return Search({{&model}}, request);
}

// Returns whether the tokens are caught in a loop (see HasLoop in engine/search/beam_search.cc).
bool Loops(const std::vector<int>& tokens);

// Returns the noise that a sample adds to logit / temperature.
double Gumbel(const Sampling& sampling, uint64_t key, size_t hypothesis, size_t step, int token);

}  // namespace reference
}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_REFERENCE_SEARCH_H_
