// Reads HTML and XML: finds the texts to translate in a line or document, and the tags that go with
// them.
//
// 1. MarkupLexer cuts the markup into tokens (text, tags, blocks, ...).
// 2. EndsTexts tells where the tokens so far hold whole texts: at each block token.
// 3. FindCuts cuts them where an element is a text of its own.
// 4. AddSegment makes the segment's text and finds the element of each tag: its span of the text.
// 5. Blanks and tags around all of the text are cut off, and copied.
// 6. The other tags become annotations (marked_text.h) of the segment's text.
#ifndef NIBU_TOOLS_TEXT_MARKED_MARKUP_H_
#define NIBU_TOOLS_TEXT_MARKED_MARKUP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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
// Where nothing but white space and separators stand between inline elements (a menu, the whole of
// an XML file), each of them is a segment. What is no word (comments, elements that are not
// translated) stands between the segments then. Elements in a sentence belong to it. CDATA is text
// whose tags and references are read.
//
// In a document, each run of white space in a text becomes one space. In XML's elements with
// xml:space="preserve" it stays, and line ends separate segments.
class MarkupReader {
 public:
  static constexpr size_t kMaxPiece = size_t{1} << 20;

  // `max_piece`: the number of bytes after which a text of a document is cut. REQUIRES: max_piece
  // >= 64. `has_values`: texts in tags of HTML documents are segments, too. `language`: that of the
  // source; empty: that of the page's <html>. Elements in other languages are not translated.
  explicit MarkupReader(Markup kind, bool is_document = false, size_t max_piece = kMaxPiece,
                        bool has_values = false, std::string language = "")
      : kind_(kind),
        max_piece_(max_piece),
        has_values_(has_values),
        lexer_(kind, is_document, has_values, std::move(language)) {
    ABSL_ASSERT(max_piece >= 64);
  }

  // Reads the next line. Any bytes are allowed. If each segment is written by Write, the parts make
  // the line again.
  MarkedLine Read(absl::string_view line);

  // Reads the next piece of a document: what stands between two blocks, at most. `text` is the
  // document from the end of the last piece on, as far as it is known; `is_end`: it ends there.
  // Returns the size of the piece, or 0 if more text is needed, or none is left. The pieces do not
  // depend on how much text there was. If each segment is written by Write, the parts make the
  // piece again, except that white space in a segment's text may have become a space. A piece of
  // more than max_piece bytes is cut. A document takes linear time.
  size_t ReadPiece(absl::string_view text, bool is_end, MarkedLine* piece);

  // Returns whether a comment, tag or element that is not translated goes on behind the text.
  bool is_open() const { return lexer_.is_open(); }

 private:
  // Returns whether the texts before the next token of a document are complete. XML may have no
  // blocks. There, it returns true where one element ends and the next begins, and none around them
  // has words of its own, so that it may be a sentence.
  bool EndsTexts(const MarkupToken& token);
  // Makes a piece of the first `count` tokens, and drops them.
  size_t TakePiece(absl::string_view text, size_t count, MarkedLine* piece);

  const Markup kind_;
  const size_t max_piece_;
  const bool has_values_;
  MarkupLexer lexer_;
  // What EndsTexts has seen of a piece: the number of tokens; for each open element, whether it has
  // words of its own; how many have; and whether an element has ended since the last one began.
  size_t seen_ = 0;
  std::vector<bool> has_words_;
  int64_t sentences_ = 0;
  bool closed_ = false;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_MARKUP_H_
