// Cuts a unit off a text at a time, and long ones into sections.
#include "tools/text/translator/unit_cutter.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/text/lines/line_sections.h"
#include "tools/text/marked/text_reader.h"
#include "tools/text/translator/plan.h"

namespace nibu::internal {

Options ReadingOptions(const LinePlan& plan) {
  Options options = plan.options;
  if (options.src_lang.empty()) options.src_lang = plan.source_language;
  return options;
}

UnitCutter::UnitCutter(const std::string& text, std::shared_ptr<const Plan> plan)
    : text_(text), plan_(std::move(plan)), reader_(ReadingOptions(*plan_->lines)) {
  reader_.Add(text);
  reader_.End();
}

bool UnitCutter::Next(CutUnit* unit) {
  if (next_.empty() && !Read()) return false;
  *unit = std::move(next_.front());
  next_.pop_front();
  return true;
}

// Reads a unit, and puts it, or those that it is cut into, into next_.
bool UnitCutter::Read() {
  TextUnit whole;
  if (!reader_.Next(&whole)) return false;
  const UnitParts& parts = *whole.parts_;
  std::vector<LineSection> sections;
  if (parts.source.size() > kMostBytes && plan_->lines->options.text != TextKind::kParagraphs) {
    sections = CutLine(*plan_->lines, parts.marked, kMostBytes);
  }
  const std::string end = EndOf(whole);
  if (sections.size() <= 1) {
    next_.push_back({std::move(whole), end, std::nullopt});
    return true;
  }
  for (LineSection& section : sections) {
    auto cut = std::make_shared<UnitParts>();
    for (const MarkedLine::Segment& segment : section.line.segments) {
      absl::StrAppend(&cut->source, segment.untouched, Write(segment.marked));
    }
    if (next_.empty()) cut->before = parts.before;
    cut->marked = std::move(section.line);
    cut->line = parts.line;
    cut->end = parts.end;
    cut->ends_line = parts.ends_line;
    CutUnit& unit = next_.emplace_back();
    unit.unit.parts_ = std::move(cut);
    unit.between = std::move(section.between);
  }
  next_.back().end = end;
  return true;
}

// Returns what follows the output of a unit of reader_.
std::string UnitCutter::EndOf(const TextUnit& unit) {
  const size_t behind = read_ + unit.source().size();
  read_ = unit.end();
  if (plan_->lines->options.text == TextKind::kLines) {
    return text_.substr(behind, unit.end() - behind);
  }
  return unit.ends_line() ? "\n" : "";
}

}  // namespace nibu::internal
