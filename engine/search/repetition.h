// Detects translations that loop.
#ifndef NIBU_ENGINE_SEARCH_REPETITION_H_
#define NIBU_ENGINE_SEARCH_REPETITION_H_

#include "absl/types/span.h"

namespace nibu::internal {

// Returns whether some n-gram of up to 16 tokens is followed by at least three more copies of
// itself, and the run of copies has at least 16 tokens.
bool HasLoop(absl::Span<const int> tokens);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_REPETITION_H_
