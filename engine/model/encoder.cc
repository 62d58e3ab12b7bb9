#include "engine/model/encoder.h"

#include <algorithm>

#include "engine/attention/cache.h"

namespace nibu {
namespace {

// out [T, I] = self-attention within each sentence, from qkv [T, 3 I], I = columns of all heads.
void SelfAttention(const AttentionShape& shape, DistanceBias bias,
                   absl::Span<const absl::Span<const int>> sources, const float* qkv, float* keys,
                   float* out) {
  const auto dim = static_cast<size_t>(shape.heads) * static_cast<size_t>(shape.head_dim);
  for (const auto& source : sources) {
    const int n = static_cast<int>(source.size());
    PackKeys(shape, qkv + dim, 3 * dim, n, keys);
    const KeysValues memory{CacheType::kFloat32, keys, qkv + 2 * dim, 3 * dim, n, bias};
    Attend(shape, qkv, 3 * dim, n, memory, out, dim);
    qkv += source.size() * 3 * dim;
    out += source.size() * dim;
  }
}

}  // namespace

float* Encode(const Model& model, const Embedder& embedder,
              absl::Span<const absl::Span<const int>> sources, Workspace* workspace) {
  const ModelConfig& config = model.config;
  const auto dim = static_cast<size_t>(config.d_model);
  int rows = 0;
  int longest = 0;
  for (const auto& source : sources) {
    rows += static_cast<int>(source.size());
    longest = std::max(longest, static_cast<int>(source.size()));
  }

  float* x = workspace->Rows(rows, config.d_model);
  float* row = x;
  for (const auto& source : sources) {
    for (size_t t = 0; t < source.size(); ++t, row += dim) {
      embedder.Embed(source[t], static_cast<int>(t), row);
    }
  }
  embedder.Normalize(x, rows);

  const AttentionShape shape = ShapeOf(config, config.heads_encoder);
  float* keys = workspace->arena.Floats(PackedKeySize(shape, longest));
  float* qkv = workspace->Rows(rows, 3 * config.inner_encoder());
  float* context = workspace->Rows(rows, config.inner_encoder());
  MatmulContext& matmul = workspace->matmul;
  for (const EncoderLayerWeights& layer : model.weights.encoder) {
    const Arena::Mark mark = workspace->arena.mark();
    Sublayer(config, layer.self.norm, workspace, rows, x, [&](const float* in, float* out) {
      matmul.Apply(layer.self.qkv, in, rows, qkv);
      SelfAttention(shape, embedder.distance_bias(), sources, qkv, keys, context);
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

}  // namespace nibu
