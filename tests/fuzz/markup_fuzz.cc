// Fuzzes the reader of markup. The input is a page of HTML, XML or plain text, read line by line,
// and nothing may be lost.
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_split.h"
#include "tests/tools/text/marked/write_marked.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view page(reinterpret_cast<const char*>(data), size);
  for (nibu::Markup kind : {nibu::Markup::kHtml, nibu::Markup::kXml, nibu::Markup::kNone}) {
    nibu::internal::MarkupReader reader(kind);
    for (absl::string_view line : absl::StrSplit(page, '\n')) {
      const nibu::internal::MarkedLine marked = reader.Read(line);
      for (const nibu::internal::MarkedLine::Segment& segment : marked.segments) {
        if (!nibu::internal::IsWellFormed(segment.marked)) std::abort();
        for (const nibu::internal::Annotation& annotation : segment.marked.annotations) {
          if (annotation.replaces && annotation.before.empty()) std::abort();
        }
      }
      if (nibu::internal::Write(marked) != line) std::abort();
    }
  }
  return 0;
}
