#include "tools/text/nearest.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"

namespace nibu::internal {
namespace {

// Levenshtein distance.
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Nearest(absl::string_view name, absl::Span<const std::string> known) {
  std::string nearest;
  size_t best = std::min<size_t>(3, name.size() / 2) + 1;  // further away is no help
  for (const std::string& other : known) {
    // The beginning of a name is near it.
    const bool begins = !name.empty() && absl::StartsWith(other, name);
    const size_t distance = begins ? 0 : Distance(name, other);
    if (distance < best) nearest = other;
    best = std::min(best, distance);
  }
  return nearest;
}

}  // namespace nibu::internal
