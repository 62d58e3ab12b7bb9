// Builds the layer, runs it through the encoder, and compares it with the convolution.
#include "tools/inspect/convolution.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "absl/algorithm/container.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "engine/model/encoder.h"
#include "engine/model/layers.h"

namespace nibu::internal {
namespace {

constexpr int kMostTaps = 15;
constexpr int kPositions = 24;
// The columns of a row are the signal s and sqrt(2 - s^2), so that the root of its mean square is 1
// and the norm in front of the attention leaves it as it is.
constexpr int kDim = 2;

// A pulse, a plateau, a ramp and an alternation, each of which a kernel answers in its own way.
std::vector<float> Signal() {
  std::vector<float> signal(kPositions);
  signal[3] = 1;
  for (size_t i = 7; i < 11; ++i) signal[i] = 1;
  for (size_t i = 13; i < 18; ++i) signal[i] = static_cast<float>(i - 13) / 4;
  for (size_t i = 19; i < 23; ++i) signal[i] = i % 2 == 0 ? 1 : -1;
  return signal;
}

absl::StatusOr<Linear> Map(const std::vector<float>& weights, size_t out) {
  const Shape shape = {static_cast<int64_t>(out), static_cast<int64_t>(weights.size() / out)};
  return Linear::Create({MatrixView{{DType::kFloat32, shape, weights.data()}, true, {}}}, {},
                        Activation::kNone, ComputeType::kFloat32);
}

// Returns a model of a single encoder layer. Token t is position t of the signal, token N the zeros
// around it.
absl::StatusOr<Model> BuildLayer(const std::vector<float>& kernel, float alpha,
                                 const std::vector<float>& signal) {
  Model model;
  ModelConfig& config = model.config;
  const size_t taps = kernel.size();
  config.d_model = config.d_head = kDim;
  config.heads_encoder = static_cast<int>(taps);
  config.layers_encoder = 1;
  config.ffn_encoder = 1;
  config.norm_kind = NormKind::kRms;
  config.norm_epsilon = 1e-12f;  // which a row with a mean square of 1 does not feel
  config.norm_order = NormOrder::kPre;
  config.position_kind = PositionKind::kRelative;
  config.position_max_distance = static_cast<int>(signal.size() + taps);

  std::vector<float> table;
  for (const float s : signal) table.insert(table.end(), {s, std::sqrt(2 - s * s)});
  table.resize(table.size() + kDim);
  const Shape rows = {static_cast<int64_t>(signal.size() + 1), kDim};
  NIBU_ASSIGN_OR_RETURN(EmbeddingTable tokens,
                        EmbeddingTable::Create({DType::kFloat32, rows, table.data()}));
  model.weights.source.tokens = std::make_shared<const EmbeddingTable>(std::move(tokens));
  const int most = config.position_max_distance;
  for (int h = 0; h < config.heads_encoder; ++h) {
    const int shift = h - config.heads_encoder / 2;
    for (int distance = -most; distance <= most; ++distance) {
      const auto off = static_cast<float>(distance - shift);
      model.weights.source.distance_biases.push_back(-alpha * off * off);
    }
  }
  const size_t inner = taps * kDim;
  std::vector<float> qkv(3 * inner * kDim);  // queries and keys of zero
  std::vector<float> out(kDim * inner);
  for (size_t h = 0; h < taps; ++h) {
    for (size_t c = 0; c < kDim; ++c) {
      qkv[(2 * inner + h * kDim + c) * kDim + c] = 1;
      out[c * inner + h * kDim + c] = kernel[h];
    }
  }
  EncoderLayerWeights& layer = model.weights.encoder.emplace_back();
  const std::vector<float> zeros(kDim);
  NIBU_ASSIGN_OR_RETURN(layer.self.qkv, Map(qkv, 3 * inner));
  NIBU_ASSIGN_OR_RETURN(layer.self.out, Map(out, kDim));
  NIBU_ASSIGN_OR_RETURN(layer.ffn.up, Map(zeros, 1));
  NIBU_ASSIGN_OR_RETURN(layer.ffn.down, Map(zeros, kDim));
  layer.self.norm.gamma = layer.ffn.norm.gamma = std::vector<float>(kDim, 1);
  return model;
}

// Runs the layer, whose result is its input plus what the attention makes of it.
absl::StatusOr<ConvolutionRun> Run(const ConvolutionView& view, float alpha) {
  NIBU_ASSIGN_OR_RETURN(const Model model, BuildLayer(view.kernel, alpha, view.signal));
  const auto taps = static_cast<int>(view.kernel.size());
  const auto length = static_cast<int>(view.signal.size());
  const int padding = taps / 2;
  std::vector<int> source(static_cast<size_t>(length + 2 * padding), length);
  std::iota(source.begin() + padding, source.end() - padding, 0);
  const Embedder embedder(model.config, model.weights.source, static_cast<int>(source.size()));
  Workspace workspace;
  AttentionMaps::Layers maps;
  const absl::Span<const int> sources[] = {source};
  const RowSpan<float> rows = Encode(model, embedder, sources, &workspace, &maps);
  ConvolutionRun run = {alpha, std::move(maps[0]), {}};
  for (int t = 0; t < length; ++t) {
    const auto at = static_cast<size_t>(t);
    run.output.push_back(*rows.row(padding + t) - view.signal[at]);
    const float off = run.output[at] - view.convolution[at];
    run.from_convolution = std::max(run.from_convolution, std::abs(static_cast<double>(off)));
  }
  const float* weight = run.map.weights.data();
  for (int h = 0; h < taps; ++h) {
    for (int q = 0; q < run.map.queries; ++q) {
      for (int k = 0; k < run.map.keys; ++k, ++weight) {
        if (q < padding || q >= padding + length) continue;
        const double wanted = k - q == h - padding ? 1 : 0;
        run.from_shift = std::max(run.from_shift, std::abs(static_cast<double>(*weight) - wanted));
      }
    }
  }
  return run;
}

}  // namespace

absl::StatusOr<ConvolutionView> ViewConvolution(const std::vector<float>& kernel,
                                                const std::vector<float>& alphas) {
  if (kernel.size() % 2 == 0 || kernel.size() > kMostTaps) {
    return InvalidOption("kernel", " must have 1, 3, ... or ", kMostTaps, " taps, not ",
                         kernel.size());
  }
  if (!absl::c_all_of(kernel, [](float tap) { return std::abs(tap) <= 1e6f; })) {
    return InvalidOption("kernel", " must have taps from -1e6 to 1e6");
  }
  if (alphas.empty() || !absl::c_all_of(alphas, [](float a) { return a >= 0 && a <= 1e6f; })) {
    return InvalidOption("alpha", " must have numbers from 0 to 1e6");
  }
  ConvolutionView view = {kernel, Signal(), {}, {}};
  const auto length = static_cast<int>(view.signal.size());
  for (int t = 0; t < length; ++t) {
    double sum = 0;
    for (int n = 0; n < static_cast<int>(kernel.size()); ++n) {
      const int from = t + n - static_cast<int>(kernel.size()) / 2;
      if (from < 0 || from >= length) continue;
      sum += static_cast<double>(kernel[static_cast<size_t>(n)]) *
             static_cast<double>(view.signal[static_cast<size_t>(from)]);
    }
    view.convolution.push_back(static_cast<float>(sum));
  }
  for (const float alpha : alphas) {
    NIBU_ASSIGN_OR_RETURN(view.runs.emplace_back(), Run(view, alpha));
  }
  return view;
}

}  // namespace nibu::internal
