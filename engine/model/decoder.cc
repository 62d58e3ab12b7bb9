// The decoder's layers, a step at a time.
//
// D = d_model, I = heads * size of a head. R rows, sentence by sentence: the newest token of each
// hypothesis, or several consecutive tokens of one (Input::consecutive).
//   x       [R, D]    embedding + position, then the running residual stream
//   scratch [R, 3 I]  q | k | v of self-attention, or with an SSRU gate | value [R, 2 D]; then q
//                     [R, I] of cross-attention
//   context [R, I]    the result of an attention, before its output projection
// For each layer, with LN(x + f(x)) in post-norm and x + f(LN(x)) in pre-norm (Sublayer):
//   f = SelfAttention(x W_qkv, the tokens up to its own) W_o: masked multi-head self-attention
//       or, in place of attention (SSRU, simpler simple recurrent unit):
//       f = relu(c), c = s * c_before + (1 - s) * v, s = sigmoid(g), [g | v] = x W_gv
//   f = CrossAttention(x W_q, the source) W_o: multi-head cross-attention
//   f = act(x W_up) W_down, or gated: (act(x W_up) * (x W_gate)) W_down
// Products have all rows at once; attention goes sentence by sentence, as each has keys of its own.
#include "engine/model/decoder.h"

#include <algorithm>
#include <optional>

#include "absl/base/macros.h"
#include "engine/ops/row_kernels.h"

