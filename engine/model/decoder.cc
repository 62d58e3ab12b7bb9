// The decoder's layers, a step at a time.
//
// D = d_model, I = heads * size of a head. R rows, sentence by sentence: the newest token of each
// hypothesis, or several consecutive tokens of one (Input::consecutive).
//   x       [R, D]    embedding + position, then the running residual stream
//   qkv     [R, 3 I]  q | k | v of self-attention, or with an SSRU gate | value [R, 2 D]; then q
//                     [R, I] of cross-attention
//   context [R, I]    the result of an attention, before its output projection
// For each layer, with LN(x + f(x)) in post-norm and x + f(LN(x)) in pre-norm (Sublayer):
//   f = SelfAttention(x W_qkv, the tokens before) W_o
//       or, in place of attention (SSRU, simpler simple recurrent unit):
//       f = relu(c), c = s * c_before + (1 - s) * v, s = sigmoid(g), [g | v] = x W_gv
//   f = CrossAttention(x W_q, the source) W_o
//   f = act(x W_up) W_down, or gated: (act(x W_up) * (x W_gate)) W_down
// Products have all rows at once; attention goes sentence by sentence, as each has keys of its own.
#include "engine/model/decoder.h"

#include <algorithm>
#include <optional>

#include "engine/ops/row_kernels.h"

