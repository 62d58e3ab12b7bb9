#include "engine/model/encoder.h"

#include "engine/attention/attention.h"
#include "engine/model/token_mixer.h"

namespace nibu::internal {
namespace {

// Room for the attention of one layer more, [H, S, S]; null where there is no matrix.
float* AddMap(const ModelConfig& config, const MixerSpec& mixer, size_t positions,
              AttentionMaps::Layers* maps) {
  std::vector<float>& map = maps->emplace_back();
  if (!mixer.has_matrix()) return nullptr;
  map.resize(static_cast<size_t>(config.heads_encoder) * positions * positions);
  return map.data();
}

}  // namespace

float* Encode(const Model& model, const Embedder& embedder,
              absl::Span<const absl::Span<const int>> sources, Workspace* workspace,
              AttentionMaps::Layers* maps) {
  const ModelConfig& config = model.config;
  const auto dim = static_cast<size_t>(config.d_model);
  int rows = 0;
  for (const auto& source : sources) rows += static_cast<int>(source.size());

  float* x = workspace->Rows(rows, config.d_model);
  float* row = x;
  for (const auto& source : sources) {
    for (size_t t = 0; t < source.size(); ++t, row += dim) {
      embedder.Embed(source[t], static_cast<int>(t), row);
    }
  }
  embedder.Normalize(x, rows);

  const auto inner = static_cast<size_t>(config.inner_encoder());  // columns of all heads
  float* qkv = workspace->Rows(rows, 3 * config.inner_encoder());
  float* context = workspace->Rows(rows, config.inner_encoder());
  Matmul& matmul = workspace->matmul;
  for (size_t l = 0; l < model.weights.encoder.size(); ++l) {
    const EncoderLayerWeights& layer = model.weights.encoder[l];
    const MixerSpec mixer = config.mixer(static_cast<int>(l));
    const Attention attention({ShapeOf(config, config.heads_encoder), embedder.distance_bias(),
                               mixer, layer.mixer.score_weights()},
                              &workspace->arena);
    const Arena::Mark mark = workspace->arena.mark();
    float* const weights =
        maps == nullptr ? nullptr : AddMap(config, mixer, sources[0].size(), maps);
    Sublayer(config, layer.self.norm, workspace, rows, x, [&](const float* in, float* out) {
      const MixerCall call = {config, mixer, layer, sources, in};
      if (!mixer.is_attention()) return MixTokens(call, workspace, out);
      matmul.Apply(layer.self.qkv, in, rows, qkv);
      const float* q = qkv;
      const float* kv = KeyRows(call, qkv, workspace);
      const float* centres = Centres(call, workspace);
      float* to = context;
      for (const auto& source : sources) {
        const int n = static_cast<int>(source.size());
        const int keys = mixer.keys(n);
        attention.Run({q, 3 * inner, n, 0, centres},
                      KeyValueRows{kv + inner, kv + 2 * inner, 3 * inner, keys},
                      {to, inner, weights});
        q += source.size() * 3 * inner;
        kv += static_cast<size_t>(keys) * 3 * inner;
        to += source.size() * inner;
        if (centres != nullptr) centres += n;
      }
      matmul.Apply(layer.self.out, context, rows, out);
    });
    Sublayer(config, layer.ffn.norm, workspace, rows, x, [&](const float* in, float* out) {
      FeedForward(config, layer.ffn, in, rows, workspace, out);
    });
    workspace->arena.Rewind(mark);
  }
  if (config.final_norm) Normalize(config, model.weights.encoder_norm, x, nullptr, rows, x);
  return x;
}

}  // namespace nibu::internal
