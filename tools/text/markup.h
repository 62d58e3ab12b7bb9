// HTML and XML: what of a line or document is to be translated, and which tags go with it;
// character references.
#ifndef NIBU_TOOLS_TEXT_MARKUP_H_
#define NIBU_TOOLS_TEXT_MARKUP_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "tools/text/marked_text.h"
#include "tools/text/markup_lexer.h"

namespace nibu::internal {

// Reads line after line, and remembers what is open at a line's end: a comment, a script, a tag. Or
// reads a document piece by piece.
//
// Block tags separate segments; inline tags are carried, and what is left alone within a sentence
// is a U+FFFC in the text that is replaced. What stands in front of a segment's text or behind it
// (blanks, tags that enclose all of it) is untouched. A closing tag whose opening one is not in the
// segment, or was cut where an element around it ended, closes all from the innermost open
// element's begin on; an opening tag without its closing one goes up to the end. Text without
// markup is one segment, blanks and all; a blank line has none.
//
// In XML, which does not say what a block is, a closing tag directly in front of an opening one,
// blanks or nothing between them, separates segments, unless one is XLIFF's or TMX's code for a
// tag, and so do HTML's block tags. CDATA is text whose tags and references are read.
//
// In a document, each run of white space in a text becomes one space, except in XML's elements with
// xml:space="preserve". There line ends separate segments.
class MarkupReader {
 public:
  static constexpr size_t kMaxPiece = size_t{1} << 20;

  // `max_piece`: the bytes after which a document's text is cut. REQUIRES: max_piece >= 64.
  explicit MarkupReader(Markup kind, bool is_document = false, size_t max_piece = kMaxPiece)
      : kind_(kind), max_piece_(max_piece), lexer_(kind, is_document) {}

  // Any bytes are markup. The parts, each text by Write, give the line back.
  MarkedLine Read(absl::string_view line);

  // Reads the next piece of a document: at most one segment, and what stands around it. `text` is
  // all of the document that is there, from the end of the last piece on; `is_end`: the document
  // ends with it. Returns the size of the piece; 0: that needs more text, or there is none. The
  // pieces do not depend on how much text there was. The parts, each text by Write, give the piece
  // back, except that white space in the segment's text may have become a space. A segment of more
  // than max_piece bytes is cut. Linear time over a document.
  size_t ReadPiece(absl::string_view text, bool is_end, MarkedLine* piece);

  // Whether a comment, tag or element that is left alone goes on behind the text.
  bool is_open() const { return lexer_.is_open(); }

 private:
  // Returns whether a segment ends before a token, which comes next.
  bool IsBorder(const MarkupToken& token);
  // Makes a piece of the first `count` tokens, and drops them.
  size_t TakePiece(absl::string_view text, size_t count, MarkedLine* piece);

  const Markup kind_;
  const size_t max_piece_;
  MarkupLexer lexer_;
  bool closed_ = false;  // by the last token but blanks
  size_t seen_ = 0;      // tokens that IsBorder has seen
};

// A part of a translation of `source`, for its place between tags: characters that came as entities
// go as such (of ASCII, `& < > " '` alone), and so do a `<` and `&` that would be read as markup;
// in XML all, but those of a source that has them as they are.
std::string EscapeText(const MarkedText& source, absl::string_view text);

// Whether what begins with a `<` would be read as markup.
bool BeginsMarkup(Markup kind, absl::string_view text);

// The character (UTF-8) of the reference that `text` begins with: `&eacute;`, `&#233;` or `&#xe9;`;
// empty: it is not known, or not to stand in a text; nullopt: there is none. Its `;` may not be
// left out; in HTML a name has two letters or more, unlike `R&D;`.
std::optional<std::string> ReadReference(Markup kind, absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKUP_H_
