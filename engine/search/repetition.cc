#include "engine/search/repetition.h"

#include <algorithm>
#include <cstddef>

namespace nibu::internal {

bool HasLoop(absl::Span<const int> tokens) {
  constexpr size_t kLongest = 16;
  constexpr size_t kShortestRun = 16;
  for (size_t n = 1; n <= kLongest; ++n) {
    const size_t enough = std::max(3 * n, kShortestRun - n);  // tokens that equal those n before
    size_t equal = 0;
    for (size_t i = n; i < tokens.size(); ++i) {
      equal = tokens[i] == tokens[i - n] ? equal + 1 : 0;
      if (equal >= enough) return true;
    }
  }
  return false;
}

}  // namespace nibu::internal