namespace nibu::internal {

// For each layer [k | v] = e W_kv, with e the encoder's rows of all sentences, or what the layer's
// mechanism reduces them to.
void Decoder::Begin(const float* encoded, absl::Span<DecoderState* const> states) {
  const int inner = model_.config.inner_decoder();
  std::vector<int> lengths;
  int positions = 0;
  for (const DecoderState* state : states) {
    lengths.push_back(state->source_length());
    positions += lengths.back();
  }
  const Arena::Mark mark = workspace_->arena.mark();
  float* const kv = workspace_->Rows(positions, 2 * inner);
  const size_t stride = 2 * static_cast<size_t>(inner);
  for (size_t l = 0; l < model_.weights.decoder.size(); ++l) {
    const DecoderLayerWeights& layer = model_.weights.decoder[l];
    const AttentionSpec& spec = cross_attention_[l].spec();
    const Arena::Mark layer_mark = workspace_->arena.mark();
    const float* in = encoded;
    int rows = positions;
    if (const auto* reduced = spec.mixer.As<ReducedAttention>()) {
      rows = 0;
      for (const int length : lengths) rows += spec.mixer.mapped_keys(length);
      in = ReduceRows(model_.config, layer.mixer, reduced->reduction, encoded, lengths, workspace_);
    }
    workspace_->matmul.Apply(layer.cross.kv, in, rows, kv);
    float* row = kv;
    for (DecoderState* state : states) {
      const int made = spec.mixer.mapped_keys(state->source_length());
      PrepareSource(spec, made, row);
      state->StoreSource(static_cast<int>(l), row);
      row += static_cast<size_t>(made) * stride;
    }
    workspace_->arena.Rewind(layer_mark);
  }
  workspace_->arena.Rewind(mark);
}

float* Decoder::Step(absl::Span<const Input> inputs) {
  const ModelConfig& config = model_.config;
  const auto dim = static_cast<size_t>(config.d_model);
  int rows = 0;
  for (const Input& input : inputs) rows += static_cast<int>(input.tokens.size());

  // The output layer multiplies pieces of these rows that may begin at any row. Such a piece reads
  // padding rows behind its own, for which there is room here.
  float* x = workspace_->Rows(rows + Matmul::kMostRows / 2, config.d_model);
  float* row = x;
  for (const Input& input : inputs) {
    const int count = static_cast<int>(input.tokens.size());
    for (int i = 0; i < (input.consecutive ? count : 1); ++i) {
      input.state->Extend(input.consecutive ? 1 : count);
    }
    for (size_t i = 0; i < input.tokens.size(); ++i, row += dim) {
      embedder_.Embed(input.tokens[i], input.position(i), row);
    }
  }
  embedder_.Normalize(x, rows);

  float* qkv = workspace_->Rows(rows, std::max(3 * config.inner_decoder(), 2 * config.d_model));
  float* context = workspace_->Rows(rows, config.inner_decoder());
  const auto apply = [&](const Linear& linear, const float* in, float* out) {
    ScopedTimer timer(&workspace_->profile.decoder_matmul);
    workspace_->matmul.Apply(linear, in, rows, out);
  };
  for (size_t l = 0; l < model_.weights.decoder.size(); ++l) {
    const DecoderLayerWeights& layer = model_.weights.decoder[l];
    const Arena::Mark mark = workspace_->arena.mark();
    if (config.decoder_memory == DecoderMemory::kSsru) {
      Sublayer(config, layer.ssru.norm, workspace_, rows, x, [&](const float* in, float* out) {
        apply(layer.ssru.gate_value, in, qkv);
        Recurrence(inputs, static_cast<int>(l), qkv, out);
      });
    } else {
      Sublayer(config, layer.self.norm, workspace_, rows, x, [&](const float* in, float* out) {
        apply(layer.self.qkv, in, qkv);
        SelfAttention(inputs, static_cast<int>(l), qkv, context);
        apply(layer.self.out, context, out);
      });
    }
    Sublayer(config, layer.cross.norm, workspace_, rows, x, [&](const float* in, float* out) {
      apply(layer.cross.q, in, qkv);
      CrossAttention(inputs, static_cast<int>(l), in, qkv, context);
      apply(layer.cross.out, context, out);
    });
    Sublayer(config, layer.ffn.norm, workspace_, rows, x, [&](const float* in, float* out) {
      ScopedTimer timer(&workspace_->profile.decoder_matmul);
      FeedForward(config, layer.ffn, in, rows, workspace_, out);
    });
    workspace_->arena.Rewind(mark);
  }
  if (config.final_norm) Normalize(config, model_.weights.decoder_norm, x, nullptr, rows, x);
  return x;
}

// Row by row: stores the token's key and value, then attends to all positions up to its own. The
// next row's history is prefetched meanwhile.
void Decoder::SelfAttention(absl::Span<const Input> inputs, int layer, const float* qkv,
                            float* out) {
  ScopedTimer timer(&workspace_->profile.attention);
  const auto dim = static_cast<size_t>(model_.config.inner_decoder());
  for (size_t n = 0; n < inputs.size(); ++n) {
    const Input& input = inputs[n];
    for (size_t i = 0; i < input.tokens.size(); ++i, qkv += 3 * dim, out += dim) {
      const int h = input.hypothesis(i);
      const int position = input.position(i);
      const CellHistory history = input.state->history(h, layer, position);
      std::optional<Prefetcher> next;
      if (i + 1 < input.tokens.size()) {
        next.emplace(shape_,
                     input.state->history(input.hypothesis(i + 1), layer, input.position(i + 1)),
                     history.cells);
      } else if (n + 1 < inputs.size()) {
        const DecoderState& state = *inputs[n + 1].state;
        next.emplace(shape_, state.history(0, layer, state.length() - 1));
      }
      input.state->Store(position, h, layer, qkv + dim);
      const Arena::Mark mark = workspace_->arena.mark();
      float* const weights = MapScratch(input, position + 1);
      self_attention_.Run({qkv, 3 * dim, 1, position}, history, {out, dim, weights},
                          next.has_value() ? &*next : nullptr);
      if (weights != nullptr) KeepMap(weights, position, input, layer);
      workspace_->arena.Rewind(mark);
    }
  }
}

// Returns room for one row of each head's matrix, [H, keys], or null if nobody asks for matrices.
float* Decoder::MapScratch(const Input& input, int keys) const {
  if (input.maps == nullptr) return nullptr;
  return workspace_->arena.Floats(static_cast<size_t>(shape_.heads) * static_cast<size_t>(keys));
}

// Copies a row of each head's matrix, [H, position + 1], to where the matrices [H, T, T] are kept.
void Decoder::KeepMap(const float* weights, int position, const Input& input, int layer) const {
  const size_t positions = input.tokens.size();
  const auto row = static_cast<size_t>(position);
  float* map = input.maps->decoder[static_cast<size_t>(layer)].data() + row * positions;
  for (int h = 0; h < shape_.heads; ++h, weights += row + 1, map += positions * positions) {
    std::copy_n(weights, row + 1, map);
  }
}

// The SSRU, row by row: the state c of a position is made from that of the position before, in the
// parent hypothesis.
void Decoder::Recurrence(absl::Span<const Input> inputs, int layer, const float* gate_value,
                         float* out) {
  const auto dim = static_cast<size_t>(model_.config.d_model);
  for (const Input& input : inputs) {
    for (size_t i = 0; i < input.tokens.size(); ++i, gate_value += 2 * dim, out += dim) {
      const int h = input.hypothesis(i);
      const int position = input.position(i);
      SsruStep(gate_value, dim, input.state->previous_recurrent(position, h, layer),
               input.state->recurrent(position, h, layer), out);
    }
  }
}

// Returns the size of an input's cross-attention, [H, tokens, S].
size_t Decoder::WeightsSize(const Input& input) const {
  return static_cast<size_t>(shape_.heads) * input.tokens.size() *
         static_cast<size_t>(input.state->source_length());
}

// input.attention [tokens, S] = the mean of the first heads of `weights` [H, tokens, S].
void Decoder::MeanOfHeads(const float* weights, const Input& input) const {
  const int heads = input.attention_heads > 0 ? input.attention_heads : shape_.heads;
  const size_t n = WeightsSize(input) / static_cast<size_t>(shape_.heads);
  std::copy_n(weights, n, input.attention);
  for (int h = 1; h < heads; ++h)
    Add(weights + static_cast<size_t>(h) * n, static_cast<long>(n), input.attention);
  for (size_t i = 0; i < n; ++i) input.attention[i] /= static_cast<float>(heads);
}

// Predicts the place that each row looks at. Returns null unless the mechanism predicts places
// (PredictedWindow).
const float* Decoder::Centres(absl::Span<const Input> inputs, int layer, const float* in) {
  const auto l = static_cast<size_t>(layer);
  if (!cross_attention_[l].spec().mixer.Is<PredictedWindow>()) return nullptr;
  ScopedTimer timer(&workspace_->profile.decoder_matmul);
  queries_.clear();
  for (const Input& input : inputs) {
    queries_.push_back({static_cast<int>(input.tokens.size()), input.state->source_length()});
  }
  return PredictCentres(model_.config, model_.weights.decoder[l].mixer, in, queries_, workspace_);
}

// Sentence by sentence: the queries of all its hypotheses attend to the one source. The next
// sentence's source is prefetched meanwhile.
void Decoder::CrossAttention(absl::Span<const Input> inputs, int layer, const float* in,
                             const float* q, float* out) {
  const float* centres = Centres(inputs, layer, in);
  ScopedTimer timer(&workspace_->profile.attention);
  const auto dim = static_cast<size_t>(model_.config.inner_decoder());
  const Attention& attention = cross_attention_[static_cast<size_t>(layer)];
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = inputs[i];
    std::optional<Prefetcher> next;
    if (i + 1 < inputs.size()) next.emplace(shape_, inputs[i + 1].state->source(layer));
    Queries queries = {q, dim, static_cast<int>(input.tokens.size()), input.position(0)};
    queries.step = input.consecutive ? 1 : 0;
    queries.centres = centres;
    const bool asked = input.attention != nullptr && input.attention_layer == layer;
    const Arena::Mark mark = workspace_->arena.mark();
    float* weights = asked ? workspace_->arena.Floats(WeightsSize(input)) : nullptr;
    if (input.maps != nullptr) weights = input.maps->cross[static_cast<size_t>(layer)].data();
    attention.Run(queries, input.state->source(layer),
                  {out, dim, weights, input.state->source_length()},
                  next.has_value() ? &*next : nullptr);
    if (asked) MeanOfHeads(weights, input);
    workspace_->arena.Rewind(mark);
    q += input.tokens.size() * dim;
    out += input.tokens.size() * dim;
    if (centres != nullptr) centres += input.tokens.size();
  }
}

}  // namespace nibu::internal
