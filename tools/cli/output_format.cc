// Prints results as text, n-best lists and JSON.

#include "tools/cli/output_format.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace nibu::internal {
namespace {

// Returns " ||| 0-0 1-1", or " ||| " and the attention of each target to the sources, as Marian
// prints them.
std::string Alignment(const OutputOptions& options, const nibu::Hypothesis& hypothesis) {
  if (options.alignment == AlignmentKind::kNone) return "";
  if (options.alignment == AlignmentKind::kHard) {
    return " ||| " + absl::StrJoin(hypothesis.alignment, " ", absl::PairFormatter("-"));
  }
  const auto join_row = [](std::string* out, const auto& row) { *out += absl::StrJoin(row, ","); };
  return " ||| " + absl::StrJoin(hypothesis.attention, " ", join_row);
}

}  // namespace

std::string FormatResult(const OutputOptions& options, uint64_t index, const TextUnit& unit,
                         const nibu::Result& result) {
  if (options.format == OutputFormat::kJsonl) {
    return ToJson(result, index, unit.source(), options.alignment) + "\n";
  }
  if (options.format == OutputFormat::kNBest) {
    std::string out;
    for (const nibu::Hypothesis& h : result.hypotheses) {
      // A separator within a text is escaped as Moses does.
      const std::string text = absl::StrReplaceAll(h.text, {{"|||", "&#124;&#124;&#124;"}});
      absl::StrAppendFormat(&out, "%d ||| %s ||| logprob= %.6f ||| %.6f%s\n", index, text,
                            h.log_prob, h.score, Alignment(options, h));
    }
    return out;
  }
  const char* const end = unit.ends_line() ? "\n" : "";
  if (result.hypotheses.empty()) return unit.ends_line() ? end : unit.Write(unit.source());
  const nibu::Hypothesis& best = result.hypotheses[0];
  const std::string score = options.print_scores ? absl::StrFormat("%.6f\t", best.score) : "";
  return absl::StrCat(score, unit.Write(best.text), Alignment(options, best), end);
}

std::string FormatScore(bool json, uint64_t index, const nibu::Result& result) {
  if (result.hypotheses.empty()) return "\n";
  const nibu::Hypothesis& scored = result.hypotheses[0];
  return json ? ScoreToJson(result, index) + "\n" : absl::StrFormat("%.6f\n", scored.score);
}

}  // namespace nibu::internal
