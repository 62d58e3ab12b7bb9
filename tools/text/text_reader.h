// Cuts a text into units that are translated one by one, and puts their translations back.
#ifndef NIBU_TOOLS_TEXT_TEXT_READER_H_
#define NIBU_TOOLS_TEXT_TEXT_READER_H_

#include <cstdint>
#include <deque>
#include <string>

#include "absl/strings/string_view.h"
#include "nibu/options.h"
#include "tools/text/layout.h"
#include "tools/text/marked_text.h"
#include "tools/text/markup.h"

namespace nibu::internal {

// What is translated at a time: a line, a paragraph, or a block of a document.
struct UnitParts {
  MarkedLine marked;   // Without segments: there is nothing to translate.
  std::string source;  // Its text, as it stands in the input.
  std::string before;  // What stands in front of its translation.
  std::string after;
  Paragraph layout = {};  // With TextKind::kParagraphs, the paragraph without its text.
  uint64_t line = 0;      // The line of the input, from 0, in which it begins.
  uint64_t end = 0;       // Bytes of the input up to its end.
  bool ends_line = true;  // A line feed follows it in the output.
};

// Reads a text in pieces of any size, and remembers no more of it than the present line, paragraph
// or block. Lines end in LF or CR LF; a last line without an end counts. Results do not depend on
// the pieces. Not thread-safe.
//
// In a document, the texts between block tags are the units, whatever lines they are written on;
// white space with a line break in it becomes one space there, and all that is no text stays as it
// is. A block of more than kMostBytes is cut at the end of a line or word.
class TextReader {
 public:
  static constexpr size_t kMostBytes = size_t{1} << 20;

  TextReader(TextKind kind, Markup markup) : kind_(kind), markup_(markup) {}

  void Add(absl::string_view bytes);
  // No more bytes come.
  void End() { ended_ = true; }
  // The next unit; false: more bytes are needed or, after End, there is none.
  bool Next(UnitParts* unit);
  // Whether a comment, tag or element that is left alone goes on behind the last unit.
  bool is_open() const { return markup_.is_open(); }

 private:
  bool ReadLine();
  void ReadParagraphs();
  void AddParagraph(Paragraph paragraph);
  bool ReadBlocks();
  void AddBlocks(absl::string_view text);

  const TextKind kind_;
  MarkupReader markup_;
  ParagraphReader paragraphs_;
  std::string buffer_;
  size_t start_ = 0;       // Where the bytes begin that are in no unit yet.
  size_t searched_ = 0;    // Up to there, no line feed follows `start_`.
  size_t window_ = 0;      // Of a document: how much of it is looked at for the end of a block.
  uint64_t consumed_ = 0;  // Bytes in front of start_, in all.
  uint64_t lines_ = 0;     // Lines that have ended there.
  bool ended_ = false;
  std::deque<UnitParts> ready_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TEXT_READER_H_
