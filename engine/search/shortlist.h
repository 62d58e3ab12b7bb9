// Which target tokens are worth the output layer's time, given the source.
#ifndef NIBU_ENGINE_SEARCH_SHORTLIST_H_
#define NIBU_ENGINE_SEARCH_SHORTLIST_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/types/span.h"

namespace nibu::internal {

// A lexical shortlist: some tokens always, and for each source token, or sequence of source tokens,
// those that may translate it. Immutable once filled; threads may share it.
struct Shortlist {
  // Tokens 0 ... first - 1 are always candidates, and so are those of `always`.
  int first = 0;
  std::vector<int> always;
  // Source and target share their vocabulary: the source's own tokens are candidates.
  bool copy_source = false;
  // Candidates of source token s: ids[offsets[s]] ... ids[offsets[s + 1] - 1], those there are.
  std::vector<uint32_t> offsets;
  std::vector<int> ids;
  // Candidates of longer sequences of source tokens, none longer than longest_phrase.
  std::unordered_map<std::vector<int>, std::vector<int>, absl::Hash<std::vector<int>>> phrases;
  int longest_phrase = 1;

  // The candidates of one sentence (never of a batch: results must not depend on it) out of a
  // vocabulary: ascending, each once, their number a multiple of 8 where the vocabulary allows
  // (tokens from `first` on fill it up). Those `needed` are always among them.
  std::vector<int> Candidates(absl::Span<const int> source, int vocabulary,
                              absl::Span<const int> needed) const;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_SHORTLIST_H_
