// Normalizes text to Unicode's form NFKC, in which characters that differ only in how they are
// written are the same: "ｈ" and "h", "ﬁ" and "fi".
#ifndef NIBU_TOKENIZER_UNICODE_NFKC_H_
#define NIBU_TOKENIZER_UNICODE_NFKC_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// Returns the normalized text (https://www.unicode.org/reports/tr15/). `sources` gets, for each of
// its bytes and for its end, the byte of `text` where the characters begin that it comes from.
// Bytes that are not UTF-8 become U+FFFD.
std::string Nfkc(absl::string_view text, std::vector<size_t>* sources);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_UNICODE_NFKC_H_
