// A line, cut into what is translated in one piece.
#ifndef NIBU_TOOLS_TEXT_LINE_READER_H_
#define NIBU_TOOLS_TEXT_LINE_READER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "tokenizer/sentence_splitter.h"
#include "tools/text/glossary.h"
#include "tools/text/join.h"
#include "tools/text/marked_text.h"
#include "tools/text/protect.h"
#include "tools/text/text_coder.h"

namespace nibu {

// Options, checked and worked out: how lines are read.
struct TextPlan {
  TextOptions options;  // with the frame; nothing to be protected if tokenized
  size_t limit = 0;     // pieces of a part
  Glossary glossary;
  std::shared_ptr<const std::vector<bool>> word_parts = nullptr;  // of a request with constraints
  std::shared_ptr<const SentenceSplitter> splitter = nullptr;     // null: lines are whole
  std::unique_ptr<const Protector> protector = nullptr;           // null: nothing is looked for
};

// Finds the parts of one line, which says whether it is whole or scored. Adds to `line`, and to the
// counts of `result`. Refers to all of them. `prefix`: of the translation.
class LineReader {
 public:
  LineReader(const TextCoder& coder, const TextPlan& plan, const std::string& prefix,
             LineParts* line, TextResult* result)
      : coder_(coder), plan_(plan), prefix_(prefix), line_(*line), result_(*result) {}

  // OutOfRange: LongInput::kError or a line to be scored, and a sentence of too many tokens.
  absl::Status Read(const MarkedLine& line);

 private:
  absl::Status ReadText(MarkedText text);
  absl::Status ReadSentence(std::string before, MarkedText sentence);
  // A whole sentence, or its beginning, or parts of it.
  absl::Status AddPart(std::string before, CodedText source, MarkedText marked);

  const TextCoder& coder_;
  const TextPlan& plan_;
  const std::string& prefix_;
  TextCoder::Line front_;  // what is said there holds for all segments
  LineParts& line_;
  TextResult& result_;
};

// What a translation begins with, in the words of a source (of WithNames).
std::string PrefixWithNames(const MarkedText& source, std::string prefix);

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_LINE_READER_H_
