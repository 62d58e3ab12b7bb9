// Phrases that a translation must have, by dynamic beam allocation (Post and Vilar 2018): the beam
// is shared out to hypotheses by how much of the constraints they have met.
#ifndef NIBU_ENGINE_SEARCH_CONSTRAINTS_H_
#define NIBU_ENGINE_SEARCH_CONSTRAINTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace nibu::internal {

// One of these phrases (token ids) is to appear; one at least, none of them empty.
using Constraint = std::vector<std::vector<int>>;

// What a hypothesis has met: a bit for each constraint.
using Met = uint64_t;
constexpr size_t kMostConstraints = 64;
inline bool IsMet(Met met, size_t constraint) { return (met >> constraint & 1) != 0; }

// Of the shortest phrase of each.
size_t CountTokens(absl::Span<const Constraint> constraints);

// The constraints that `tokens` meet, where `met` are those of all but the newest token. A phrase
// that several constraints ask for meets one of them each time that it appears.
Met MetBy(absl::Span<const Constraint> constraints, Met met, absl::Span<const int> tokens);

// The bank of a hypothesis: tokens of phrases that are met (as CountTokens counts them),
// and those of the longest one begun.
size_t BankOf(absl::Span<const Constraint> constraints, Met met, absl::Span<const int> tokens);

// The tokens that begin a phrase or go on with one begun; appended to `next`.
void FindNext(absl::Span<const Constraint> constraints, Met met, absl::Span<const int> tokens,
              std::vector<int>* next);

// Which `beam` of the candidates, best first, a beam shared out to the banks keeps: their numbers,
// ascending. `bank`: of each candidate.
std::vector<size_t> AllocateBeam(size_t beam, absl::Span<const size_t> bank);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_CONSTRAINTS_H_
