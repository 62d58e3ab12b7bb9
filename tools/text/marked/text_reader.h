// Cuts a text that comes in chunks of bytes into the units that are translated one by one: lines,
// paragraphs, or the texts of a document with markup.
#ifndef NIBU_TOOLS_TEXT_MARKED_TEXT_READER_H_
#define NIBU_TOOLS_TEXT_MARKED_TEXT_READER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/strings/string_view.h"
#include "nibu/options.h"
#include "tools/text/marked/layout.h"
#include "tools/text/marked/marked_text.h"
#include "tools/text/marked/markup.h"

namespace nibu::internal {

// A part of a text that is translated by itself: a line, a paragraph, or a text of a document. Its
// output is `before`, the translation as Reflow writes it, and a line feed if it ends a line.
struct UnitParts {
  // The text for PendingLine::Submit. In a document, it is one segment with nothing around it,
  // or none if there is nothing to translate.
  MarkedLine marked;
  std::string source;     // Its text as in the input; in a document, with white space collapsed.
  std::string before;     // In a document, all bytes between the last unit's text and this one's.
  Paragraph layout = {};  // With TextKind::kParagraphs, the paragraph without its text.
  uint64_t line = 0;      // The line of the input, from 0, in which its text begins.
  // Bytes of the input up to its end; for paragraphs, up to where it is known that they end.
  uint64_t end = 0;
  bool ends_line = true;  // A line feed follows it in the output.
};

// Reads units in bounded memory: it holds a line, a paragraph of up to 1 MB, or a document up to
// the end of the block that has begun, and the chunk that came last. The units do not depend on the
// chunks. Any bytes are allowed. Takes linear time. Not thread-safe.
//
// Lines end in LF or CR LF, and a last line without an end counts. In a document, the texts between
// block tags are units, whatever lines they are written on (see MarkupReader). Long markup without
// a text (scripts, comments, data in attributes) makes units, too. A text of more than `max_piece`
// bytes is cut at a line end, a blank or a tag; markup without a text may be cut anywhere.
//
//   reader.Add(bytes);
//   while (reader.Next(&unit)) ...
//   reader.End();
//   while (reader.Next(&unit)) ...
class TextReader {
 public:
  // A document needs a markup. Paragraphs have none, so `markup` is ignored.
  // `has_values` and `language`: see MarkupReader.
  TextReader(TextKind kind, Markup markup, size_t max_piece = MarkupReader::kMaxPiece,
             bool has_values = false, std::string language = "");

  // Takes the next bytes of the text. They may end anywhere. REQUIRES: End has not been called.
  void Add(absl::string_view bytes);
  // Says that no more bytes come.
  void End() { is_ended_ = true; }
  // Sets `unit` to the next one. Returns false if that needs more bytes, or after the last unit.
  bool Next(UnitParts* unit);
  // Returns, after the last unit, whether the text ended within a comment, a tag, or an element
  // that is not translated.
  bool is_open() const { return markup_.is_open(); }
  // Returns the number of bytes that were added but are not in a unit yet.
  size_t buffered_bytes() const { return buffer_.size() - start_ + front_.size(); }

 private:
  bool NextLine(UnitParts* unit);
  bool NextParagraph(UnitParts* unit);
  bool NextOfDocument(UnitParts* unit);
  // Takes a line without its end: a line feed, or carriage return and line feed. `line` is valid
  // until the next Add. Returns false if the line needs more bytes, or there is none.
  bool TakeLine(absl::string_view* line);
  // Takes bytes off the buffer. The result is valid until the next Add.
  absl::string_view Take(size_t size);
  // Takes the byte order mark that a document may begin with. Returns false if more bytes are
  // needed to know.
  bool TakeByteOrderMark();
  // Appends to front_, and counts the lines.
  void AddFront(absl::string_view untouched);

  const TextKind kind_;
  const bool is_marked_;
  MarkupReader markup_;
  std::string buffer_;
  size_t start_ = 0;     // where the bytes of buffer_ begin that have not been taken
  size_t searched_ = 0;  // number of bytes from there on that have no line feed
  bool is_ended_ = false;
  uint64_t taken_ = 0;  // number of bytes of the text that have been taken
  uint64_t line_ = 0;   // line of the next byte to take; in a document, of the byte behind front_
  ParagraphReader paragraphs_;
  std::deque<Paragraph> waiting_;  // paragraphs that have ended
  MarkedLine piece_;               // the piece of a document whose texts are read next
  size_t read_ = 0;                // the number of its texts that have been read
  std::string front_;              // bytes of a document between the last unit and the next one
  uint64_t front_line_ = 0;        // the line in which they begin
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_TEXT_READER_H_
