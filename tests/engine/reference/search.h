// The search as it is described: whole rows of probabilities, hypotheses that are plain lists of
// tokens, everything sorted in full. What the engine's options are compared with.
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
  // logit: with rounding errors of about largest * 1e-6, a margin much above them decides.
  double margin = std::numeric_limits<double>::infinity();
  double largest = 0;
  bool retried = false;     // see OnRepetition::kRetry
  bool took_retry = false;  // and it was better
};

// REQUIRES: what a Translator would not refuse, and no constraints.
Answer Search(const std::vector<Member>& models, const Request& request);
inline Answer Search(const Transformer& model, const Request& request) {
  return Search({{&model}}, request);
}

// See engine/search/repetition.h.
bool Loops(const std::vector<int>& tokens);

// What a sample adds to logit / temperature.
double Gumbel(const Sampling& sampling, uint64_t key, size_t hypothesis, size_t step, int token);

}  // namespace reference
}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_REFERENCE_SEARCH_H_
