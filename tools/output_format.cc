#include "tools/output_format.h"

#include <cstdlib>
#include <vector>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace nibu {
namespace {

// The shortest decimal fraction of a float's 7 significant digits.
double Rounded(float x) { return std::strtod(absl::StrFormat("%.7g", x).c_str(), nullptr); }

std::string Json(uint64_t index, absl::string_view source, const TextResult& result) {
  nlohmann::ordered_json hypotheses = nlohmann::ordered_json::array();
  for (const TextHypothesis& h : result.hypotheses) {
    std::vector<double> token_scores;
    for (float score : h.token_scores) token_scores.push_back(Rounded(score));
    hypotheses.push_back({{"text", h.text},
                          {"tokens", h.tokens},
                          {"score", Rounded(h.score)},
                          {"token_scores", token_scores}});
    if (!h.finished) hypotheses.back()["finished"] = false;
  }
  const nlohmann::ordered_json line = {
      {"id", index}, {"source", std::string(source)}, {"hypotheses", hypotheses}};
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string FormatResult(const OutputOptions& options, uint64_t index, absl::string_view source,
                         const TextResult& result) {
  if (options.format == OutputFormat::kJsonl) return Json(index, source, result);
  if (options.format == OutputFormat::kNBest) {
    std::string out;
    for (const TextHypothesis& h : result.hypotheses) {
      absl::StrAppendFormat(&out, "%d ||| %s ||| logprob= %.6f ||| %.6f\n", index, h.text,
                            h.log_prob, h.score);
    }
    return out;
  }
  // A line that was refused keeps its place.
  if (result.hypotheses.empty()) return "\n";
  const TextHypothesis& best = result.hypotheses[0];
  if (options.print_scores) return absl::StrFormat("%.6f\t%s\n", best.score, best.text);
  return best.text + "\n";
}

}  // namespace nibu
