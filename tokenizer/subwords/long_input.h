// Cuts lines that are longer than a model can take.
#ifndef NIBU_TOKENIZER_SUBWORDS_LONG_INPUT_H_
#define NIBU_TOKENIZER_SUBWORDS_LONG_INPUT_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace nibu::internal {

// Cuts pieces into parts [begin, end) of at most `limit` pieces each, in order, which leave nothing
// out. A part ends behind the last sentence that fits, else behind the last clause, else before the
// word that does not fit, else at the limit. Closing quotes and brackets stay with what they close.
// Full stops count before a word's start (not in "3.5") and before East Asian characters.
// REQUIRES: limit >= 1.
std::vector<std::pair<size_t, size_t>> SplitPieces(absl::Span<const std::string> pieces,
                                                   size_t limit);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SUBWORDS_LONG_INPUT_H_
