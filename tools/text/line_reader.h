// A line, cut into what is translated in one piece.
#ifndef NIBU_TOOLS_TEXT_LINE_READER_H_
#define NIBU_TOOLS_TEXT_LINE_READER_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "tokenizer/sentence_splitter.h"
#include "tools/text/join.h"
#include "tools/text/marked_text.h"
#include "tools/text/protect.h"
#include "tools/text/text_coder.h"
#include "tools/text/text_options.h"

namespace nibu {

// How lines are read. Refers to all of them.
struct Reading {
  const TextCoder& coder;
  const TextOptions& options;
  const SentenceSplitter* splitter;  // null: a segment is one sentence
  const Protector* protector;        // null: nothing is protected
  bool protects_unknown;
  size_t limit;               // pieces of a part
  const std::string& prefix;  // of the translation
};

// Finds the parts of one line. Adds to `line`, and to the counts of `result`.
class LineReader {
 public:
  LineReader(const Reading& reading, LineParts* line, TextResult* result)
      : reading_(reading), line_(*line), result_(*result) {}

  // OutOfRange: LongInput::kError or a line to be scored, and a sentence of too many tokens.
  absl::Status Read(const MarkedLine& line);

 private:
  absl::Status ReadText(MarkedText text);
  absl::Status ReadSentence(std::string before, MarkedText sentence);
  // A whole sentence, or its beginning, or parts of it.
  absl::Status AddPart(std::string before, CodedText source, MarkedText marked);

  const Reading& reading_;
  TextCoder::Line front_;  // what is said there holds for all segments
  LineParts& line_;
  TextResult& result_;
};

// What a translation begins with, in the words of a source (of WithNames).
std::string PrefixWithNames(const MarkedText& source, std::string prefix);

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_LINE_READER_H_
