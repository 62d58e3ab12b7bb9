// Finds the marks in plain text that belong to a format: tags, Markdown's, and escapes of strings.
#ifndef NIBU_TOOLS_TEXT_MARKED_PLAIN_MARKS_H_
#define NIBU_TOOLS_TEXT_MARKED_PLAIN_MARKS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "tools/text/marked/markup_lexer.h"

namespace nibu::internal {

// Cuts a line of plain text into tokens, which follow each other without a gap. Any bytes are
// allowed; takes linear time.
// - `<b>`, `</b>`: inline tags; `<br />` and other tags of blocks, `\n`, `\N`, `\r` and `\t`,
//   tabs, and three blanks or more, which make columns: blocks, which separate texts; `{\i1}`,
//   `<img>`: points.
// - `**`, `*`, `__`, `~~` around words, and `[` with `](url)`: pairs of inline tags.
// - "`code`" and `<code>` elements: protected.
// - `\"`, `\'`, `\/`, `\uXXXX` and `%%`: references to a character.
std::vector<MarkupToken> ReadPlainMarks(absl::string_view line);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_PLAIN_MARKS_H_
