// A text and what its translation is to carry.
#ifndef NIBU_TOOLS_TEXT_MARKED_TEXT_H_
#define NIBU_TOOLS_TEXT_MARKED_TEXT_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tokenizer/text_span.h"

namespace nibu {

enum class Markup { kNone, kHtml, kXml };

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

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_MARKED_TEXT_H_
