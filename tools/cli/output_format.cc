#include "tools/cli/output_format.h"

#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {
namespace {

// The shortest decimal fraction of a float's 7 significant digits.
double Rounded(float x) { return std::strtod(absl::StrFormat("%.7g", x).c_str(), nullptr); }

nlohmann::ordered_json Rounded(const std::vector<float>& values) {
  auto rounded = nlohmann::ordered_json::array();
  for (const float value : values) rounded.push_back(Rounded(value));
  return rounded;
}

std::string JsonLine(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// " ||| 0-0 1-1", or " ||| " and for each target the attention to the sources, as Marian does.
std::string Alignment(const OutputOptions& options, const TextHypothesis& hypothesis) {
  if (options.alignment == AlignmentKind::kNone) return "";
  if (options.alignment == AlignmentKind::kHard) {
    return " ||| " + absl::StrJoin(hypothesis.alignment, " ", absl::PairFormatter("-"));
  }
  const auto join_row = [](std::string* out, const auto& row) { *out += absl::StrJoin(row, ","); };
  return " ||| " + absl::StrJoin(hypothesis.attention, " ", join_row);
}

std::string Json(const OutputOptions& options, uint64_t index, absl::string_view source,
                 const TextResult& result) {
  nlohmann::ordered_json hypotheses = nlohmann::ordered_json::array();
  for (const TextHypothesis& h : result.hypotheses) {
    hypotheses.push_back({{"text", h.text},
                          {"tokens", h.tokens},
                          {"score", Rounded(h.score)},
                          {"token_scores", Rounded(h.token_scores)}});
    nlohmann::ordered_json& last = hypotheses.back();
    if (options.alignment != AlignmentKind::kNone) last["alignment"] = h.alignment;
    if (options.alignment == AlignmentKind::kSoft) {
      last["attention"] = nlohmann::ordered_json::array();
      for (const auto& row : h.attention) last["attention"].push_back(Rounded(row));
    }
    if (!h.finished) last["finished"] = false;
    if (h.repetition) last["repetition"] = true;
    if (h.warnings.any()) last["warnings"] = WarningNames(h.warnings);
  }
  return JsonLine({{"id", index}, {"source", std::string(source)}, {"hypotheses", hypotheses}});
}

}  // namespace

std::string FormatResult(const OutputOptions& options, uint64_t index, absl::string_view source,
                         const TextResult& result) {
  if (options.format == OutputFormat::kJsonl) return Json(options, index, source, result);
  if (options.format == OutputFormat::kNBest) {
    std::string out;
    for (const TextHypothesis& h : result.hypotheses) {
      // The separator within a text is written as Moses writes it.
      const std::string text = absl::StrReplaceAll(h.text, {{"|||", "&#124;&#124;&#124;"}});
      absl::StrAppendFormat(&out, "%d ||| %s ||| logprob= %.6f ||| %.6f%s\n", index, text,
                            h.log_prob, h.score, Alignment(options, h));
    }
    return out;
  }
  // A line that was refused keeps its place.
  if (result.hypotheses.empty()) return "\n";
  const TextHypothesis& best = result.hypotheses[0];
  const std::string score = options.print_scores ? absl::StrFormat("%.6f\t", best.score) : "";
  return absl::StrCat(score, best.text, Alignment(options, best), "\n");
}

std::string FormatScore(bool json, uint64_t index, const TextResult& result) {
  if (result.hypotheses.empty()) return "\n";
  const TextHypothesis& scored = result.hypotheses[0];
  if (!json) return absl::StrFormat("%.6f\n", scored.score);
  nlohmann::ordered_json line = {{"id", index},
                                 {"tokens", scored.tokens},
                                 {"token_scores", Rounded(scored.token_scores)},
                                 {"score", Rounded(scored.score)}};
  if (result.scored_whole) line["scored_whole"] = true;
  return JsonLine(line);
}

}  // namespace nibu::internal
