// Measures the width of text, finds where lines may be wrapped, and says with what lines and
// sentences are joined.
#ifndef NIBU_TOKENIZER_UNICODE_TYPESETTING_H_
#define NIBU_TOKENIZER_UNICODE_TYPESETTING_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// Returns the column behind a text that begins in `column`. Wide East Asian characters take two
// columns, marks and invisible characters none, and a tab ends at a multiple of 8. Bytes that are
// not UTF-8 take one column each.
size_t ColumnBehind(absl::string_view text, size_t column = 0);

// Returns the bytes behind which a line may end, in order: behind blanks, between words of scripts
// without blanks, and at the end of the text.
std::vector<size_t> LineBreaks(absl::string_view text);

// Returns what joins two lines of a paragraph into one: a blank, or nothing in scripts that write
// no blanks between words.
absl::string_view BetweenLines(absl::string_view before, absl::string_view after);

// Returns what joins the translations `before` and `after` of two sentences that have the white
// space `between` them: the same, except for blanks, which Chinese and Japanese do not write. A
// single blank is dropped between characters of such scripts, and a missing one is added between
// characters of other scripts.
absl::string_view BetweenTranslations(absl::string_view between, absl::string_view before,
                                      absl::string_view after);

// Returns true if a text begins with a lower-case letter.
bool BeginsSmall(absl::string_view text);
// Returns true if a text begins with a capital letter or a digit.
bool BeginsCapital(absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_UNICODE_TYPESETTING_H_
