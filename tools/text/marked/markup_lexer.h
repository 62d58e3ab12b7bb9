// Cuts lines and whole documents of HTML and XML into tokens.
//
// 1. Next looks for the next sign that can begin markup: `<`, `&`, or `]` in CDATA. Where a
//    document preserves white space, line ends are block tokens, too.
// 2. ReadReferenceAt, ReadMarkup, ReadUntil or ReadTag read what begins there. If it turns out to
//    be text ("a < b"), step 1 goes on behind the sign.
// 3. Add makes a token of it, and one of the text in front of it.
// 4. If a line ends first, what is open is remembered: until_ (a comment or the like), tag_lines_
//    and tag_ (a tag), skipped_ (an element that is not translated). The next line goes on there.
// 5. If a document's text so far ends first, nothing is added, and the token is read again once
//    there is more text.
#ifndef NIBU_TOOLS_TEXT_MARKED_MARKUP_LEXER_H_
#define NIBU_TOOLS_TEXT_MARKED_MARKUP_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "nibu/options.h"
#include "tokenizer/unicode/text_span.h"
#include "tools/text/marked/markup_tags.h"

namespace nibu::internal {

struct MarkupToken {
  enum Kind {
    kText,
    kOpen,       // an opening inline tag, or an element of XLIFF or TMX for one: <bpt>...</bpt>
    kClose,      // a closing inline tag, or an element for one
    kPoint,      // markup between words: a comment, <img>, the half of a tag that a line has
    kProtected,  // markup in place of words, which is not translated: a whole <code>...</code>
    kBlock       // markup that separates texts
  };
  Kind kind;
  TextSpan span;           // bytes of the lexer's text
  std::string value = {};  // the name of an inline tag (empty for XLIFF's and TMX's codes) or of
                           // a protected element, or the character that a reference stands for
  bool cdata = false;      // the token is within XML's <![CDATA[ ]]>
  bool collapses = false;  // a run of white space in it means one space
  absl::string_view raw = {};  // the span's bytes; set by ReadLine, or by the caller of Advance
};

// Cuts text into tokens, which follow each other without a gap, and remembers what is open at its
// end: a comment, a script, a tag. Takes linear time. Not thread-safe.
//
// Lines are given whole, one after the other. A document may be given in chunks: Advance reads a
// token only once all of it is there, so the tokens do not depend on the chunks.
class MarkupLexer {
 public:
  // `language`: that of the source; empty: that of the page's <html>.
  MarkupLexer(Markup kind, bool is_document, bool has_values, std::string language)
      : kind_(kind),
        is_document_(is_document),
        has_values_(has_values),
        language_(std::move(language)) {}

  // Cuts the next line. Its tokens replace those of the line before it.
  void ReadLine(absl::string_view line);

  // For documents: sets the text that the tokens' spans refer to. It begins with the bytes of the
  // last text that have not been dropped. `is_whole`: the document ends with it.
  void SetText(absl::string_view text, bool is_whole);
  // Reads on, to the next token or less. Returns false at the end of the text, or where a token
  // begins that needs more of it. `is_full`: the text is as long as the caller can hold. If its
  // first token is longer still, the beginning becomes a token, as where a line ends, and the rest
  // another. If it is not full, Advance reads a token again only once so much more has come that
  // all attempts together take linear time.
  bool Advance(bool is_full);
  // Makes tokens of the rest. REQUIRES: Advance returned false for a whole document.
  void End();
  // Cuts the document at a line end, a blank or the border of a token, so that some of it can be
  // dropped. There are tokens then. REQUIRES: Advance(true) returned false.
  void Cut();
  // Drops the first `count` tokens and their text. REQUIRES: count > 0, and there are as many.
  void Drop(size_t count);

  std::vector<MarkupToken>& tokens() { return tokens_; }
  // Returns the language of the source; empty: it is not known.
  const std::string& language() const { return language_; }
  // Returns whether texts may have escapes such as \', as those of Android do.
  bool has_escapes() const { return has_escapes_; }
  // Returns whether a comment, tag or element that is not translated goes on behind the text.
  bool is_open() const { return !until_.empty() || tag_lines_ > 0 || skipped_.depth > 0; }

 private:
  // Adds a token, and the text in front of it; within a skipped element, nothing.
  void Add(MarkupToken::Kind kind, size_t begin, size_t end, std::string value = {});
  void AddText(size_t end);
  bool CollapsesSpace() const { return is_document_ && preserved_depth_ == 0; }
  // These read on from a position. They return where they ended, or kNowhere if more text is
  // needed.
  size_t Next(size_t pos);
  size_t ReadMarkup(size_t pos);
  size_t ReadReferenceAt(size_t pos);
  size_t ReadEscaped(size_t pos);
  size_t ReadEscape(size_t pos);
  size_t ReadUntil(size_t begin, size_t pos, absl::string_view until);
  size_t ReadTag(size_t pos);
  void AddTag(size_t begin, size_t end, bool whole);
  // Returns whether tag_ begins an element in another language than the source.
  bool BeginsForeign() const;
  // Returns whether tag_ begins an element that is not translated.
  bool BeginsSkipped() const;
  // Returns whether tag_ begins an element of the skipped one that is translated.
  bool ResumesSkipped() const;
  // Returns whether tag_ ends the skipped element without being a part of it.
  bool EndsSkipped();
  // Updates preserved_, behind tag_. `is_empty`: the tag's element is empty.
  void NoteSpace(bool is_empty);
  // Returns where Cut cuts the text behind the last token.
  size_t FindCut() const;

  const Markup kind_;
  const bool is_document_;
  const bool has_values_;     // text areas are translated
  std::string language_;      // that of the source; empty: not known
  bool has_escapes_ = false;  // the text is one of Android's files
  bool is_feed_ = false;      // it is RSS or Atom
  absl::string_view text_;
  bool is_whole_ = true;  // no more of the text comes
  std::vector<MarkupToken> tokens_;
  size_t done_ = 0;    // where the last token ends
  size_t pos_ = 0;     // how far a document has been read
  size_t needed_ = 0;  // bytes that must stand behind pos_ before the token there is read again

  // The comment, tag and elements that are open.
  absl::string_view until_;  // the end of the open comment or the like; empty: none is open
  bool cdata_ = false;
  int tag_lines_ = 0;  // number of lines that the open tag has so far; 0: none is open
  MarkupTag tag_;      // the tag that was read last
  // The element that is skipped, because it is not translated: its name; how many elements of this
  // name are open; how many elements in it that may contain further ones; whether it is a part of a
  // sentence; and why it is skipped: it has translate="no", or another language than the source.
  // An element in it that takes this back is translated, unless the skipped one is code.
  struct Skipped {
    std::string name;
    int64_t depth = 0;
    int64_t parents = 0;
    bool is_inline = false;
    bool no_translation = false;
    bool is_foreign = false;
  };
  Skipped skipped_;
  // The elements that are skipped around one that is translated, with its name, and how many of
  // this name are open.
  struct Resumed {
    Skipped around;
    std::string name;
    int64_t depth;
  };
  std::vector<Resumed> resumed_;
  // In documents, the element whose white space is preserved, and how many of its name are open.
  std::string preserved_;
  int64_t preserved_depth_ = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_MARKUP_LEXER_H_
