// Cuts a line into parts, each of which the model translates at once: a sentence, or a piece of a
// long one.
//
// 1. The language token or instruction in front of the line is read. It holds for all of the line.
// 2. In each segment of the line (a text between block tags), the marks of plain text are read, and
//    protected parts are found.
// 3. The segment is cut into sentences, none of which begins or ends inside of a protected part. It
//    stays whole if the options say so, or if an unknown instruction stands in front of the line,
//    which may concern all of it.
// 4. Protected parts at the edges of a sentence that are no words of it are copied (WithoutEdges).
// 5. Each sentence is encoded: words in capitals get another case (ReadCapitals), names replace the
//    protected parts, and the tokenizer cuts it into pieces. If the vocabulary lacks characters of
//    it, the words with these become protected parts (where Options::protect has kUnknown), and the
//    sentence is encoded again. A sentence without letters ("12:30") is copied, not translated,
//    unless there is a target prefix, which is to begin the translation. A line that is not split
//    is copied only if it has annotations and is not scored.
// 6. A sentence of more than LinePlan::limit pieces is refused, truncated, or cut into several
//    parts, as Options::long_input says.
// 7. The target prefix, or the target to be scored, is cut into sentences, too, and the n-th of
//    them goes to the n-th sentence of the line. The last sentence gets the rest of the prefix; a
//    cut sentence's first part gets its share. If a target has other sentences than the line, the
//    line is scored as one part (LineParts::scored_whole). The prefix of a line that is not split
//    goes to its last segment.
//
// Terms of a glossary are looked up later, in each part, when its request is made
// (PendingLine::MakeRequest).
//
// Everything that is not in a part (white space, tags between sentences, copied sentences) is kept
// as text in front of the next part, or behind the last one, so that Join (join.h) can write the
// whole line.
#ifndef NIBU_TOOLS_TEXT_LINES_LINE_READER_H_
#define NIBU_TOOLS_TEXT_LINES_LINE_READER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/text/lines/join.h"
#include "tools/text/lines/line_plan.h"
#include "tools/text/marked/marked_text.h"

namespace nibu::internal {

// Returns the parts of a line. They refer to the plan, which must outlive them. `target_prefix` and
// `target`: see nibu::Request. Returns OutOfRange if a sentence has too many tokens, and either the
// plan says LongInput::kError or there is a target.
absl::StatusOr<LineParts> ReadLine(const LinePlan& plan, const MarkedLine& line,
                                   const std::string& target_prefix = {},
                                   const std::optional<std::string>& target = std::nullopt);

// Cuts a text of more than `limit` pieces into parts of at most so many, at ends of sentences or
// clauses where possible. The language tokens in front of the text are repeated in every part. A
// shorter text becomes one part. Of the parts, only `source` and `marked` are set.
std::vector<LinePart> CutPieces(const EncodedText& coded, const MarkedText& marked, size_t limit);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LINES_LINE_READER_H_
