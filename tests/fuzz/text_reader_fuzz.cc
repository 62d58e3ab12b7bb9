// Fuzzes the readers of texts of all kinds, which get the text in chunks of any size. Nothing may
// be lost, and the units may not depend on the chunks. The first byte of the input is the seed of
// the chunks' sizes. If it is odd, documents are cut every 64 bytes; if its second bit is set,
// texts in tags are read, too.
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/text/marked/read_units.h"
#include "tests/tools/text/marked/write_marked.h"

namespace nibu::internal {
namespace {

void Check(TextKind kind, Markup markup, absl::string_view text, unsigned seed) {
  const size_t max_piece = seed % 2 == 0 ? MarkupReader::kMaxPiece : 64;
  const bool has_values = (seed & 2) != 0;
  const std::vector<UnitParts> units = ReadAll(kind, markup, text, max_piece, has_values);
  std::minstd_rand random(seed);
  const size_t most = 1 + seed % 64;
  const auto next_size = [&] { return 1 + random() % most; };
  if (Dump(ReadChunks(kind, markup, text, next_size, nullptr, max_piece, has_values)) !=
      Dump(units)) {
    std::abort();
  }
  if (kind != TextKind::kDocument) return;
  for (const UnitParts& unit : units) {
    for (const MarkedLine::Segment& segment : unit.marked.segments) {
      if (!IsWellFormed(segment.marked)) std::abort();
    }
  }
  // Values of tags are written in quotes, which they may lack.
  const auto bare = [&](std::string written) {
    if (has_values) std::erase(written, '"');
    return WithoutBlanks(std::move(written));
  };
  if (bare(Again(units)) != bare(std::string(text))) std::abort();
}

}  // namespace
}  // namespace nibu::internal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const nibu::Markup markup : {nibu::Markup::kHtml, nibu::Markup::kXml}) {
    nibu::internal::Check(nibu::TextKind::kDocument, markup, text, data[0]);
    nibu::internal::Check(nibu::TextKind::kLines, markup, text, data[0]);
  }
  nibu::internal::Check(nibu::TextKind::kLines, nibu::Markup::kNone, text, data[0]);
  nibu::internal::Check(nibu::TextKind::kParagraphs, nibu::Markup::kNone, text, data[0]);
  return 0;
}
