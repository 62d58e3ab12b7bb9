// A line of markup, written as it was read: every text stands for its own translation.
#ifndef NIBU_TESTS_TOOLS_WRITE_MARKED_H_
#define NIBU_TESTS_TOOLS_WRITE_MARKED_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tools/text/markup.h"

namespace nibu {

// Nested or disjoint, by their begin, outer before inner, within the text.
inline bool IsWellFormed(const MarkedText& marked) {
  std::vector<TextSpan> open;
  size_t begin = 0;
  for (const Carried& carried : marked.carried) {
    const TextSpan& span = carried.span;
    if (span.begin < begin || span.end < span.begin || span.end > marked.text.size()) return false;
    if (carried.replaces && marked.text.substr(span.begin, span.end - span.begin) != "\uFFFC") {
      return false;
    }
    if (span.begin == span.end && !carried.after.empty()) return false;
    while (!open.empty() && open.back().end <= span.begin) open.pop_back();
    if (!open.empty() && open.back().end < span.end) return false;
    open.push_back(span);
    begin = span.begin;
  }
  return true;
}

inline std::string Write(const MarkedText& marked) {
  std::string line;
  std::vector<const Carried*> open;
  size_t pos = 0;
  const auto write_text = [&](size_t end) {
    absl::StrAppend(&line,
                    EscapeText(marked, absl::string_view(marked.text).substr(pos, end - pos)));
    pos = end;
  };
  const auto close_up_to = [&](size_t end) {
    while (!open.empty() && open.back()->span.end <= end) {
      if (!open.back()->replaces) write_text(open.back()->span.end);
      pos = open.back()->span.end;
      absl::StrAppend(&line, open.back()->after);
      open.pop_back();
    }
  };
  for (const Carried& carried : marked.carried) {
    close_up_to(carried.span.begin);
    write_text(carried.span.begin);
    absl::StrAppend(&line, carried.before);
    if (carried.span.end > carried.span.begin) open.push_back(&carried);
  }
  close_up_to(marked.text.size());
  write_text(marked.text.size());
  return line;
}

inline std::string Write(const MarkedLine& marked) {
  std::string line;
  for (const MarkedLine::Segment& segment : marked.segments) {
    absl::StrAppend(&line, segment.untouched, Write(segment.marked));
  }
  return absl::StrCat(line, marked.untouched);
}

}  // namespace nibu

#endif  // NIBU_TESTS_TOOLS_WRITE_MARKED_H_
