// The decoder: computes the hidden states, one row for each token read, from which the output layer
// makes logits. For each sentence it is called once with the encoder's output (Begin), then step by
// step with the tokens that were chosen (Step). decoder.cc opens with the equations.
#ifndef NIBU_ENGINE_MODEL_DECODER_H_
#define NIBU_ENGINE_MODEL_DECODER_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/model/attention_maps.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layers.h"
#include "engine/model/token_mixer.h"
#include "engine/model/weights.h"

namespace nibu::internal {

// The decoder of one worker. Sentences at different positions share its steps, and the results of a
// sentence do not depend on what else is in a step. Not thread-safe.
class Decoder {
 public:
  // The arguments outlive the decoder.
  Decoder(const Model& model, const Embedder& embedder, Workspace* workspace)
      : model_(model),
        embedder_(embedder),
        workspace_(workspace),
        shape_(ShapeOf(model.config, model.config.heads_decoder)) {
    for (size_t l = 0; l < model.weights.decoder.size(); ++l) {
      const DecoderLayerWeights& layer = model.weights.decoder[l];
      AttentionSpec self = {shape_, embedder.distance_bias()};
      self.relative = layer.self.relative(model.config);
      self_attention_.emplace_back(self, &workspace->arena);
      const MixerSpec mixer = model.config.cross_mixer(static_cast<int>(l));
      const AttentionSpec spec = {shape_, {}, mixer, layer.mixer.mechanism_weights()};
      cross_attention_.emplace_back(spec, &workspace->arena);
    }
  }

  // Computes the keys and values of the sources, once a sentence. `encoded`: the encoder's output,
  // [sum of source lengths, D]. `maps`: receives the keys and values of cross-attention; null: not
  // asked for. REQUIRES: the states have been started with those lengths; if `maps` is not null,
  // there is one state.
  void Begin(RowSpan<const float> encoded, absl::Span<DecoderState* const> states,
             AttentionMaps* maps = nullptr);

  // A sentence's part of a step: the newest token of each live hypothesis (-1: none, a zero
  // vector), or, if `consecutive`, several tokens of its only hypothesis, which follow each other
  // (a prefix, a target, guesses). They are known before the step, so that one step computes the
  // rows of all of them.
  struct Input {
    DecoderState* state;
    absl::Span<const int> tokens;
    bool consecutive = false;
    // Receives the cross-attention of layer attention_layer, [tokens, source_length()]: the mean of
    // its first attention_heads heads (0: of all). Null: not asked for.
    float* attention = nullptr;
    int attention_layer = 0;
    int attention_heads = 0;
    // Receives what each layer's self- and cross-attention computes. Null: not asked for.
    // REQUIRES: if not null, the tokens are consecutive and begin the hypothesis, `attention` is
    // null, and there is a map for each attention: those of cross-attention have their keys from
    // Begin.
    AttentionMaps* maps = nullptr;

    // The hypothesis and the position of tokens[i], once its state has grown.
    int hypothesis(size_t i) const { return consecutive ? 0 : static_cast<int>(i); }
    int position(size_t i) const {
      return state->length() - (consecutive ? static_cast<int>(tokens.size() - i) : 1);
    }
  };
  // Runs the layers for all tokens; each state grows by one position, or by one for each
  // consecutive token. Returns the rows, [sum of tokens, D], in the arena; from any of them on,
  // there is room for a matmul's padding. Each row is, bit for bit, the one that a step with this
  // token alone would give. REQUIRES: each input has a token, and the embedder has the positions.
  RowSpan<float> Step(absl::Span<const Input> inputs);

 private:
  void SelfAttention(absl::Span<const Input> inputs, int layer, RowSpan<const float> qkv,
                     RowSpan<float> out);
  void Recurrence(absl::Span<const Input> inputs, int layer, RowSpan<const float> gate_value,
                  RowSpan<float> out);
  // `in`: the rows that q is made of.
  void CrossAttention(absl::Span<const Input> inputs, int layer, RowSpan<const float> in,
                      RowSpan<const float> q, RowSpan<float> out);
  const float* Centres(absl::Span<const Input> inputs, int layer, RowSpan<const float> in);

  void KeepRows(const float* qkv, const Input& input, int layer) const;
  float* MapScratch(const Input& input, int keys) const;
  void KeepMap(const float* weights, int position, const Input& input, int layer) const;
  size_t WeightsSize(const Input& input) const;
  void MeanOfHeads(const float* weights, const Input& input) const;

  const Model& model_;
  const Embedder& embedder_;
  Workspace* workspace_;
  const AttentionShape shape_;
  std::vector<Attention> self_attention_;  // one for each layer
  std::vector<Attention> cross_attention_;
  std::vector<QueryGroup> queries_;  // scratch of Centres
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_DECODER_H_
