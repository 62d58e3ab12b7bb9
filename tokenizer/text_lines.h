// Text that is set in lines: how wide it is, and where it may be cut.
#ifndef NIBU_TOKENIZER_TEXT_LINES_H_
#define NIBU_TOKENIZER_TEXT_LINES_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

namespace nibu {

// The column behind a text that begins in `column`: East Asian wide characters take two, marks and
// what is not seen none, a tab ends in a multiple of 8. What is not UTF-8 takes one a byte.
size_t ColumnBehind(absl::string_view text, size_t column = 0);

// Where a line may end, in bytes, the end of the text included: behind blanks, and between words of
// scripts without blanks.
std::vector<size_t> LineBreaks(absl::string_view text);

// Whether it begins with a small letter.
bool BeginsSmall(absl::string_view text);

}  // namespace nibu

#endif  // NIBU_TOKENIZER_TEXT_LINES_H_
