// The weights of an encoder-decoder Transformer: plain structs, immutable once loaded, shared by
// all workers. Shapes are given as [in, out] maps; D = d_model, F = feed-forward, V = vocabulary.
#ifndef NIBU_ENGINE_MODEL_WEIGHTS_H_
#define NIBU_ENGINE_MODEL_WEIGHTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "engine/attention/attention.h"
#include "engine/model/config.h"
#include "engine/ops/embedding.h"
#include "engine/ops/linear.h"

namespace nibu::internal {

// The weights of a norm of the kind config.norm_kind. Both are empty where there is no norm.
struct LayerNormWeights {
  std::vector<float> gamma;  // [D]
  std::vector<float> beta;   // [D]; none in an RMS norm
};

// softmax(scale q k^T + bias) v with q, k, v from one sequence (Vaswani et al. 2017). I = heads
// times the size of a head: D, as a rule.
struct SelfAttentionWeights {
  Linear qkv;  // D -> 3 I: q, k, v side by side
  Linear out;  // I -> D
  LayerNormWeights norm;
  // [2 M + 1, size of a head]: see RelativeVectors; empty unless positions are kRelativeVectors.
  std::vector<float> relative_keys = {};
  std::vector<float> relative_values = {};

  RelativeVectors relative(const ModelConfig& config) const {
    if (relative_keys.empty()) return {};
    return {relative_keys.data(), relative_values.data(), config.position_max_distance};
  }
};

// In place of decoder self-attention (DecoderMemory::kSsru), with c = 0 before the first token:
//   f = sigmoid(x W_f + b_f);  c = f * c + (1 - f) * (x W);  the sublayer's output is relu(c)
struct SsruWeights {
  Linear gate_value;  // D -> 2 D: x W_f + b_f and x W side by side
  LayerNormWeights norm;
};

// q from the decoder, k and v from the encoder output.
struct CrossAttentionWeights {
  Linear q;    // D -> I
  Linear kv;   // D -> 2 I: k, v side by side
  Linear out;  // I -> D
  LayerNormWeights norm;
};

// down(act(up(x))), or, with config.gated_ffn, down(act(up(x)) * gate(x)) (Shazeer 2020); the
// activation belongs to `up`.
struct FeedForwardWeights {
  Linear up;    // D -> F
  Linear gate;  // D -> F
  Linear down;  // F -> D
  LayerNormWeights norm;
};

// Weights that a mixer has of its own (engine/attention/mixers defines them); empty: none. The
// heads are those of the layer's stack; I = heads times the size of a head.
struct MixerWeights {
  std::vector<float> score;          // W, the heads below each other: kGeneral [I, d],
                                     // kConcat [I, 2 d]
  std::vector<float> score_vector;   // v of kConcat: [H, d]
  Linear centre;                     // W_p of PredictedWindow: D -> D
  std::vector<float> centre_vector;  // v_p of PredictedWindow: [1, D]
  std::vector<float> relative_bias;  // of windows: [H, 2 W - 1], see MixerSpec::biased_width
  std::vector<float> taps;           // of FactorizedAttention: [I, kernel]
  std::vector<float> taps_bias;      // [1, I]
  Linear reduce;                     // of ReducedAttention: R D -> D
  LayerNormWeights reduce_norm;      // [D]
  std::vector<float> offset_taps;    // of DeformableAttention: [I, K]
  std::vector<float> offset_bias;    // [1, I]
  LayerNormWeights offset_norm;      // [I]
  std::vector<float> offset;         // [1, I]
  Linear up;                         // of TokenMlp: P -> F
  Linear down;                       // F -> P

  MechanismWeights mechanism_weights() const {
    return {score.data(), score_vector.data(), relative_bias.data(), taps.data(), taps_bias.data()};
  }
};

// An attention and a feed-forward of the encoder: a layer, as a rule.
struct EncoderPartWeights {
  SelfAttentionWeights self;  // of a mixer that is no attention, the norm alone
  FeedForwardWeights ffn;
  MixerWeights mixer = {};
};

struct EncoderLayerWeights : EncoderPartWeights {
  EncoderPartWeights grid =
      {};  // the second part of a layer that has two (MixerSpec::has_two_parts)
};

struct DecoderLayerWeights {
  SelfAttentionWeights self;  // one of the two, as config.decoder_memory says
  SsruWeights ssru;
  CrossAttentionWeights cross;
  FeedForwardWeights ffn;
  MixerWeights mixer = {};  // of the cross-attention
};

struct EmbeddingWeights {
  // Source and target may share one table.
  std::shared_ptr<const EmbeddingTable> tokens;     // [V, D]
  std::shared_ptr<const EmbeddingTable> positions;  // learned [P, D]; else null
  std::vector<float> distance_biases;  // see DistanceBiases; empty unless positions are relative
  LayerNormWeights norm;
};

// The output layer, D -> config.outputs(), cut into blocks of columns so that a block's logits stay
// in the cache.
struct OutputWeights {
  std::vector<Linear> blocks;  // block i gives the logits of outputs [i * kBlock, ...)
  static constexpr int kBlock = 2048;

