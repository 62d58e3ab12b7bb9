// A line, cut into what is translated in one piece.
#ifndef NIBU_TOOLS_TEXT_LINE_READER_H_
#define NIBU_TOOLS_TEXT_LINE_READER_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/text/join.h"
#include "tools/text/marked_text.h"
#include "tools/text/text_plan.h"
#include "tools/text/text_translator.h"

namespace nibu::internal {

// The parts of a line, which is a request's. OutOfRange: LongInput::kError or a target, and a
// sentence of too many tokens.
absl::StatusOr<LineParts> ReadLine(const TextTranslator::Request& request, const MarkedLine& line);

// Cuts a text of more than `limit` pieces into parts, at ends of sentences or clauses where
// possible. Language tokens come first in every part.
std::vector<LinePart> CutPieces(const CodedText& coded, const MarkedText& marked, size_t limit);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LINE_READER_H_