namespace nibu::internal {

// For each layer [k | v] = e W_kv, with e the encoder's rows of all sentences, or what the layer's
// mechanism reduces them to.
void Decoder::Begin(RowSpan<const float> encoded, absl::Span<DecoderState* const> states,
                    AttentionMaps* maps) {
  ABSL_ASSERT(maps == nullptr || states.size() == 1);
  const int inner = model_.config.inner_decoder();
  std::vector<int> lengths;
  int positions = 0;
  for (const DecoderState* state : states) {
    lengths.push_back(state->source_length());
    positions += lengths.back();
  }
  ABSL_ASSERT(positions == encoded.rows());
  const Arena::Mark mark = workspace_->arena.mark();
  const RowSpan<float> all = workspace_->Rows(positions, 2 * inner);
  for (size_t l = 0; l < model_.weights.decoder.size(); ++l) {
    const DecoderLayerWeights& layer = model_.weights.decoder[l];
    const AttentionSpec& spec = cross_attention_[l].spec();
    const Arena::Mark layer_mark = workspace_->arena.mark();
    RowSpan<const float> in = encoded;
    if (const auto* reduced = spec.mixer.As<ReducedAttention>()) {
      in = ReduceRows(model_.config, layer.mixer, reduced->reduction, encoded, lengths, workspace_);
    }
    const RowSpan<float> kv = all.Slice(0, in.rows());
    workspace_->matmul.Apply(layer.cross.kv, in, kv);
    int row = 0;
    for (DecoderState* state : states) {
      const int made = spec.mixer.mapped_keys(state->source_length());
      if (maps != nullptr) {
        const float* const k = kv.row(row);
        maps->cross[l].KeepKeys(spec, {k, k + inner, 2 * static_cast<size_t>(inner), made});
      }
      PrepareSource(spec, made, kv.row(row));
      state->StoreSource(static_cast<int>(l), kv.row(row));
      row += made;
    }
    workspace_->arena.Rewind(layer_mark);
  }
  workspace_->arena.Rewind(mark);
}

RowSpan<float> Decoder::Step(absl::Span<const Input> inputs) {
  const ModelConfig& config = model_.config;
  int rows = 0;
  for (const Input& input : inputs) rows += static_cast<int>(input.tokens.size());

  // The output layer multiplies pieces of these rows that may begin at any row. A piece is padded
  // by fewer than kMostRows / 2 rows.
  const RowSpan<float> x = workspace_->Rows(rows, config.d_model, Matmul::kMostRows / 2);
  int row = 0;
  for (const Input& input : inputs) {
    const int count = static_cast<int>(input.tokens.size());
    ABSL_ASSERT(count > 0);
    for (int i = 0; i < (input.consecutive ? count : 1); ++i) {
      input.state->Extend(input.consecutive ? 1 : count);
    }
    ABSL_ASSERT(input.maps == nullptr || (input.consecutive && input.state->length() == count));
    for (size_t i = 0; i < input.tokens.size(); ++i, ++row) {
      embedder_.Embed(input.tokens[i], input.position(i), x.row(row));
    }
  }
  embedder_.Normalize(x);

  const int inner = config.inner_decoder();
  const RowSpan<float> scratch = workspace_->Rows(rows, std::max(3 * inner, 2 * config.d_model));
  const RowSpan<float> context = workspace_->Rows(rows, inner);
  const auto apply = [&](const Linear& linear, RowSpan<const float> in, RowSpan<float> out) {
    ScopedTimer timer(&workspace_->profile.decoder_matmul);
    workspace_->matmul.Apply(linear, in, out);
  };
  for (size_t l = 0; l < model_.weights.decoder.size(); ++l) {
    const DecoderLayerWeights& layer = model_.weights.decoder[l];
    const Arena::Mark mark = workspace_->arena.mark();
    if (config.decoder_memory == DecoderMemory::kSsru) {
      Sublayer(config, layer.ssru.norm, workspace_, x, [&](RowSpan<float> in, RowSpan<float> out) {
        const RowSpan<float> gate_value = scratch.WithColumns(2 * config.d_model);
        apply(layer.ssru.gate_value, in, gate_value);
        Recurrence(inputs, static_cast<int>(l), gate_value, out);
      });
    } else {
      Sublayer(config, layer.self.norm, workspace_, x, [&](RowSpan<float> in, RowSpan<float> out) {
        const RowSpan<float> qkv = scratch.WithColumns(3 * inner);
        apply(layer.self.qkv, in, qkv);
        SelfAttention(inputs, static_cast<int>(l), qkv, context);
        apply(layer.self.out, context, out);
      });
    }
    Sublayer(config, layer.cross.norm, workspace_, x, [&](RowSpan<float> in, RowSpan<float> out) {
      const RowSpan<float> q = scratch.WithColumns(inner);
      apply(layer.cross.q, in, q);
      CrossAttention(inputs, static_cast<int>(l), in, q, context);
      apply(layer.cross.out, context, out);
    });
    Sublayer(config, layer.ffn.norm, workspace_, x, [&](RowSpan<float> in, RowSpan<float> out) {
      ScopedTimer timer(&workspace_->profile.decoder_matmul);
      FeedForward(config, layer.ffn, in, workspace_, out);
    });
    workspace_->arena.Rewind(mark);
  }
  if (config.final_norm) Normalize(config, model_.weights.decoder_norm, x, nullptr, x.data());
  return x;
}

// Masked self-attention, row by row: stores the token's key and value, then attends to all
// positions up to its own, since the history has no others. The next row's history is prefetched
// meanwhile.
void Decoder::SelfAttention(absl::Span<const Input> inputs, int layer, RowSpan<const float> qkv,
                            RowSpan<float> out) {
  ScopedTimer timer(&workspace_->profile.attention);
  const Attention& attention = self_attention_[static_cast<size_t>(layer)];
  const auto dim = static_cast<size_t>(model_.config.inner_decoder());
  int row = 0;
  for (size_t n = 0; n < inputs.size(); ++n) {
    const Input& input = inputs[n];
    if (input.maps != nullptr) KeepRows(qkv.row(row), input, layer);
    for (size_t i = 0; i < input.tokens.size(); ++i, ++row) {
      const float* const q = qkv.row(row);
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
      input.state->Store(position, h, layer, q + dim);
      const Arena::Mark mark = workspace_->arena.mark();
      float* const weights = MapScratch(input, position + 1);
      attention.Run({q, 3 * dim, 1, position}, history, {out.row(row), dim, weights},
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

// Keeps the queries, keys and values of the tokens, whose rows are qkv [tokens, 3 I].
void Decoder::KeepRows(const float* qkv, const Input& input, int layer) const {
  AttentionSpec spec = self_attention_[static_cast<size_t>(layer)].spec();
  spec.mixer.mechanism = CausalAttention();
  const auto inner = static_cast<size_t>(model_.config.inner_decoder());
  const int count = static_cast<int>(input.tokens.size());
  AttentionMap& map = input.maps->decoder[static_cast<size_t>(layer)];
  map.KeepKeys(spec, {qkv + inner, qkv + 2 * inner, 3 * inner, count});
  map.KeepQueries(spec, {qkv, 3 * inner, count});
}

// Copies a row of each head's matrix, [H, position + 1], to where the matrices [H, T, T] are kept.
void Decoder::KeepMap(const float* weights, int position, const Input& input, int layer) const {
  const size_t positions = input.tokens.size();
  const auto row = static_cast<size_t>(position);
  std::vector<float>& maps = input.maps->decoder[static_cast<size_t>(layer)].weights;
  float* map = maps.data() + row * positions;
  for (int h = 0; h < shape_.heads; ++h, weights += row + 1, map += positions * positions) {
    std::copy_n(weights, row + 1, map);
  }
}

// The SSRU, row by row: the state c of a position is made from that of the position before, in the
// parent hypothesis.
void Decoder::Recurrence(absl::Span<const Input> inputs, int layer, RowSpan<const float> gate_value,
                         RowSpan<float> out) {
  const auto dim = static_cast<size_t>(model_.config.d_model);
  int row = 0;
  for (const Input& input : inputs) {
    for (size_t i = 0; i < input.tokens.size(); ++i, ++row) {
      const int h = input.hypothesis(i);
      const int position = input.position(i);
      SsruStep(gate_value.row(row), dim, input.state->previous_recurrent(position, h, layer),
               input.state->recurrent(position, h, layer), out.row(row));
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
const float* Decoder::Centres(absl::Span<const Input> inputs, int layer, RowSpan<const float> in) {
  const auto l = static_cast<size_t>(layer);
  if (!cross_attention_[l].spec().mixer.Is<PredictedWindow>()) return nullptr;
  ScopedTimer timer(&workspace_->profile.decoder_matmul);
  queries_.clear();
  for (const Input& input : inputs) {
    queries_.push_back({static_cast<int>(input.tokens.size()), input.state->source_length()});
  }
  return PredictCentres(model_.config, model_.weights.decoder[l].mixer, in, queries_, workspace_);
}

// Cross-attention, sentence by sentence: the queries of all its hypotheses attend to the one
// source. The next sentence's source is prefetched meanwhile.
void Decoder::CrossAttention(absl::Span<const Input> inputs, int layer, RowSpan<const float> in,
                             RowSpan<const float> q, RowSpan<float> out) {
  const float* centres = Centres(inputs, layer, in);
  ScopedTimer timer(&workspace_->profile.attention);
  const auto dim = static_cast<size_t>(model_.config.inner_decoder());
  const Attention& attention = cross_attention_[static_cast<size_t>(layer)];
  int row = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = inputs[i];
    const int count = static_cast<int>(input.tokens.size());
    std::optional<Prefetcher> next;
    if (i + 1 < inputs.size()) next.emplace(shape_, inputs[i + 1].state->source(layer));
    Queries queries = {q.row(row), dim, count, input.position(0)};
    queries.step = input.consecutive ? 1 : 0;
    if (centres != nullptr) queries.centres = centres + row;
    const bool asked = input.attention != nullptr && input.attention_layer == layer;
    const Arena::Mark mark = workspace_->arena.mark();
    AttentionOutput output = {out.row(row), dim};
    if (asked) {
      ABSL_ASSERT(input.maps == nullptr);
      output.weights = workspace_->arena.Floats(WeightsSize(input));
      output.positions = input.state->source_length();
    } else if (input.maps != nullptr) {
      AttentionMap& map = input.maps->cross[static_cast<size_t>(layer)];
      output.weights = map.KeepQueries(attention.spec(), queries);
    }
    attention.Run(queries, input.state->source(layer), output, next.has_value() ? &*next : nullptr);
    if (asked) MeanOfHeads(output.weights, input);
    workspace_->arena.Rewind(mark);
    row += count;
  }
}

}  // namespace nibu::internal