  // From the whole matrix (and a bias, or none).
  static absl::StatusOr<OutputWeights> Create(const MatrixView& matrix, const TensorView* bias,
                                              ComputeType compute_type);
};

struct ModelWeights {
  EmbeddingWeights source;
  EmbeddingWeights target;
  std::vector<EncoderLayerWeights> encoder;
  std::vector<DecoderLayerWeights> decoder;
  LayerNormWeights encoder_norm;  // final norms (config.final_norm)
  LayerNormWeights decoder_norm;
  OutputWeights output;
};

// A model: a reader returns it, and a Translator shares it between its workers. Immutable.
struct Model {
  ModelConfig config;
  // The number type of the maps, and of the cached keys and values. kInt4: maps that are not read
  // in every step, and keys and values, are kInt8.
  ComputeType compute_type = ComputeType::kFloat32;
  ModelWeights weights;

  // Bytes of all weights as they are held in memory.
  size_t weight_bytes() const;
};

// The kind and the shape of a weight, as the walk below tells them.
struct WeightShape {
  enum class Kind : uint8_t { kLinear, kNorm, kTable };
  Kind kind;
  int rows;         // outputs of a linear, size of a norm
  int columns = 1;  // inputs of a linear
  Activation activation = Activation::kNone;
};

// The part of the walk below that is a mixer's, in a stack of so many heads.
template <typename Weights, typename Visitor>
void ForEachMixerWeight(const ModelConfig& config, int heads, const MixerSpec& spec,
                        const std::string& name, Weights& own, Visitor&& visit) {
  using Kind = WeightShape::Kind;
  const int d = config.d_model;
  const int head = config.head_dim(heads);
  const int inner = heads * head;
  if (spec.score == Score::kGeneral) {
    visit(name + "score", own.score, WeightShape{Kind::kTable, inner, head});
  }
  if (spec.score == Score::kConcat) {
    visit(name + "score", own.score, WeightShape{Kind::kTable, inner, 2 * head});
    visit(name + "score_vector", own.score_vector, WeightShape{Kind::kTable, heads, head});
  }
  if (const int width = spec.biased_width(); width > 0) {
    visit(name + "relative_bias", own.relative_bias,
          WeightShape{Kind::kTable, heads, 2 * width - 1});
  }
  if (const auto* factorized = spec.As<FactorizedAttention>();
      factorized != nullptr && factorized->kernel > 0) {
    visit(name + "taps", own.taps, WeightShape{Kind::kTable, inner, factorized->kernel});
    visit(name + "taps_bias", own.taps_bias, WeightShape{Kind::kTable, 1, inner});
  }
  if (spec.Is<PredictedWindow>()) {
    visit(name + "centre", own.centre, WeightShape{Kind::kLinear, d, d});
    visit(name + "centre_vector", own.centre_vector, WeightShape{Kind::kTable, 1, d});
  }
  if (const auto* reduced = spec.As<ReducedAttention>()) {
    visit(name + "reduce", own.reduce, WeightShape{Kind::kLinear, d, reduced->reduction * d});
    visit(name + "reduce_norm", own.reduce_norm, WeightShape{Kind::kNorm, d});
  }
  if (const auto* places = spec.As<DeformableAttention>()) {
    visit(name + "offset_taps", own.offset_taps, WeightShape{Kind::kTable, inner, places->kernel});
    visit(name + "offset_bias", own.offset_bias, WeightShape{Kind::kTable, 1, inner});
    visit(name + "offset_norm", own.offset_norm, WeightShape{Kind::kNorm, inner});
    visit(name + "offset", own.offset, WeightShape{Kind::kTable, 1, inner});
  }
  if (const auto* mlp = spec.As<TokenMlp>()) {
    const int hidden = mlp->hidden_size();
    visit(name + "up", own.up,
          WeightShape{Kind::kLinear, hidden, mlp->positions, Activation::kGelu});
    visit(name + "down", own.down, WeightShape{Kind::kLinear, mlp->positions, hidden});
  }
}

// The one walk over a model's weights, which building, listing, counting and writing share:
// visit(name, weight, shape) for each weight that `config` has, in a fixed order. A weight is a
// Linear or OutputWeights (kLinear), a LayerNormWeights (kNorm), a pointer to an EmbeddingTable or
// a vector of floats (kTable: [rows, columns] as files have it).
// Names: "decoder.0.self.q+k+v", several side by side being joined by '+'.
template <typename Weights, typename Visitor>
void ForEachWeight(const ModelConfig& config, Weights& weights, Visitor&& visit) {
  using Kind = WeightShape::Kind;
  const int d = config.d_model;
  const WeightShape norm_shape = {Kind::kNorm, d};
  const auto linear = [](int in, int out, Activation activation = Activation::kNone) {
    return WeightShape{Kind::kLinear, out, in, activation};
  };
  const auto stack = [&](const std::string& name, auto& embedding, auto& norm, int vocabulary,
                         int heads) {
    visit(name + ".tokens", embedding.tokens, WeightShape{Kind::kTable, vocabulary, d});
    if (config.position_kind == PositionKind::kLearned) {
      const int rows = config.position_offset + config.max_positions;
      visit(name + ".positions", embedding.positions, WeightShape{Kind::kTable, rows, d});
    }
    if (config.position_kind == PositionKind::kRelative) {
      visit(name + ".positions", embedding.distance_biases,
            WeightShape{Kind::kTable, config.position_buckets, heads});
    }
    if (config.embedding_norm) visit(name + ".embedding_norm", embedding.norm, norm_shape);
    if (config.final_norm) visit(name + ".final_norm", norm, norm_shape);
  };
  const auto attention = [&](const std::string& layer, auto& self, int heads) {
    const int inner = heads * config.head_dim(heads);
    visit(layer + "self.q+k+v", self.qkv, linear(d, 3 * inner));
    visit(layer + "self.out", self.out, linear(inner, d));
    visit(layer + "self.norm", self.norm, norm_shape);
    if (config.position_kind != PositionKind::kRelativeVectors) return;
    const WeightShape vectors = {Kind::kTable, 2 * config.position_max_distance + 1,
                                 config.head_dim(heads)};
    visit(layer + "self.relative_keys", self.relative_keys, vectors);
    visit(layer + "self.relative_values", self.relative_values, vectors);
  };
  const auto feed_forward = [&](const std::string& layer, auto& ffn, int hidden) {
    visit(layer + "ffn.up", ffn.up, linear(d, hidden, config.activation));
    if (config.gated_ffn) visit(layer + "ffn.gate", ffn.gate, linear(d, hidden));
    visit(layer + "ffn.down", ffn.down, linear(hidden, d));
    visit(layer + "ffn.norm", ffn.norm, norm_shape);
  };
  stack("encoder", weights.source, weights.encoder_norm, config.vocab_source, config.heads_encoder);
  stack("decoder", weights.target, weights.decoder_norm, config.vocab_target, config.heads_decoder);
  const auto encoder_part = [&](const std::string& name, const MixerSpec& mixer, auto& part) {
    if (mixer.is_attention()) {
      attention(name, part.self, config.heads_encoder);
    } else {
      visit(name + "self.norm", part.self.norm, norm_shape);
    }
    ForEachMixerWeight(config, config.heads_encoder, mixer, name + "mixer.", part.mixer, visit);
    feed_forward(name, part.ffn, config.ffn_encoder);
  };
  for (size_t i = 0; i < weights.encoder.size(); ++i) {
    const std::string layer = absl::StrCat("encoder.", i, ".");
    const MixerSpec mixer = config.encoder_mixer(static_cast<int>(i));
    encoder_part(layer, mixer, weights.encoder[i]);
    if (mixer.has_two_parts()) encoder_part(layer + "grid.", mixer, weights.encoder[i].grid);
  }
  for (size_t i = 0; i < weights.decoder.size(); ++i) {
    const std::string layer = absl::StrCat("decoder.", i, ".");
    const int inner = config.inner_decoder();
    auto& [self, ssru, cross, ffn, mixer] = weights.decoder[i];
    if (config.decoder_memory == DecoderMemory::kSsru) {
      visit(layer + "ssru.gate+value", ssru.gate_value, linear(d, 2 * d));
      visit(layer + "ssru.norm", ssru.norm, norm_shape);
    } else {
      attention(layer, self, config.heads_decoder);
    }
    visit(layer + "cross.q", cross.q, linear(d, inner));
    visit(layer + "cross.k+v", cross.kv, linear(d, 2 * inner));
    visit(layer + "cross.out", cross.out, linear(inner, d));
    visit(layer + "cross.norm", cross.norm, norm_shape);
    ForEachMixerWeight(config, config.heads_decoder, config.cross_mixer(static_cast<int>(i)),
                       layer + "mixer.", mixer, visit);
    feed_forward(layer, ffn, config.ffn_decoder);
  }
  visit(std::string("output"), weights.output, linear(d, config.outputs()));
}

// Weights of as many layers as `config` has, with nothing in them.
inline ModelWeights EmptyWeights(const ModelConfig& config) {
  ModelWeights weights;
  weights.encoder.resize(static_cast<size_t>(config.layers_encoder));
  weights.decoder.resize(static_cast<size_t>(config.layers_decoder));
  return weights;
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_WEIGHTS_H_
