// Collects the candidates of a sentence in a bit set. Ids that the vocabulary does not have are
// ignored.
#include "engine/search/shortlist.h"

#include <algorithm>

#include "engine/core/token_set.h"

namespace nibu::internal {

std::vector<int> Shortlist::Candidates(absl::Span<const int> source, int vocabulary,
                                       absl::Span<const int> needed) const {
  TokenSet chosen(vocabulary);
  const auto choose = [&](int token) {
    if (token >= 0 && token < vocabulary) chosen.Add(token);
  };
  for (int token = 0; token < std::min(first, vocabulary); ++token) choose(token);
  for (const int token : always) choose(token);
  for (const int token : needed) choose(token);
  for (size_t begin = 0; begin < source.size(); ++begin) {
    const int token = source[begin];
    if (copy_source) choose(token);
    if (token >= 0 && static_cast<size_t>(token) + 1 < offsets.size()) {
      const size_t end = std::min<size_t>(offsets[static_cast<size_t>(token) + 1], ids.size());
      for (size_t i = offsets[static_cast<size_t>(token)]; i < end; ++i) choose(ids[i]);
    }
    for (int n = 2; n <= longest_phrase && begin + static_cast<size_t>(n) <= source.size(); ++n) {
      const absl::Span<const int> phrase = source.subspan(begin, static_cast<size_t>(n));
      const auto it = phrases.find(std::vector<int>(phrase.begin(), phrase.end()));
      if (it == phrases.end()) continue;
      for (const int candidate : it->second) choose(candidate);
    }
  }
  for (int token = 0; token < vocabulary && chosen.size() % 8 != 0; ++token) choose(token);
  return chosen.Ascending();
}

}  // namespace nibu::internal
