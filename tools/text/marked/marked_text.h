// A text with annotations: the tags and protected parts that its translation must contain.
//
// A sentence passes through these functions in the following order:
// 1. MarkupReader (markup.h) or PlainLine makes a MarkedText: the text without its tags, and the
//    tags as annotations of the bytes that they enclosed.
// 2. ProtectSpans makes protected parts of spans that must stay as they are, such as URLs.
// 3. Cut and CutAround cut the text into sentences, each with its own annotations.
// 4. MaskProtected makes the text that the model reads: a name stands for each protected part.
// 5. PlaceAnnotations (place.cc) puts the annotations into the translation that the model wrote.
//    Write puts them back into a text that is not translated.
//
// Example: "see <b>http://x.de</b> now" is the text "see http://x.de now", of which [4, 15) becomes
// a protected part that is written as "<b>http://x.de</b>". The model reads "see Tom now" and
// writes "jetzt Tom ansehen", and PlaceAnnotations returns "jetzt <b>http://x.de</b> ansehen".
#ifndef NIBU_TOOLS_TEXT_MARKED_MARKED_TEXT_H_
#define NIBU_TOOLS_TEXT_MARKED_MARKED_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "nibu/options.h"
#include "tokenizer/unicode/text_span.h"
#include "tools/text/marked/references.h"

