// Phrases that a translation must have, by dynamic beam allocation (Post and Vilar 2018, "Fast
// Lexically Constrained Decoding with Dynamic Beam Allocation for Neural Machine Translation").
//
// The bank of a hypothesis is the number of tokens of its constraints that it has generated: all
// tokens of those that it meets, and those of a phrase that it has begun. In each step, every bank
// gets an equal share of the beam (AllocateBeam), so that hypotheses with more of the phrases are
// kept although their scores are lower. The tokens that continue or begin a phrase are always among
// the candidates (FindNext).
#ifndef NIBU_ENGINE_SEARCH_CONSTRAINTS_H_
#define NIBU_ENGINE_SEARCH_CONSTRAINTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace nibu::internal {

// The phrases (token ids) of which one is to appear. There is at least one, and none is empty.
using Constraint = std::vector<std::vector<int>>;

// A set of constraints, such as those that a hypothesis has met: a bit for each.
using ConstraintSet = uint64_t;
constexpr size_t kMostConstraints = 64;
inline bool IsMet(ConstraintSet met, size_t constraint) { return (met >> constraint & 1) != 0; }

// Returns the number of tokens of all constraints. Each counts as its shortest phrase.
size_t CountTokens(absl::Span<const Constraint> constraints);

// Returns the constraints that `tokens` meet, where `met` are those that they meet without their
// last token. A phrase that several constraints ask for meets one of them each time that it
// appears.
ConstraintSet FindMet(absl::Span<const Constraint> constraints, ConstraintSet met,
                      absl::Span<const int> tokens);

// Returns the bank of a hypothesis with these tokens: the tokens of the constraints in `met`
// (counted as by CountTokens), and those of the longest phrase begun of the others.
size_t BankOf(absl::Span<const Constraint> constraints, ConstraintSet met,
              absl::Span<const int> tokens);

// Sets `next` to its tokens and those that begin a phrase, or continue one that `tokens` end in the
// middle of: ascending, each once. Constraints in `met` are left out.
void FindNext(absl::Span<const Constraint> constraints, ConstraintSet met,
              absl::Span<const int> tokens, std::vector<int>* next);

// Returns the numbers of the candidates that a beam keeps, `beam` of them at most, ascending.
// `bank`: the bank of each candidate, best candidate first.
std::vector<size_t> AllocateBeam(size_t beam, absl::Span<const size_t> bank);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_CONSTRAINTS_H_
