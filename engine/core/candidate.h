// A token and its log-probability, as the output layer's logits become candidates of a search.
#ifndef NIBU_ENGINE_CORE_CANDIDATE_H_
#define NIBU_ENGINE_CORE_CANDIDATE_H_

namespace nibu::internal {

// A continuation of a hypothesis.
struct Candidate {
  int token;
  float log_prob;  // of the token, given its hypothesis
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_CANDIDATE_H_
