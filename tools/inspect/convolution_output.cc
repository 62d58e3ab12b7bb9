// Writes the convolution as text, JSON and a page.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "tools/inspect/convolution.h"
#include "tools/inspect/json_text.h"

namespace nibu::internal {
namespace {

constexpr absl::string_view kPage =
#include "tools/inspect/convolution.inc"
    ;
constexpr absl::string_view kStyle =
#include "tools/inspect/page_style.inc"
    ;
constexpr absl::string_view kDraw =
#include "tools/inspect/attention_draw.inc"
    ;

std::string Json(const ConvolutionView& view, int digits) {
  const JsonNumbers write(digits);
  std::vector<std::string> runs;
  for (const ConvolutionRun& run : view.runs) {
    const auto n = static_cast<size_t>(run.map.queries);
    const auto heads = static_cast<size_t>(run.map.heads);
    runs.push_back(
        JsonObject({{"alpha", write(run.alpha)},
                    {"from_shift", write(run.from_shift)},
                    {"from_convolution", write(run.from_convolution)},
                    {"output", write(run.output)},
                    {"maps", write(run.map.weights.data(), {heads, n, n}, {n * n, n, 1})}}));
  }
  return JsonObject({{"kernel", write(view.kernel)},
                     {"signal", write(view.signal)},
                     {"convolution", write(view.convolution)},
                     {"runs", JsonList(runs)}});
}

}  // namespace

std::string ConvolutionText(const ConvolutionView& view) {
  std::string text = absl::StrFormat(
      "self-attention (heads: %d) against a convolution (taps: %d)\n"
      "%10s %16s %22s\n",
      view.kernel.size(), view.kernel.size(), "alpha", "from the shift", "from the convolution");
  for (const ConvolutionRun& run : view.runs) {
    // A character for each power of ten above a millionth.
    const double powers = std::log10(std::max(run.from_convolution, 1e-7)) + 7;
    absl::StrAppendFormat(&text, "%10g %16.2e %22.2e  %s\n", run.alpha, run.from_shift,
                          run.from_convolution,
                          std::string(static_cast<size_t>(std::max(0.0, 2 * powers)), '#'));
  }
  return text;
}

std::string ConvolutionJson(const ConvolutionView& view) {
  return absl::StrCat(Json(view, /*digits=*/0), "\n");
}

std::string ConvolutionPage(const ConvolutionView& view) {
  return absl::StrReplaceAll(
      kPage, {{"@DATA@", Json(view, /*digits=*/5)}, {"@STYLE@", kStyle}, {"@DRAW@", kDraw}});
}

}  // namespace nibu::internal
