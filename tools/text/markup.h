// HTML and XML: what of a line is to be translated, and which tags go with it; character
// references.
#ifndef NIBU_TOOLS_TEXT_MARKUP_H_
#define NIBU_TOOLS_TEXT_MARKUP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tools/text/marked_text.h"

namespace nibu::internal {

struct MarkupToken {
  enum Kind {
    kText,
    kOpen,       // an inline tag, or an element of XLIFF or TMX that stands for one: <bpt>...</bpt>
    kClose,      // one
    kPoint,      // what stands between words: a comment, <img>, half a tag
    kProtected,  // what stands for words, and is left alone: a whole <code>...</code>
    kBlock       // what separates texts
  };
  Kind kind;
  absl::string_view raw;
  std::string value = {};  // a tag's name, but not of XLIFF's and TMX's codes; or the character
                           // that the reference `raw` stands for
  bool cdata = false;      // is within XML's <![CDATA[ ]]>
};

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
// blanks or nothing between them, separates segments, unless one is XLIFF's or TMX's code for a
// tag, and so do HTML's block tags. CDATA is text whose tags and references are read.
class MarkupReader {
 public:
  explicit MarkupReader(Markup kind) : kind_(kind) {}

  // Any bytes are markup. The parts, each text by Write, give the line back. A line may have line
  // feeds in it.
  MarkedLine Read(absl::string_view line);
  // Where the last block tag of a text ends that begins where the last line ended, and goes on:
  // what stands in front may be read for itself. 0: there is none.
  size_t EndOfBlocks(absl::string_view text) const;
  Markup kind() const { return kind_; }
  // Whether a comment, tag or element that is left alone goes on behind the last line.
  bool is_open() const { return !until_.empty() || tag_lines_ > 0 || skipped_depth_ > 0; }

  struct Tag {
    std::string name = {};  // in small letters in HTML
    bool closing = false;
    bool self_closing = false;    // ends with `/>`
    bool no_translation = false;  // translate="no" or class="notranslate"
    char quote = 0;               // that of the value in which the line ended
    bool values = false;          // the line has attributes with a value
    int words = 0;                // the line's attributes without one
    bool goes_on = false;         // more text follows: a quote without an end is not forgotten
  };

 private:
  // Cuts a line: in order the tokens are the line, into which they point. Linear time.
  void ReadTokens(absl::string_view line);
  // Adds a token, and the text in front of it.
  void Add(MarkupToken::Kind kind, size_t begin, size_t end, std::string value = {});
  void AddText(size_t end);
  // These read on from a position, and say how far.
  size_t Next(size_t pos);
  size_t ReadUntil(size_t begin, size_t pos);
  size_t ReadTag(size_t pos);
  void AddTag(size_t begin, size_t end, bool whole);
  // Whether the tag ends the element that is left alone, and is not a part of it.
  bool EndsSkipped();

  const Markup kind_;
  absl::string_view line_;
  std::vector<MarkupToken> tokens_;
  size_t done_ = 0;  // how far the tokens go

  // What is open.
  absl::string_view until_;  // a comment or the like: where it ends
  bool cdata_ = false;
  int tag_lines_ = 0;  // a tag: lines so far
  Tag tag_;
  // An element that is left alone: its name, how many of this name are open, how many elements that
  // may hold others of it, and whether it is a part of a sentence.
  std::string skipped_;
  int64_t skipped_depth_ = 0;
  int64_t skipped_parents_ = 0;
  bool skipped_inline_ = false;
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
