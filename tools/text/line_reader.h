// A line, cut into what is translated in one piece.
#ifndef NIBU_TOOLS_TEXT_LINE_READER_H_
#define NIBU_TOOLS_TEXT_LINE_READER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tokenizer/sentences/sentence_splitter.h"
#include "tools/text/glossary.h"
#include "tools/text/join.h"
#include "tools/text/marked_text.h"
#include "tools/text/protect.h"
#include "tools/text/text_coder.h"
#include "tools/text/text_translator.h"

namespace nibu::internal {

// Options, checked and worked out: how lines are read.
struct TextPlan {
  TextOptions options;                  // with the frame; nothing to be protected if tokenized
  TextCoder coder;                      // without tokenizers then
  std::vector<std::string> names = {};  // for protected parts; none is a part of a term
  size_t limit = 0;                     // pieces of a part
  Glossary glossary = {};
  std::shared_ptr<const std::vector<bool>> word_parts = nullptr;  // of a request with constraints
  std::shared_ptr<const SentenceSplitter> splitter = nullptr;     // null: lines are whole
  std::shared_ptr<const SentenceSplitter> prefix_splitter = nullptr;  // of the target's language
  // How both languages say numbers; null: not known.
  std::shared_ptr<const NumberWords> source_numbers = nullptr;
  std::shared_ptr<const NumberWords> target_numbers = nullptr;
  Protector protector = nullptr;  // null: nothing is looked for
};

// The parts of a line, which is a request's. OutOfRange: LongInput::kError or a target, and a
// sentence of too many tokens.
absl::StatusOr<LineParts> ReadLine(const TextTranslator::Request& request, const MarkedLine& line);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LINE_READER_H_
