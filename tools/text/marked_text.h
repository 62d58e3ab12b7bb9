// Texts and what their translations are to carry: cut into sentences, and as a model sees them.
#ifndef NIBU_TOOLS_TEXT_MARKED_TEXT_H_
#define NIBU_TOOLS_TEXT_MARKED_TEXT_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "nibu/options.h"
#include "tokenizer/unicode/text_span.h"

namespace nibu::internal {

// A stretch of a text, and what stands around it, or in its place, in the translation. Written as
// it is.
struct Carried {
  TextSpan span;          // bytes of the text; empty: a point
  std::string before;     // an opening tag; or what stands for the span
  std::string after;      // a closing tag; empty: none, or it is further on
  bool replaces = false;  // a protected part: `before` in place of the span
};

struct MarkedText {
  std::string text;
  std::vector<Carried> carried = {};  // by their begin, outer before inner; nested or disjoint
  // How text is written: see EscapeText. Characters, and the entities that stand for them.
  Markup markup = Markup::kNone;
  std::map<std::string, std::string, std::less<>> entities = {};
  // Of text that was read: its references, by their begin, as what stands in their place; all else
  // is as it was.
  std::optional<std::vector<Carried>> references = std::nullopt;
};

// A line: stretches to be translated, each with what is left alone in front of it.
struct MarkedLine {
  struct Segment {
    std::string untouched;
    MarkedText marked;
  };
  std::vector<Segment> segments;
  std::string untouched;  // behind the last one
  bool is_marked = true;  // what is carried or left alone may have line breaks
};

// A line without markup, which is one segment.
MarkedLine PlainLine(absl::string_view text);

// Makes each part one that is carried as it is, with the tags in it and around all of it.
// Parts that overlap become one; what begins or ends in one, and is not all in it, does so behind
// it.
void AddParts(absl::Span<const TextSpan> parts, MarkedText* marked);

// The texts of spans, in order and apart from each other, with all that is carried: a point goes
// with the first span that does not end before it; what goes over several opens in the first of
// them and closes in the last. REQUIRES: a span; none begins or ends inside of a protected part.
std::vector<MarkedText> Cut(const MarkedText& marked, absl::Span<const TextSpan> spans);

// The same with what is around them: in turn what is in front of each, and it; and what is behind
// the last.
std::vector<MarkedText> CutAround(const MarkedText& marked, absl::Span<const TextSpan> spans);

// Whether there are letters beside its protected parts.
bool HasLetters(const MarkedText& marked);

// As it is, with all that it carries.
std::string Write(const MarkedText& marked);

// What the model sees: a part that is a word is replaced by a name, which the text does not have;
// any other (emoji), and those that there are no more names for, is left out, and becomes a point.
MarkedText WithNames(const MarkedText& marked, absl::Span<const std::string> names);

// What is carried as a point at the beginning of its span, with the blanks that stand around it in
// the text.
Carried AsPoint(absl::string_view text, Carried carried);

// A token of a translation, and the source that it attends to most.
struct AlignedToken {
  TextSpan target;
  TextSpan source;
};

// The translation of a text (of WithNames) with all that the text carries, each once, nested as it
// was:
// - A protected part stands in place of its name, or of the word that comes from it and may be
//   another form of it; names too many are left out.
// - A stretch is around the words for which the sum over their tokens of +1 (comes from inside of
//   it) or -1 is the greatest; one of all of its parent's text is around all of the parent's. One
//   without `after` or `before` goes on behind, or began in front, of the text.
// - All else is a point, behind the word of what is in front of it in the source, but not among
//   the first `prefix` bytes, of which nothing but names is replaced.
std::string Place(const MarkedText& source, absl::string_view target,
                  absl::Span<const AlignedToken> tokens, size_t prefix = 0);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_TEXT_H_
