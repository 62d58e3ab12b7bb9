// How texts are cut into lines, paragraphs, and the blocks of documents.

#include "tools/text/text_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

// Enough of a document to find the ends of most blocks in.
constexpr size_t kWindow = size_t{1} << 16;

uint64_t CountLines(absl::string_view text) {
  return static_cast<uint64_t>(absl::c_count(text, '\n'));
}

// The row of a table, cell by cell.
MarkedLine CellsOf(absl::string_view row) {
  MarkedLine line = {{}, "", /*is_marked=*/false};
  for (const absl::string_view cell : absl::StrSplit(row, '|')) {
    line.segments.push_back({line.segments.empty() ? "" : "|", {std::string(cell)}});
  }
  return line;
}

MarkedLine PlainLine(absl::string_view text) {
  return {{{"", {std::string(text)}}}, "", /*is_marked=*/false};
}

// Makes each run of white space with a line break in it one space, and moves all that the text
// carries with it.
void CollapseWhiteSpace(MarkedText* marked) {
  const std::string& text = marked->text;
  if (!absl::StrContains(text, '\n') && !absl::StrContains(text, '\r')) return;
  std::string collapsed;
  std::vector<size_t> moved(text.size() + 1);  // by the old position
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_not_of(" \t\r\n\f", begin), text.size());
    const absl::string_view run = absl::string_view(text).substr(begin, end - begin);
    const bool breaks = run.find_first_of("\r\n") != run.npos;
    for (size_t i = begin; i < std::max(end, begin + 1); ++i) {
      moved[i] = collapsed.size();
      if (!breaks) collapsed += text[i];
    }
    if (breaks) collapsed += ' ';
    begin = std::max(end, begin + 1);
  }
  moved[text.size()] = collapsed.size();
  const auto move = [&](std::vector<Carried>* all) {
    for (Carried& carried : *all) {
      carried.span = {moved[carried.span.begin], moved[carried.span.end]};
    }
  };
  move(&marked->carried);
  if (marked->references.has_value()) move(&*marked->references);
  marked->text = std::move(collapsed);
}

// Where a text that has no end of a block is cut: behind its last line, else behind its last blank,
// else at a character that is not part of a mark that markup ends with.
size_t ForcedCut(absl::string_view text) {
  for (const absl::string_view ends : {"\n", " \t", ">"}) {
    const size_t last = text.find_last_of(ends);
    if (last != text.npos) return last + 1;
  }
  size_t cut = text.size();
  while (cut > 1 && (absl::StrContains("<>!?-]/%&", text.substr(cut - 1, 1)) ||
                     !IsCharacterBorder(text, cut))) {
    --cut;
  }
  return cut > 1 ? cut : text.size();
}

}  // namespace

void TextReader::Add(absl::string_view bytes) {
  buffer_.erase(0, start_);
  searched_ -= start_;
  start_ = 0;
  absl::StrAppend(&buffer_, bytes);
}

bool TextReader::Next(UnitParts* unit) {
  while (ready_.empty()) {
    if (kind_ == TextKind::kDocument ? !ReadBlocks() : !ReadLine()) return false;
  }
  *unit = std::move(ready_.front());
  ready_.pop_front();
  return true;
}

bool TextReader::ReadLine() {
  size_t end = buffer_.find('\n', searched_);
  if (end == buffer_.npos && !ended_) {
    searched_ = buffer_.size();
    return false;
  }
  const bool is_last = end == buffer_.npos;
  end = std::min(end, buffer_.size());
  if (is_last && start_ == buffer_.size()) {
    if (kind_ != TextKind::kParagraphs) return false;
    std::deque<Paragraph> paragraphs;
    paragraphs_.End(&paragraphs);
    for (Paragraph& paragraph : paragraphs) AddParagraph(std::move(paragraph));
    return !ready_.empty();
  }
  absl::string_view line = absl::string_view(buffer_).substr(start_, end - start_);
  const size_t next = is_last ? end : end + 1;
  consumed_ += next - start_;
  start_ = searched_ = next;
  if (absl::EndsWith(line, "\r")) line.remove_suffix(1);
  if (kind_ == TextKind::kParagraphs) {
    std::deque<Paragraph> paragraphs;
    paragraphs_.Add(line, &paragraphs);
    for (Paragraph& paragraph : paragraphs) AddParagraph(std::move(paragraph));
    return true;
  }
  UnitParts& unit = ready_.emplace_back();
  unit.marked = markup_.kind() == Markup::kNone ? PlainLine(line) : markup_.Read(line);
  unit.source = std::string(line);
  unit.line = lines_++;
  unit.end = consumed_;
  return true;
}

void TextReader::AddParagraph(Paragraph paragraph) {
  UnitParts& unit = ready_.emplace_back();
  unit.source = std::exchange(paragraph.text, "");
  unit.marked = absl::StartsWith(unit.source, "|") ? CellsOf(unit.source) : PlainLine(unit.source);
  unit.line = paragraph.line;
  unit.end = consumed_;
  unit.layout = std::move(paragraph);
}

// Looks for the end of the last block in a window of the buffer, which grows until it has one, or
// until the block is as long as blocks may be.
bool TextReader::ReadBlocks() {
  const absl::string_view rest = absl::string_view(buffer_).substr(start_);
  if (rest.empty()) return false;
  if (window_ == 0) window_ = kWindow;
  const bool is_whole = ended_ && rest.size() <= window_;
  if (!is_whole && rest.size() < window_) return false;
  const absl::string_view window = rest.substr(0, window_);
  size_t cut = is_whole ? window.size() : markup_.EndOfBlocks(window);
  if (cut == 0 && window_ < kMostBytes) {
    window_ *= 2;
    return true;
  }
  if (cut == 0) cut = ForcedCut(window);
  window_ = kWindow;
  AddBlocks(rest.substr(0, cut));
  start_ += cut;
  searched_ = start_;
  return true;
}

void TextReader::AddBlocks(absl::string_view text) {
  MarkedLine marked = markup_.Read(text);
  const auto add = [&](std::string before, MarkedText* segment) {
    UnitParts& unit = ready_.emplace_back();
    unit.ends_line = false;
    unit.line = lines_ + CountLines(before);
    lines_ = unit.line;
    consumed_ += before.size();
    unit.before = std::move(before);
    if (segment != nullptr) {
      unit.source = internal::Write(*segment);
      lines_ += CountLines(unit.source);
      consumed_ += unit.source.size();
      CollapseWhiteSpace(segment);
      unit.source = internal::Write(*segment);
      unit.marked.segments.push_back({"", std::move(*segment)});
    }
    unit.end = consumed_;
  };
  for (MarkedLine::Segment& segment : marked.segments) {
    add(std::move(segment.untouched), &segment.marked);
  }
  if (!marked.untouched.empty()) add(std::move(marked.untouched), nullptr);
}

}  // namespace nibu::internal
