// Translates one column of tab-separated lines, and leaves the others as they are.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tools/cli/flags.h"
#include "tools/cli/translate_lines.h"

namespace nibu::internal {
namespace {

// Returns where a cell that begins at `begin` ends. In quotes, as Excel writes it where it has
// quotes, tabs or line breaks, they go on up to a quote that is not doubled and ends the cell.
// `is_open`, if not null, becomes true if there is none.
size_t EndOfCell(absl::string_view line, size_t begin, bool* is_open = nullptr) {
  const size_t end = std::min(line.find('\t', begin), line.size());
  if (line.substr(begin, 1) != "\"") return end;
  for (size_t at = begin + 1; (at = line.find('"', at)) != line.npos; at += 2) {
    const absl::string_view behind = line.substr(at + 1, 1);
    if (behind.empty() || behind == "\t") return at + 1;
    if (behind != "\"") return end;
  }
  if (is_open != nullptr) *is_open = true;
  return end;
}

class TsvTranslator final : public LineTranslator {
 public:
  TsvTranslator(const LineContext* context, int column)
      : LineTranslator(context), column_(column), has_repeats_(context->text.sampling_topk == 1) {}

  void Submit(uint64_t index, const InputUnit& unit, Pipeline::Deliver deliver) override {
    const std::string line = unit.source() + unit.rest;
    nibu::Request request = {.key = index};
    const absl::Status prefix = NextPrefix(&request.target_prefix);
    size_t begin = 0;
    for (int i = 1; i < column_ && begin <= line.size(); ++i) begin = EndOfCell(line, begin) + 1;
    if (begin > line.size()) {
      if (!line.empty() && short_++ == 0) first_short_ = unit.line() + 1;
      context_.totals->Skip(index);
      return deliver(line + "\n");
    }
    const size_t end = EndOfCell(line, begin);
    std::string cell = line.substr(begin, end - begin);
    const bool is_quoted = cell.size() > 1 && cell.starts_with('"') && cell.ends_with('"') &&
                           EndOfCell(cell, 0) == cell.size();
    if (is_quoted) {
      cell = absl::StrReplaceAll(cell.substr(1, cell.size() - 2), {{"\"\"", "\""}});
    }
    const Repeats::Done done = [this, index, unit, begin, end, is_quoted,
                                deliver = std::move(deliver)](
                                   uint64_t, const absl::StatusOr<nibu::Result>& result) noexcept {
      context_.totals->Add(index, unit.line(), result);
      std::string translation;  // stays empty if there is none, as a line does
      if (result.ok() && !result->hypotheses.empty()) {
        translation = absl::StrReplaceAll(
            result->hypotheses[0].text, {{"\t", " "}, {"\r", " "}, {"\n", is_quoted ? "\n" : " "}});
      }
      if (is_quoted) {
        translation = absl::StrCat("\"", absl::StrReplaceAll(translation, {{"\"", "\"\""}}), "\"");
      }
      const std::string row = unit.source() + unit.rest;
      deliver(absl::StrCat(row.substr(0, begin), translation, row.substr(end), "\n"));
    };
    if (!prefix.ok()) return done(index, prefix);
    const std::string key = has_repeats_ ? absl::StrCat(cell, "\t", request.target_prefix) : "";
    SubmitOnce(key, cell, context_.plan, std::move(request), done);
  }

  void Finish() override {
    if (short_ == 0) return;
    PrintWarning(absl::StrCat(short_, " line(s) have fewer than ", column_,
                              " columns and came out unchanged; the first is line ", first_short_));
  }

 private:
  const int column_;  // counted from 1
  const bool has_repeats_;
  uint64_t short_ = 0;  // number of lines without the column
  uint64_t first_short_ = 0;
};

}  // namespace

bool HasOpenCell(absl::string_view row) {
  bool is_open = false;
  for (size_t begin = 0; begin <= row.size() && !is_open;) {
    begin = EndOfCell(row, begin, &is_open) + 1;
  }
  return is_open;
}

std::unique_ptr<LineTranslator> NewTsvTranslator(const LineContext* context, int column) {
  return std::make_unique<TsvTranslator>(context, column);
}

}  // namespace nibu::internal