namespace nibu::internal {

// An annotation of a text. There are four kinds:
// - An element: `before` and `after` are tags that enclose the span. One of them is empty if the
//   other tag is in another text.
// - A point: the span is empty, and `before` and `after` stand at its place, e.g. "<br>".
// - A protected part: `before` is written in place of the span, byte for byte.
// - Capitals: an element without tags, whose text is written in capitals.
struct Annotation {
  TextSpan span;          // bytes of the text
  std::string before;     // the opening tag, or the text of a protected part
  std::string after;      // the closing tag; empty if there is none in this text
  bool replaces = false;  // true for a protected part
  // The language by whose rules the text is written in capitals; nullopt: as it is.
  std::optional<std::string> capitals = std::nullopt;
};

// A value of HTML's <html> that says something of the language of a page. It is replaced, not
// translated.
enum class PageValue : uint8_t {
  kNone,          // a text to translate
  kLanguage,      // that of `lang`
  kDirection,     // that of `dir`
  kNewDirection,  // stands where a missing `dir` would be
};

struct MarkedText {
  std::string text;
  // Sorted by where they begin, outer before inner. Any two are nested or disjoint.
  std::vector<Annotation> annotations = {};
  // The markup that the text is escaped for, and the characters that are written as entities (see
  // EscapeText).
  Markup markup = Markup::kNone;
  Entities entities = {};
  // Set for a text as it was read from markup: its character references, sorted by where they
  // begin, in the form of protected parts. Such a text is written as it was read, not escaped.
  std::optional<std::vector<Annotation>> references = std::nullopt;
  PageValue page = PageValue::kNone;
};

// A line, cut into segments, which are the texts to translate.
struct MarkedLine {
  struct Segment {
    std::string untouched;  // in front of the text; copied
    MarkedText marked;
    size_t size = 0;  // the bytes of a document that the text was read from
    // It is a value in a tag of the next segment that is none, at whose place kValueMark and its
    // number stand there.
    bool is_value = false;
  };
  std::vector<Segment> segments;
  std::string untouched;   // behind the last segment; copied
  bool is_marked = true;   // annotations and copied text may contain line breaks
  bool ends_open = false;  // see nibu::Result
};

// Characters that no text has. Between two marks, a tag has the number of the value that stands
// there. Behind each value, the translation of a line has kValueEnd, and then its texts.
inline constexpr absl::string_view kValueMark = "\uFDD0";
inline constexpr absl::string_view kValueEnd = "\uFDD1";

// Puts the first `count` values, which stand in front of a text, into its tags.
std::string PlaceValues(absl::string_view text, size_t count);

// Returns a line without markup, which is one segment.
MarkedLine PlainLine(absl::string_view text);

// Makes protected parts of spans of the text. Spans that overlap each other, or parts that are
// there already, become one part. Tags inside of a part, and a pair of tags around exactly the
// part, become a part of its text. An annotation that begins or ends inside of a part, but is not
// all in it, begins or ends behind the part from then on.
void ProtectSpans(absl::Span<const TextSpan> parts, MarkedText* marked);

// Returns the texts of `spans`, which are sorted and disjoint, with all annotations of `marked`: a
// point goes to the first span that does not end before it; an element that reaches over several
// spans has its opening tag in the first of them and its closing tag in the last.
// REQUIRES: there is a span, and none begins or ends inside of a protected part.
std::vector<MarkedText> Cut(const MarkedText& marked, absl::Span<const TextSpan> spans);

// Like Cut, but returns the texts around the spans, too: in turn the text in front of a span and
// that of the span, and at the end the text behind the last span.
std::vector<MarkedText> CutAround(const MarkedText& marked, absl::Span<const TextSpan> spans);

// Returns the span of a sentence without the protected parts at its edges that are no words of it,
// if letters remain: those in front of "I am tired." or of a colon, behind a full stop or a colon,
// and emoji. The white space between them and the sentence does not belong to it either.
TextSpan WithoutEdges(const MarkedText& sentence);

// Returns the text with blanks in place of parts between two sentences that are no words of either
// ("I am tired. :) It is late."), which would hide that the second one begins.
std::string WithoutPartsBetweenSentences(const MarkedText& text);

// Returns whether there are letters outside of the protected parts.
bool HasLetters(const MarkedText& marked);

// Returns the text with its annotations.
std::string Write(const MarkedText& marked);

// Escapes a part of a translation of `source`, so that it can stand between tags.
inline std::string EscapeText(const MarkedText& source, absl::string_view text) {
  return EscapeText(source.markup, source.entities, text);
}

// Returns the text that the model reads. Each protected part that acts as a word is replaced by one
// of `names` that does not occur in the text: a number if the part is one (StandInFor), else
// another. Other parts (emoji), parts for which no name is left, and the annotations with the
// numbers `left_out`, are taken out of the text and become points.
MarkedText MaskProtected(const MarkedText& marked, absl::Span<const std::string> names,
                         absl::Span<const size_t> left_out = {});

// Makes an annotation a point at the beginning of its span. Its tags, or the text of its protected
// part, get a space in front if white space stands before the span, and one behind if white space
// follows it.
Annotation AsPoint(absl::string_view text, Annotation annotation);

// A token of a translation.
struct AlignedToken {
  TextSpan target;  // its bytes in the translation
  TextSpan source;  // the bytes of the source token that it attends to most; empty if unknown
};

// Returns the translation `target` of `source` (a result of MaskProtected) with all annotations of
// the source, each exactly once, and nested as they were:
// - A protected part replaces its name or, if the name is missing, the word that comes from it and
//   may be another form of the name. Other occurrences of the name are removed or, if they
//   render another name of the source ("Thomas" as "Tom"), replaced by that.
// - An element encloses the copy of its text if that is a number or name, else the words that are
//   aligned with it, else the word nearest to it. If it encloses all of its parent's text in the
//   source, it does in the translation, too. An element without `after` reaches to the end of its
//   parent; one without `before` begins where its parent begins.
// - All other annotations become points, each next to the word whose source is nearest to it, but
//   not among the first `prefix` bytes: the caller demanded these. In them, names are replaced and
//   elements' tags may stand, but no points, except at the end of an element that ends there.
// Words that a space without a line break (U+00A0) joins in the source stay joined.
// `tokens` are in the order of the translation. `has_emptied` gets whether an element that had
// words has none, because the translation has too few of them.
std::string PlaceAnnotations(const MarkedText& source, absl::string_view target,
                             absl::Span<const AlignedToken> tokens, size_t prefix = 0,
                             bool* has_emptied = nullptr);

// Returns whether PlaceAnnotations needs the alignment of a text's translation.
bool NeedsAlignment(const MarkedText& marked);

// The protected parts whose names a translation has not taken over well, as numbers of annotations.
struct Misplaced {
  std::vector<size_t> parts = {};              // the name is missing, or occurs several times
  std::optional<size_t> moved = std::nullopt;  // the source ends with it, the translation does not
};
Misplaced FindMisplaced(const MarkedText& source, absl::string_view target,
                        absl::Span<const AlignedToken> tokens);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_MARKED_TEXT_H_
