#ifndef NIBU_ENGINE_SEARCH_LOGIT_RULES_H_
#define NIBU_ENGINE_SEARCH_LOGIT_RULES_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/core/candidate.h"
#include "engine/search/decoding_options.h"

namespace nibu::internal {

// Whether the options ask for anything that depends on a hypothesis' tokens.
bool HasRules(const DecodingOptions& options);

// What may not follow the tokens of a hypothesis (appended to `suppressed`), and which of them a
// repetition penalty is for, each once.
void FindRules(const DecodingOptions& options, absl::Span<const int> tokens,
               std::vector<int>* suppressed, std::vector<int>* repeated);

// The best continuations and those that were wanted, which may be among them, best first. With a
// beta above 0, biased to the first one wanted: see DecodingOptions::prefix_bias_beta. A
// token of probability 0 stays one.
void Widen(float beta, absl::Span<const Candidate> best, absl::Span<const Candidate> wanted,
           std::vector<Candidate>* all);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_LOGIT_RULES_H_
