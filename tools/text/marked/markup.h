// Reads HTML and XML: finds the texts to translate in a line or document, and the tags that go with
// them.
//
// 1. MarkupLexer cuts the markup into tokens (text, tags, blocks, ...).
// 2. IsBorder ends a segment at each block token; so the tokens between two of them are a text.
// 3. AddSegment makes the segment's text and finds the element of each tag: its span of the text.
// 4. Blanks and tags around all of the text are cut off, and copied.
// 5. The other tags become annotations (marked_text.h) of the segment's text.
#ifndef NIBU_TOOLS_TEXT_MARKED_MARKUP_H_
#define NIBU_TOOLS_TEXT_MARKED_MARKUP_H_

#include <cstddef>

#include "absl/base/macros.h"
#include "absl/strings/string_view.h"
#include "tools/text/marked/marked_text.h"
#include "tools/text/marked/markup_lexer.h"

namespace nibu::internal {

// Reads line after line, and remembers what is open at the end of a line: a comment, a script, a
// tag. Or reads a document piece by piece. Not thread-safe.
//
// Block tags separate segments. Inline tags become annotations. An element within a sentence that
// is not translated is a U+FFFC in the text, which is a protected part. What stands in front of a
// segment's text or behind it (blanks, tags that enclose all of it) is copied. An element that has
// no closing tag in the segment goes up to the end of the segment or of the element around it. A
// closing tag without an opening one closes an element that begins where the innermost open element
// begins. Text without markup is one segment, including its blanks; a blank line has no segment.
//
// XML does not say what a block is. Segments are separated by HTML's block tags, and between a
// closing tag and an opening tag with nothing but blanks between them, unless one of them is
// XLIFF's or TMX's code for a tag. CDATA is text whose tags and references are read.
//
// In a document, each run of white space in a text becomes one space. In XML's elements with
// xml:space="preserve" it stays, and line ends separate segments.
class MarkupReader {
 public:
  static constexpr size_t kMaxPiece = size_t{1} << 20;

  // `max_piece`: the number of bytes after which a text of a document is cut. REQUIRES: max_piece
  // >= 64.
  explicit MarkupReader(Markup kind, bool is_document = false, size_t max_piece = kMaxPiece)
      : kind_(kind), max_piece_(max_piece), lexer_(kind, is_document) {
    ABSL_ASSERT(max_piece >= 64);
  }

  // Reads the next line. Any bytes are allowed. If each segment is written by Write, the parts make
  // the line again.
  MarkedLine Read(absl::string_view line);

  // Reads the next piece of a document: at most one segment, and what stands around it. `text` is
  // the document from the end of the last piece on, as far as it is known; `is_end`: it ends there.
  // Returns the size of the piece, or 0 if more text is needed, or none is left. The pieces do not
  // depend on how much text there was. If the segment is written by Write, the parts make the piece
  // again, except that white space in the segment's text may have become a space. A segment of more
  // than max_piece bytes is cut. A document takes linear time.
  size_t ReadPiece(absl::string_view text, bool is_end, MarkedLine* piece);

  // Returns whether a comment, tag or element that is not translated goes on behind the text.
  bool is_open() const { return lexer_.is_open(); }

 private:
  // Returns whether a segment ends before the next token.
  bool IsBorder(const MarkupToken& token);
  // Makes a piece of the first `count` tokens, and drops them.
  size_t TakePiece(absl::string_view text, size_t count, MarkedLine* piece);

  const Markup kind_;
  const size_t max_piece_;
  MarkupLexer lexer_;
  bool closed_ = false;  // the last token that is not blank is a closing tag
  size_t seen_ = 0;      // number of tokens that IsBorder has seen
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_MARKUP_H_
