// HTML and XML: what of a line is to be translated, and which tags go with it.
#ifndef NIBU_TOOLS_TEXT_MARKUP_H_
#define NIBU_TOOLS_TEXT_MARKUP_H_

#include <string>

#include "absl/strings/string_view.h"
#include "tools/text/marked_text.h"
#include "tools/text/markup_lexer.h"

namespace nibu {

// Reads line after line, and remembers what is open at a line's end: a comment, a script, a tag.
//
// Block tags separate segments; inline tags are carried, and what is left alone within a sentence
// is a U+FFFC in the text that is replaced. What stands in front of a segment's text or behind it
// (blanks, tags that enclose all of it) is untouched. A closing tag whose opening one is not in the
// segment, or was cut where an element around it ended, closes all from the innermost open
// element's begin on; an opening tag without its closing one goes up to the end. Text without
// markup is one segment, blanks and all; a blank line has none.
//
// In XML, which does not say what a block is, a closing tag directly in front of an opening one,
// blanks or nothing between them, separates segments, and so do HTML's block tags. CDATA is text
// whose tags and references are read.
class MarkupReader {
 public:
  explicit MarkupReader(Markup kind) : kind_(kind), lexer_(kind) {}

  // Any bytes are markup. The parts, each text with its tags and EscapeText, give the line back.
  MarkedLine Read(absl::string_view line);
  // Whether a comment, tag or element that is left alone goes on behind the last line.
  bool is_open() const { return lexer_.is_open(); }

 private:
  const Markup kind_;
  MarkupLexer lexer_;
};

// A part of a translation of `source`, for its place between tags: characters that came as entities
// go as such, and so do a `<` and `&` that would be read as markup; in XML all, but those of a
// source that has them as they are.
std::string EscapeText(const MarkedText& source, absl::string_view text);

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_MARKUP_H_
