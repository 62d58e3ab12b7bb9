// The encoder's layers, over all sentences of a batch at once.
//
// D = d_model, I = heads * size of a head. N rows: the tokens of all sentences, one after the
// other, without padding.
//   x       [N, D]    embedding + position, then the running residual stream
//   qkv     [N, 3 I]  q | k | v, side by side
//   context [N, I]    the result of attention, before its output projection
// For each layer, with LN(x + f(x)) in post-norm and x + f(LN(x)) in pre-norm (Sublayer):
//   f = Attention(x W_qkv) W_o, each sentence to itself, by the layer's mechanism (MixerSpec)
//   f = act(x W_up) W_down, or gated: (act(x W_up) * (x W_gate)) W_down
// A mechanism that is no attention has MixTokens in place of attention and its projections. KeyRows
// may give fewer keys than tokens; Centres is for predicted windows.
//
// A layer of two parts (windows, then a grid) is run as two such layers, each with its own weights
// and mechanism (`layer`, `layer.grid`). Products have all rows at once; attention goes sentence by
// sentence.
#include "engine/model/encoder.h"

#include <vector>

#include "engine/attention/attention.h"
#include "engine/model/token_mixer.h"

namespace nibu::internal {
namespace {

// Makes room for the matrices of one part of a layer behind those of the parts before it: [H, S,
// S]. Returns null where the mechanism has none.
float* AddMatrices(const ModelConfig& config, const MixerSpec& mixer, size_t positions,
                   std::vector<float>* layer) {
  if (!mixer.has_matrix()) return nullptr;
  const size_t size = static_cast<size_t>(config.heads_encoder) * positions * positions;
  layer->resize(layer->size() + size);
  return layer->data() + layer->size() - size;
}

// Predicts the places at which the queries of all sources look. Returns null unless the mechanism
// predicts them.
const float* Centres(const MixerCall& call, Workspace* workspace) {
  if (!call.spec.Is<PredictedWindow>()) return nullptr;
  std::vector<QueryGroup> groups;
  for (const auto& source : call.sources) {
    const int n = static_cast<int>(source.size());
    groups.push_back({n, n});
  }
  return PredictCentres(call.config, call.layer.mixer, call.in, groups, workspace);
}

// context [rows, I] = attention of the rows of `qkv` [rows, 3 I], each sentence's to itself.
// `weights`: where the matrices [H, S, S] of the only source go, or null. REQUIRES if not null: one
// source.
void SelfAttention(const MixerCall& call, const Embedder& embedder, const float* qkv,
                   Workspace* workspace, float* context, float* weights) {
  const ModelConfig& config = call.config;
  const auto inner = static_cast<size_t>(config.inner_encoder());
  const Attention attention({ShapeOf(config, config.heads_encoder), embedder.distance_bias(),
                             call.spec, call.layer.mixer.mechanism_weights()},
                            &workspace->arena);
  const float* kv = KeyRows(call, qkv, workspace);
  const float* centres = Centres(call, workspace);
  for (const auto& source : call.sources) {
    const int n = static_cast<int>(source.size());
    const int keys = call.spec.mapped_keys(n);
    Queries queries = {qkv, 3 * inner, n};
    queries.centres = centres;
    attention.Run(queries, KeyValueRows{kv + inner, kv + 2 * inner, 3 * inner, keys},
                  {context, inner, weights, n});
    qkv += source.size() * 3 * inner;
    kv += static_cast<size_t>(keys) * 3 * inner;
    context += source.size() * inner;
    if (centres != nullptr) centres += n;
  }
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

  float* const qkv = workspace->Rows(rows, 3 * config.inner_encoder());
  float* const context = workspace->Rows(rows, config.inner_encoder());
  const auto run_part = [&](const EncoderPartWeights& part, const MixerSpec& mixer) {
    const Arena::Mark mark = workspace->arena.mark();
    float* const weights =
        maps == nullptr ? nullptr : AddMatrices(config, mixer, sources[0].size(), &maps->back());
    Sublayer(config, part.self.norm, workspace, rows, x, [&](const float* in, float* out) {
      const MixerCall call = {config, mixer, part, sources, in};
      if (!mixer.is_attention()) return MixTokens(call, workspace, out);
      workspace->matmul.Apply(part.self.qkv, in, rows, qkv);
      SelfAttention(call, embedder, qkv, workspace, context, weights);
      workspace->matmul.Apply(part.self.out, context, rows, out);
    });
    Sublayer(config, part.ffn.norm, workspace, rows, x, [&](const float* in, float* out) {
      FeedForward(config, part.ffn, in, rows, workspace, out);
    });
    workspace->arena.Rewind(mark);
  };
  for (size_t l = 0; l < model.weights.encoder.size(); ++l) {
    const EncoderLayerWeights& layer = model.weights.encoder[l];
    const MixerSpec mixer = config.encoder_mixer(static_cast<int>(l));
    if (maps != nullptr) maps->emplace_back();
    run_part(layer, mixer.Part(0));
    if (mixer.has_two_parts()) run_part(layer.grid, mixer.Part(1));
  }
  if (config.final_norm) Normalize(config, model.weights.encoder_norm, x, nullptr, rows, x);
  return x;
}

}  // namespace nibu::internal
