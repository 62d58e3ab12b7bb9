// Finds where a line may be cut, and cuts lines that are very long.
#ifndef NIBU_TOOLS_TEXT_LINES_LINE_SECTIONS_H_
#define NIBU_TOOLS_TEXT_LINES_LINE_SECTIONS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tokenizer/sentences/sentence_splitter.h"
#include "tokenizer/unicode/text_span.h"
#include "tools/text/lines/line_plan.h"
#include "tools/text/marked/marked_text.h"
#include "tools/text/model/text_coder.h"

namespace nibu::internal {

// A line may begin with a language token or an instruction. Where two models translate in a row, it
// is for the second one if that knows it.
struct Front {
  TextCoder::Line line;  // as the first model reads it; its text is the rest of the line
  std::string pivot;     // what is for the second model
};

// Reads the front of a line's text. `splits`: the line will be split into sentences.
Front ReadFront(const LinePlan& plan, absl::string_view text, bool splits);

// Reads the marks in the plain text of a line (ReadPlainMarks) as tags and the like, if the plan
// protects codes.
MarkedLine ReadMarks(const LinePlan& plan, const MarkedLine& line);

// Makes protected parts of what the plan protects in a text.
void ProtectParts(const LinePlan& plan, MarkedText* text);

// Returns the sentences of a text. Where a border between two of them is in a protected part, they
// are joined.
std::vector<TextSpan> SplitBesideParts(const SentenceSplitter& splitter, const MarkedText& text);

// A line, or a part of one that is translated as a line of its own.
struct LineSection {
  MarkedLine line;
  // Its translation follows that of the section before it directly or, if this is set, as
  // BetweenTranslations joins two sentences that have this white space between them.
  std::optional<std::string> between = std::nullopt;
};

// Cuts a line at ends of sentences into sections of at most `most` bytes of text, or of a single
// sentence that is longer. So a line of any length is read in little memory. Together, the
// translations of the sections are that of the line: the language token or instruction in front of
// the line is repeated in front of each of them. A line that is not split has one section.
std::vector<LineSection> CutLine(const LinePlan& plan, const MarkedLine& line, size_t most);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LINES_LINE_SECTIONS_H_
