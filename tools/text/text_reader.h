// Cuts a text that comes in chunks of bytes into the units that are translated one by one: lines,
// paragraphs, or the texts of a document with markup.
#ifndef NIBU_TOOLS_TEXT_TEXT_READER_H_
#define NIBU_TOOLS_TEXT_TEXT_READER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/strings/string_view.h"
#include "nibu/options.h"
#include "tools/text/layout.h"
#include "tools/text/marked_text.h"
#include "tools/text/markup.h"

namespace nibu::internal {

// A part of a text that is translated by itself: a line, a paragraph, or a text of a document. Its
// output is `before`, the translation as LayOut writes it, and a line feed if it ends a line.
struct UnitParts {
  // For TextTranslator::Submit. In a document, one segment with nothing around it, or no segment
  // where there is nothing to translate.
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
// chunks. Any bytes are a text. Linear time. Not thread-safe.
//
// Lines end in LF or CR LF, and a last line without an end counts. In a document, the texts between
// block tags are units, whatever lines they are written on (see MarkupReader), and so are long
// stretches without a text: scripts, comments, data in attributes. A text of more than `max_piece`
// bytes is cut at a line end, a blank or a tag, and a stretch without a text anywhere.
//
//   reader.Add(bytes);
//   while (reader.Next(&unit)) ...
//   reader.End();
//   while (reader.Next(&unit)) ...
class TextReader {
 public:
  // REQUIRES: markup for a document. Paragraphs have none, so it is ignored.
  TextReader(TextKind kind, Markup markup, size_t max_piece = MarkupReader::kMaxPiece);

  // Takes the next bytes of the text. They may end anywhere. REQUIRES: End has not been called.
  void Add(absl::string_view bytes);
  // There are no more bytes.
  void End() { is_ended_ = true; }
  // Sets `unit` to the next one. Returns false if that needs more bytes, or after the last unit.
  bool Next(UnitParts* unit);
  // After the last unit: whether the text ended within a comment, a tag, or an element that is left
  // alone.
  bool is_open() const { return markup_.is_open(); }
  // Bytes that were added but are not in a unit yet.
  size_t buffered_bytes() const { return buffer_.size() - start_ + front_.size(); }

 private:
  bool NextLine(UnitParts* unit);
  bool NextParagraph(UnitParts* unit);
  bool NextOfDocument(UnitParts* unit);
  // Takes a line without its end: a line feed, or carriage return and line feed. The bytes are
  // there until more come.
  bool TakeLine(absl::string_view* line);
  // Takes bytes off the buffer, which are there until more come.
  absl::string_view Take(size_t size);
  // Takes the byte order mark that a document may begin with. Returns false if more bytes are
  // needed to know.
  bool TakeByteOrderMark();
  // Appends to front_.
  void AddFront(absl::string_view untouched);

  const TextKind kind_;
  const bool is_marked_;
  MarkupReader markup_;
  std::string buffer_;
  size_t start_ = 0;     // in the buffer, of the bytes that have not been taken
  size_t searched_ = 0;  // bytes from there on without a line feed
  bool is_ended_ = false;
  uint64_t taken_ = 0;  // bytes of the text
  uint64_t line_ = 0;   // in which what is not taken begins; of a document, what is not in front_
  ParagraphReader paragraphs_;
  std::deque<Paragraph> waiting_;
  std::string front_;        // bytes of a document between the last unit and the next one
  uint64_t front_line_ = 0;  // in which they begin
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TEXT_READER_H_
