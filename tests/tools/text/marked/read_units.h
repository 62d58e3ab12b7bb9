// Reads texts in chunks, and writes their units again.
#ifndef NIBU_TESTS_TOOLS_TEXT_READ_UNITS_H_
#define NIBU_TESTS_TOOLS_TEXT_READ_UNITS_H_

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tools/text/marked/text_reader.h"

namespace nibu::internal {

using Strings = std::vector<std::string>;

// Hands a text over in chunks whose sizes `next_size` returns. `most`: gets the largest number of
// bytes that were held after a chunk's units were taken.
inline std::vector<UnitParts> ReadChunks(TextKind kind, Markup markup, absl::string_view text,
                                         const std::function<size_t()>& next_size,
                                         size_t* most = nullptr,
                                         size_t max_piece = MarkupReader::kMaxPiece,
                                         bool has_values = false) {
  TextReader reader(kind, markup, max_piece, has_values);
  std::vector<UnitParts> units;
  UnitParts unit;
  while (!text.empty()) {
    const size_t size = std::min(text.size(), next_size());
    reader.Add(text.substr(0, size));
    text.remove_prefix(size);
    while (reader.Next(&unit)) units.push_back(unit);
    if (most != nullptr) *most = std::max(*most, reader.buffered_bytes());
  }
  reader.End();
  while (reader.Next(&unit)) units.push_back(unit);
  if (reader.Next(&unit) || reader.buffered_bytes() != 0) std::abort();
  return units;
}

inline std::vector<UnitParts> ReadAll(TextKind kind, Markup markup, absl::string_view text,
                                      size_t max_piece = MarkupReader::kMaxPiece,
                                      bool has_values = false) {
  return ReadChunks(
      kind, markup, text, [&] { return std::max<size_t>(1, text.size()); }, nullptr, max_piece,
      has_values);
}

inline std::vector<UnitParts> Document(Markup markup, absl::string_view text) {
  return ReadAll(TextKind::kDocument, markup, text);
}

// Returns all that a unit holds, as a text to compare.
inline std::string Dump(const UnitParts& unit) {
  std::string dump = absl::StrCat(unit.before, "[", unit.source, "]", unit.layout.first, "|",
                                  unit.layout.rest, "|", unit.line, ":", unit.end, "\n");
  for (const auto& segment : unit.marked.segments) {
    absl::StrAppend(&dump, segment.untouched, "{", segment.marked.text, "}");
    for (const Annotation& annotation : segment.marked.annotations) {
      absl::StrAppend(&dump, annotation.span.begin, "-", annotation.span.end, annotation.before,
                      annotation.after);
    }
    for (const auto& [character, name] : segment.marked.entities) {
      absl::StrAppend(&dump, character, "=", name);
    }
  }
  return absl::StrCat(dump, unit.marked.untouched, unit.marked.is_marked);
}

inline Strings Dump(const std::vector<UnitParts>& units) {
  Strings dumps;
  for (const UnitParts& unit : units) dumps.push_back(Dump(unit));
  return dumps;
}

// Returns the segments of a document's unit, each as its own translation.
inline std::string Written(const UnitParts& unit) {
  std::string written;
  for (const MarkedLine::Segment& segment : unit.marked.segments) {
    absl::StrAppend(&written, segment.untouched, Write(segment.marked));
  }
  const size_t count = unit.marked.segments.size();
  return count == 0 ? "" : PlaceValues(written, count - 1);
}

// Returns the output in which each text is its own translation, between `open` and `close`.
inline std::string Again(const std::vector<UnitParts>& units, absl::string_view open = "",
                         absl::string_view close = "") {
  std::string out;
  for (const UnitParts& unit : units) {
    absl::StrAppend(&out, unit.before);
    if (unit.ends_line || !unit.marked.segments.empty()) {
      const std::string text = unit.ends_line ? unit.source : Written(unit);
      absl::StrAppend(&out, Reflow(unit.layout, absl::StrCat(open, text, close), 0));
    }
    if (unit.ends_line) out += '\n';
  }
  return out;
}

// Returns the text without white space, as this may collapse.
inline std::string WithoutBlanks(std::string text) {
  std::erase_if(text, [](char c) { return absl::ascii_isspace(c); });
  return text;
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_TOOLS_TEXT_READ_UNITS_H_
