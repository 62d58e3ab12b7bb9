// Reads lines, paragraphs or the texts of a document from a buffer that is filled in chunks.
#include "tools/text/marked/text_reader.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace nibu::internal {
namespace {

// A unit without a text is made when a document has so many bytes without one.
constexpr size_t kUntouchedBytes = size_t{1} << 16;
constexpr absl::string_view kByteOrderMark = "\uFEFF";

uint64_t CountLines(absl::string_view text) {
  return static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

// Returns the row of a table with each cell as a segment.
MarkedLine CellsOf(absl::string_view row) {
  MarkedLine line = {{}, "", /*is_marked=*/false};
  for (const absl::string_view cell : absl::StrSplit(row, '|')) {
    line.segments.push_back({line.segments.empty() ? "" : "|", {std::string(cell)}});
  }
  return line;
}

}  // namespace

TextReader::TextReader(TextKind kind, Markup markup, size_t max_piece, bool has_values,
                       std::string language)
    : kind_(kind),
      is_marked_(markup != Markup::kNone),
      markup_(markup, kind == TextKind::kDocument, max_piece, has_values, std::move(language)) {}

void TextReader::Add(absl::string_view bytes) {
  ABSL_ASSERT(!is_ended_);
  // Bytes are moved only if at least as many have been taken, so all moves take linear time.
  if (start_ >= buffer_.size() - start_) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  absl::StrAppend(&buffer_, bytes);
}

bool TextReader::Next(UnitParts* unit) {
  *unit = UnitParts();
  switch (kind_) {
    case TextKind::kLines:
      return NextLine(unit);
    case TextKind::kParagraphs:
      return NextParagraph(unit);
    case TextKind::kDocument:
      return NextOfDocument(unit);
  }
  return false;
}

absl::string_view TextReader::Take(size_t size) {
  const absl::string_view bytes = absl::string_view(buffer_).substr(start_, size);
  start_ += size;
  taken_ += size;
  return bytes;
}

bool TextReader::TakeLine(absl::string_view* line) {
  const size_t end = buffer_.find('\n', start_ + searched_);
  if (end == std::string::npos && (!is_ended_ || start_ == buffer_.size())) {
    searched_ = buffer_.size() - start_;
    return false;
  }
  searched_ = 0;
  *line = Take(std::min(end, buffer_.size() - 1) + 1 - start_);
  if (absl::EndsWith(*line, "\n")) line->remove_suffix(1);
  if (absl::EndsWith(*line, "\r")) line->remove_suffix(1);
  return true;
}

bool TextReader::NextLine(UnitParts* unit) {
  absl::string_view line;
  if (!TakeLine(&line)) return false;
  unit->marked = is_marked_ ? markup_.Read(line) : PlainLine(line);
  unit->source = std::string(line);
  unit->line = line_++;
  unit->end = taken_;
  return true;
}

bool TextReader::NextParagraph(UnitParts* unit) {
  absl::string_view line;
  while (waiting_.empty() && TakeLine(&line)) paragraphs_.Add(line, &waiting_);
  if (waiting_.empty() && is_ended_) paragraphs_.End(&waiting_);
  if (waiting_.empty()) return false;
  unit->layout = std::move(waiting_.front());
  waiting_.pop_front();
  unit->source = std::exchange(unit->layout.text, "");
  unit->marked =
      absl::StartsWith(unit->source, "|") ? CellsOf(unit->source) : PlainLine(unit->source);
  unit->line = unit->layout.line;
  unit->end = taken_;
  return true;
}

bool TextReader::TakeByteOrderMark() {
  if (taken_ > 0) return true;
  const absl::string_view begin = absl::string_view(buffer_).substr(0, kByteOrderMark.size());
  if (begin == kByteOrderMark) AddFront(Take(begin.size()));
  return is_ended_ || taken_ > 0 || !absl::StartsWith(kByteOrderMark, begin);
}

void TextReader::AddFront(absl::string_view untouched) {
  if (front_.empty()) front_line_ = line_;
  absl::StrAppend(&front_, untouched);
  line_ += CountLines(untouched);
}

bool TextReader::NextOfDocument(UnitParts* unit) {
  if (!TakeByteOrderMark()) return false;
  unit->ends_line = false;
  while (true) {
    // Each text of a piece is a unit, with the values in its tags in front of it. The bytes since
    // the last unit are written in front of them.
    while (read_ < piece_.segments.size()) {
      MarkedLine::Segment& segment = piece_.segments[read_++];
      const std::string untouched = std::exchange(segment.untouched, "");
      if (segment.marked.page == PageValue::kNone)
        absl::StrAppend(&unit->source, Write(segment.marked));
      if (segment.is_value) absl::StrAppend(&unit->source, kValueEnd);
      if (!unit->marked.segments.empty()) segment.untouched = std::string(kValueEnd);
      unit->marked.segments.push_back(std::move(segment));
      const MarkedLine::Segment& own = unit->marked.segments.back();
      if (own.is_value) continue;
      AddFront(untouched);
      unit->line = line_;
      unit->source = PlaceValues(unit->source, unit->marked.segments.size() - 1);
      unit->before = std::exchange(front_, "");
      Take(untouched.size());
      line_ += CountLines(Take(own.size));
      unit->end = taken_;
      return true;
    }
    AddFront(piece_.untouched);
    Take(piece_.untouched.size());
    piece_ = {};
    read_ = 0;
    const absl::string_view rest = absl::string_view(buffer_).substr(start_);
    const size_t size = markup_.ReadPiece(rest, is_ended_, &piece_);
    if (front_.size() >= kUntouchedBytes || (size == 0 && is_ended_ && !front_.empty())) {
      unit->line = front_line_;
      unit->end = taken_;
      unit->before = std::exchange(front_, "");
      return true;
    }
    if (size == 0) return false;
  }
}

}  // namespace nibu::internal
