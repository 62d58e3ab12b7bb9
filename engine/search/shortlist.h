// Lexical shortlists: the target tokens that may translate a source. The output layer of a sentence
// computes only their logits.
#ifndef NIBU_ENGINE_SEARCH_SHORTLIST_H_
#define NIBU_ENGINE_SEARCH_SHORTLIST_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/types/span.h"

namespace nibu::internal {

// Some tokens are always candidates; for each source token, or sequence of source tokens, there are
// others that may translate it. Immutable once it has been filled; threads may share it.
struct Shortlist {
  // Tokens 0 ... first - 1 are always candidates, and so are those of `always`.
  int first = 0;
  std::vector<int> always;
  // Source and target share their vocabulary, so the source's own tokens are candidates, too.
  bool copy_source = false;
  // The candidates of source token s are ids[offsets[s]] ... ids[offsets[s + 1] - 1]. A token
  // beyond the end of `offsets` has none.
  std::vector<uint32_t> offsets;
  std::vector<int> ids;
  // The candidates of longer sequences of source tokens, none longer than longest_phrase.
  std::unordered_map<std::vector<int>, std::vector<int>, absl::Hash<std::vector<int>>> phrases;
  int longest_phrase = 1;

  // Returns the candidates of one sentence (never of a batch, on which results must not depend) out
  // of a vocabulary: ascending, each once. The tokens `needed` are always among them. The number of
  // candidates is a multiple of 8, if the vocabulary is large enough: the lowest other tokens fill
  // it up.
  std::vector<int> Candidates(absl::Span<const int> source, int vocabulary,
                              absl::Span<const int> needed) const;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_SHORTLIST_H_
