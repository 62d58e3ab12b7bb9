// Writes a line of markup as it was read, where every text is its own translation.
#ifndef NIBU_TESTS_TOOLS_TEXT_WRITE_MARKED_H_
#define NIBU_TESTS_TOOLS_TEXT_WRITE_MARKED_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tools/text/marked/markup.h"

namespace nibu::internal {

// Returns whether spans are nested or disjoint, in the order of their begins, outer ones first, and
// lie within the text.
inline bool IsWellFormed(const MarkedText& marked) {
  std::vector<TextSpan> open;
  size_t begin = 0;
  for (const Annotation& annotation : marked.annotations) {
    const TextSpan& span = annotation.span;
    if (span.begin < begin || span.end < span.begin || span.end > marked.text.size()) return false;
    if (annotation.replaces && marked.text.substr(span.begin, span.end - span.begin) != "\uFFFC") {
      return false;
    }
    if (span.begin == span.end && !annotation.after.empty()) return false;
    while (!open.empty() && open.back().end <= span.begin) open.pop_back();
    if (!open.empty() && open.back().end < span.end) return false;
    open.push_back(span);
    begin = span.begin;
  }
  return true;
}

inline std::string Write(const MarkedLine& marked) {
  std::string line;
  for (const MarkedLine::Segment& segment : marked.segments) {
    absl::StrAppend(&line, segment.untouched, Write(segment.marked));
  }
  return absl::StrCat(line, marked.untouched);
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_TOOLS_TEXT_WRITE_MARKED_H_
