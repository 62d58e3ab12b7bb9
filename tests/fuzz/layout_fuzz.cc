// Fuzzes the reader of paragraphs. The input is written again with and without wrapping, and
// nothing may be lost.
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <string>

#include "absl/strings/str_split.h"
#include "tools/text/marked/layout.h"

namespace {

// Returns the letters and digits. White space, and marks at the beginning of lines, may change.
std::string Letters(absl::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) letters += c;
  }
  return letters;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  for (const size_t columns : {size_t{0}, size_t{20}}) {
    nibu::internal::ParagraphReader reader;
    std::deque<nibu::internal::Paragraph> paragraphs;
    for (const absl::string_view line : absl::StrSplit(text, '\n')) reader.Add(line, &paragraphs);
    reader.End(&paragraphs);
    std::string out;
    for (const auto& each : paragraphs) out += nibu::internal::Reflow(each, each.text, columns);
    if (Letters(out) != Letters(text)) std::abort();
  }
  return 0;
}
