// Finds the nearest name by edit distance.
#include "tools/text/options/nearest.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"

namespace nibu::internal {
namespace {

// Levenshtein distance, in which two neighbours that are swapped count as one edit ("optimal string
// alignment").
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  std::vector<size_t> last(row);
  for (size_t i = 1; i <= a.size(); ++i) {
    const std::vector<size_t> before_last = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Nearest(absl::string_view name, absl::Span<const std::string> known,
                    size_t most_edits) {
  std::string nearest;
  size_t best = std::min(most_edits, name.size() / 2) + 1;
  for (const std::string& other : known) {
    // A name that begins with the given one counts as equal.
    const bool begins = !name.empty() && absl::StartsWith(other, name);
    const size_t distance = begins ? 0 : Distance(name, other);
    if (distance < best) nearest = other;
    best = std::min(best, distance);
  }
  return nearest;
}

}  // namespace nibu::internal
