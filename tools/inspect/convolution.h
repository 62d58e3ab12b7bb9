// Self-attention that becomes a convolution (Cordonnier, Loukas and Jaggi 2020), for
// nibu-inspect convolution.
//
// An encoder layer gets a head for each tap of a kernel, W_q = W_k = 0, values that are its input,
// and a bias by distance, the quadratic encoding -alpha (k - q - shift)^2. As alpha grows, the
// softmax of head h becomes the shift by h - K / 2, and the layer the convolution whose taps are
// the factors with which the output map adds the heads up.
#ifndef NIBU_TOOLS_INSPECT_CONVOLUTION_H_
#define NIBU_TOOLS_INSPECT_CONVOLUTION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/model/attention_maps.h"

namespace nibu::internal {

// The layer with one alpha.
struct ConvolutionRun {
  float alpha;
  AttentionMap map;           // of all positions, those of the padding included
  std::vector<float> output;  // [N], what the attention adds to the signal
  // The largest differences: of a weight from the shift's 1 or 0, and of an output from the
  // convolution's.
  double from_shift = 0;
  double from_convolution = 0;
};

struct ConvolutionView {
  std::vector<float> kernel;       // [K]: tap n is multiplied by the signal at t + n - K / 2
  std::vector<float> signal;       // [N], with K / 2 zeros on both sides for the layer
  std::vector<float> convolution;  // [N]
  std::vector<ConvolutionRun> runs;
};

// Returns InvalidArgument about the options kernel and alpha if they have no values, or some that
// cannot be shown.
absl::StatusOr<ConvolutionView> ViewConvolution(const std::vector<float>& kernel,
                                                const std::vector<float>& alphas);

// Return the differences of each alpha as text, everything as JSON, and a page of HTML.
std::string ConvolutionText(const ConvolutionView& view);
std::string ConvolutionJson(const ConvolutionView& view);
std::string ConvolutionPage(const ConvolutionView& view);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_INSPECT_CONVOLUTION_H_
