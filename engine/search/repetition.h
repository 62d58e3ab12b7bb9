#ifndef NIBU_ENGINE_SEARCH_REPETITION_H_
#define NIBU_ENGINE_SEARCH_REPETITION_H_

#include "absl/types/span.h"

namespace nibu::internal {

// Whether some n-gram of up to 16 tokens follows itself again and again: at least three times more,
// over at least 16 tokens.
bool HasLoop(absl::Span<const int> tokens);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_REPETITION_H_
