// Setting text: how wide it is, where lines may be cut, and what stands between lines and sentences
// that become one text.
#ifndef NIBU_TOKENIZER_UNICODE_TYPESETTING_H_
#define NIBU_TOKENIZER_UNICODE_TYPESETTING_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// The column behind a text that begins in `column`: East Asian wide characters take two, marks and
// what is not seen none, a tab ends in a multiple of 8. What is not UTF-8 takes one a byte.
size_t ColumnBehind(absl::string_view text, size_t column = 0);

// Where a line may end, in bytes, the end of the text included: behind blanks, and between words of
// scripts without blanks.
std::vector<size_t> LineBreaks(absl::string_view text);

// What stands between two lines of a paragraph when they become one: a blank, or nothing in scripts
// that write none between words.
absl::string_view BetweenLines(absl::string_view before, absl::string_view after);

// What stands between the translations `before` and `after` of two sentences with the white space
// `between` them: the same, but for the blank that some scripts write there and others (Chinese,
// Japanese) do not.
absl::string_view BetweenTranslations(absl::string_view between, absl::string_view before,
                                      absl::string_view after);

// Whether it begins with a small letter.
bool BeginsSmall(absl::string_view text);
// With a capital letter, or a digit.
bool BeginsCapital(absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_UNICODE_TYPESETTING_H_
