// Cuts lines and whole documents of HTML and XML into tokens; reads character references.
#ifndef NIBU_TOOLS_TEXT_MARKUP_LEXER_H_
#define NIBU_TOOLS_TEXT_MARKUP_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "nibu/options.h"
#include "tokenizer/unicode/text_span.h"
#include "tools/text/markup_tags.h"

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
  TextSpan span;               // bytes of the lexer's text
  std::string value = {};      // a tag's name, but not of XLIFF's and TMX's codes; or the character
                               // that a reference stands for
  bool cdata = false;          // is within XML's <![CDATA[ ]]>
  bool collapses = false;      // a run of white space in it means one space
  absl::string_view raw = {};  // the span's bytes; set by whoever holds the text
};

// Cuts text into tokens, which in order are the text, and remembers what is open at its end: a
// comment, a script, a tag. Linear time.
//
// Lines are given whole, one after the other. A document may be given as it comes: Advance reads a
// token only once all of it is there, so the tokens do not depend on how the document came.
class MarkupLexer {
 public:
  MarkupLexer(Markup kind, bool is_document) : kind_(kind), is_document_(is_document) {}

  // Cuts the next line; the tokens of the line before it are gone.
  void ReadLine(absl::string_view line);

  // Documents: sets the text that the tokens' spans are of. It begins with the bytes of the last
  // text that have not been dropped. `is_whole`: the document ends with it.
  void SetText(absl::string_view text, bool is_whole);
  // Reads on, perhaps to the next token. Returns false at the end of the text, or where a token
  // begins that needs more of it. `is_full`: as much as may be held is there. If the text's first
  // token is still longer, its beginning becomes a token, as it does where a line ends; the rest is
  // another. Otherwise Advance reads a token again only once so much more has come that all
  // attempts together take linear time.
  bool Advance(bool is_full);
  // After Advance returned false for a whole document: the rest becomes tokens.
  void End();
  // After Advance(true) returned false: cuts the document so that some of it can be dropped, at a
  // line end, a blank or the border of a token. Tokens are there then.
  void Cut();
  // Drops the first `count` tokens and their text. REQUIRES: count > 0.
  void Drop(size_t count);

  std::vector<MarkupToken>& tokens() { return tokens_; }
  // Returns whether a comment, tag or element that is left alone goes on behind the text.
  bool is_open() const { return !until_.empty() || tag_lines_ > 0 || skipped_depth_ > 0; }

 private:
  // Adds a token, and the text in front of it.
  void Add(MarkupToken::Kind kind, size_t begin, size_t end, std::string value = {});
  void AddText(size_t end);
  bool CollapsesSpace() const { return is_document_ && preserved_depth_ == 0; }
  // These read on from a position, and return how far, or kNowhere if they need more text.
  size_t Next(size_t pos);
  size_t ReadMarkup(size_t pos);
  size_t ReadReferenceAt(size_t pos);
  size_t ReadUntil(size_t begin, size_t pos, absl::string_view until);
  size_t ReadTag(size_t pos);
  void AddTag(size_t begin, size_t end, bool whole);
  // Returns whether the tag ends the element that is left alone, and is not a part of it.
  bool EndsSkipped();
  // Notes where white space is preserved, behind a tag that was added.
  void NoteSpace(bool is_empty);
  // Where the text from the last token on is cut.
  size_t FindCut() const;

  const Markup kind_;
  const bool is_document_;
  absl::string_view text_;
  bool is_whole_ = true;  // no more of the text comes
  std::vector<MarkupToken> tokens_;
  size_t done_ = 0;    // how far the tokens go
  size_t pos_ = 0;     // how far a document has been read
  size_t needed_ = 0;  // bytes behind pos_ without which looking there is in vain

  // The comments, tags and elements that are open.
  absl::string_view until_;  // a comment or the like: where it ends
  bool cdata_ = false;
  int tag_lines_ = 0;  // a tag: lines so far
  MarkupTag tag_;
  // An element that is left alone: its name, how many of this name are open, how many elements that
  // may hold others of it, and whether it is a part of a sentence.
  std::string skipped_;
  int64_t skipped_depth_ = 0;
  int64_t skipped_parents_ = 0;
  bool skipped_inline_ = false;
  // In documents, an element whose white space is preserved, and how many of this name are open.
  std::string preserved_;
  int64_t preserved_depth_ = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKUP_LEXER_H_
