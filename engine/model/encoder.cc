#include "engine/model/encoder.h"

#include "engine/attention/bfloat16_attention.h"
#include "engine/attention/cache.h"

namespace nibu {
namespace {

// out [T, I] = self-attention within each sentence, from qkv [T, 3 I], I = columns of all heads.
void SelfAttention(const AttentionShape& shape, DistanceBias bias, bool in_bfloat16,
                   absl::Span<const absl::Span<const int>> sources, const float* qkv,
                   Workspace* workspace, float* out) {
  const auto dim = static_cast<size_t>(shape.heads) * static_cast<size_t>(shape.head_dim);
  for (const auto& source : sources) {
    const int n = static_cast<int>(source.size());
    const float* keys = qkv + dim;
    const float* values = keys + dim;
    if (in_bfloat16 && n >= kBFloat16Positions) {
      AttendInBFloat16(shape, qkv, keys, values, 3 * dim, n, bias, &workspace->matmul,
                       &workspace->arena, out, dim);
    } else {
      const Arena::Mark mark = workspace->arena.mark();
      float* packed = workspace->arena.Floats(PackedKeySize(shape, n));
      PackKeys(shape, keys, 3 * dim, n, packed);
      const KeysValues memory{CacheType::kFloat32, packed, values, 3 * dim, n, bias};
      Attend(shape, qkv, 3 * dim, n, memory, out, dim);
      workspace->arena.Rewind(mark);
    }
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
  for (const auto& source : sources) rows += static_cast<int>(source.size());

  float* x = workspace->Rows(rows, config.d_model);
  float* row = x;
  for (const auto& source : sources) {
    for (size_t t = 0; t < source.size(); ++t, row += dim) {
      embedder.Embed(source[t], static_cast<int>(t), row);
    }
  }
  embedder.Normalize(x, rows);

  const AttentionShape shape = ShapeOf(config, config.heads_encoder);
  const bool in_bfloat16 =
      model.compute_type != ComputeType::kFloat32 && MatmulContext::HasFastBFloat16();
  float* qkv = workspace->Rows(rows, 3 * config.inner_encoder());
  float* context = workspace->Rows(rows, config.inner_encoder());
  MatmulContext& matmul = workspace->matmul;
  for (const EncoderLayerWeights& layer : model.weights.encoder) {
    const Arena::Mark mark = workspace->arena.mark();
    Sublayer(config, layer.self.norm, workspace, rows, x, [&](const float* in, float* out) {
      matmul.Apply(layer.self.qkv, in, rows, qkv);
      SelfAttention(shape, embedder.distance_bias(), in_bfloat16, sources, qkv, workspace, context);
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
