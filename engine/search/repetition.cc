// Finds runs in which every token equals the one n before it.
#include "engine/search/repetition.h"

#include <algorithm>
#include <cstddef>

namespace nibu::internal {

bool HasLoop(absl::Span<const int> tokens) {
  constexpr size_t kLongest = 16;
  constexpr size_t kShortestRun = 16;
  for (size_t n = 1; n <= kLongest; ++n) {
    // So many tokens that equal those n before them make, with the first n, a run of at least four
    // copies and kShortestRun tokens.
    const size_t enough = std::max(3 * n, kShortestRun - n);
    size_t equal = 0;
    for (size_t i = n; i < tokens.size(); ++i) {
      equal = tokens[i] == tokens[i - n] ? equal + 1 : 0;
      if (equal >= enough) return true;
    }
  }
  return false;
}

}  // namespace nibu::internal
