// The encoder's layers, over all sentences of a batch at once.
//
// D = d_model, I = heads * size of a head. N rows: the tokens of all sentences, one after the
// other, without padding.
//   x       [N, D]    embedding + position, then the running residual stream
//   qkv     [N, 3 I]  q | k | v, side by side
//   context [N, I]    the result of attention, before its output projection
// For each layer, with LN(x + f(x)) in post-norm and x + f(LN(x)) in pre-norm (Sublayer):
//   f = Attention(x W_qkv) W_o: multi-head self-attention, each sentence to itself, by the layer's
//       mechanism (MixerSpec)
//   f = act(x W_up) W_down, or gated: (act(x W_up) * (x W_gate)) W_down
// A mechanism that is no attention has MixTokens in place of attention and its projections. For
// mechanisms with fewer keys than tokens, KeyRows makes the keys; for windows around predicted
// places, Centres predicts these (engine/attention/mixer_spec.h describes the mechanisms).
//
// A layer of two parts (block_grid: windows, then a grid) is run as two such layers, each with its
// own weights and mechanism (`layer`, `layer.grid`). Products have all rows at once; attention goes
// sentence by sentence.
#include "engine/model/encoder.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "engine/attention/attention.h"
#include "engine/model/token_mixer.h"

namespace nibu::internal {
namespace {

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

// Sets context [rows, I] to the attention of the rows of `qkv` [rows, 3 I], each sentence's to
// itself. REQUIRES: one source if call.map is not null.
void SelfAttention(const MixerCall& call, const Embedder& embedder, RowSpan<const float> qkv,
                   Workspace* workspace, RowSpan<float> context) {
  ABSL_ASSERT(call.map == nullptr || call.sources.size() == 1);
  const ModelConfig& config = call.config;
  const auto inner = static_cast<size_t>(config.inner_encoder());
  const Attention attention(
      {ShapeOf(config, config.heads_encoder), embedder.distance_bias(), call.spec,
       call.layer.mixer.mechanism_weights(), call.layer.self.relative(config)},
      &workspace->arena);
  const RowSpan<const float> kv = KeyRows(call, qkv, workspace);
  const float* centres = Centres(call, workspace);
  int row = 0;
  int key = 0;
  for (const auto& source : call.sources) {
    const int n = static_cast<int>(source.size());
    const int keys = call.spec.mapped_keys(n);
    Queries queries = {qkv.row(row), 3 * inner, n};
    if (centres != nullptr) queries.centres = centres + row;
    const float* const k = kv.row(key) + inner;
    const KeyValueRows memory = {k, k + inner, 3 * inner, keys};
    AttentionOutput output = {context.row(row), inner};
    if (call.map != nullptr) {
      call.map->KeepKeys(attention.spec(), memory);
      output.weights = call.map->KeepQueries(attention.spec(), queries);
    }
    attention.Run(queries, memory, output);
    row += n;
    key += keys;
  }
}

}  // namespace

RowSpan<float> Encode(const Model& model, const Embedder& embedder,
                      absl::Span<const absl::Span<const int>> sources, Workspace* workspace,
                      AttentionMaps::Layers* maps) {
  ABSL_ASSERT(!sources.empty());
  ABSL_ASSERT(absl::c_none_of(sources, [](const auto& source) { return source.empty(); }));
  ABSL_ASSERT(maps == nullptr || sources.size() == 1);
  const ModelConfig& config = model.config;
  int rows = 0;
  for (const auto& source : sources) rows += static_cast<int>(source.size());

  const RowSpan<float> x = workspace->Rows(rows, config.d_model);
  int row = 0;
  for (const auto& source : sources) {
    for (size_t t = 0; t < source.size(); ++t, ++row) {
      embedder.Embed(source[t], static_cast<int>(t), x.row(row));
    }
  }
  embedder.Normalize(x);

  const RowSpan<float> qkv = workspace->Rows(rows, 3 * config.inner_encoder());
  const RowSpan<float> context = workspace->Rows(rows, config.inner_encoder());
  const auto run_part = [&](size_t layer, int number, const EncoderPartWeights& part) {
    const MixerSpec mixer = config.encoder_mixer(static_cast<int>(layer)).Part(number);
    const Arena::Mark mark = workspace->arena.mark();
    AttentionMap* const map = maps == nullptr ? nullptr : &maps->emplace_back();
    if (map != nullptr) {
      map->layer = static_cast<int>(layer);
      map->part = number;
      map->mixer = mixer;
    }
    Sublayer(config, part.self.norm, workspace, x, [&](RowSpan<float> in, RowSpan<float> out) {
      const MixerCall call = {config, mixer, part, sources, in, map};
      if (!mixer.is_attention()) return MixTokens(call, workspace, out);
      workspace->matmul.Apply(part.self.qkv, in, qkv);
      SelfAttention(call, embedder, qkv, workspace, context);
      workspace->matmul.Apply(part.self.out, context, out);
    });
    Sublayer(config, part.ffn.norm, workspace, x, [&](RowSpan<float> in, RowSpan<float> out) {
      FeedForward(config, part.ffn, in, workspace, out);
    });
    workspace->arena.Rewind(mark);
  };
  for (size_t l = 0; l < model.weights.encoder.size(); ++l) {
    const EncoderLayerWeights& layer = model.weights.encoder[l];
    run_part(l, 0, layer);
    if (config.encoder_mixer(static_cast<int>(l)).has_two_parts()) run_part(l, 1, layer.grid);
  }
  if (config.final_norm) Normalize(config, model.weights.encoder_norm, x, nullptr, x.data());
  return x;
}

}  // namespace nibu::internal
