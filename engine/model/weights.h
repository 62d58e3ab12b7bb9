// The weights of an encoder-decoder Transformer: plain structs, immutable once loaded, shared by
// all workers. Shapes are given as [in, out] maps; D = d_model, F = feed-forward, V = vocabulary.
#ifndef NIBU_ENGINE_MODEL_WEIGHTS_H_
#define NIBU_ENGINE_MODEL_WEIGHTS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/config.h"
#include "engine/ops/embedding.h"
#include "engine/ops/linear.h"

namespace nibu {

// Of config.norm_kind. Empty: no norm here.
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

struct EncoderLayerWeights {
  SelfAttentionWeights self;
  FeedForwardWeights ffn;
};

struct DecoderLayerWeights {
  SelfAttentionWeights self;  // one of the two, as config.decoder_memory says
  SsruWeights ssru;
  CrossAttentionWeights cross;
  FeedForwardWeights ffn;
};

struct EmbeddingWeights {
  // Source and target may share one table.
  std::shared_ptr<const EmbeddingTable> tokens;     // [V, D]
  std::shared_ptr<const EmbeddingTable> positions;  // learned [P, D]; else null
  std::vector<float> distance_biases;  // see DistanceBiases; empty unless positions are relative
  LayerNormWeights norm;
};

// The output layer, D -> V, cut into blocks of columns so that a block's logits stay in the cache.
struct OutputWeights {
  std::vector<Linear> blocks;  // block i gives the logits of tokens [i * kBlock, ...)
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

// What a reader returns and a Translator shares between its workers. Immutable.
struct Model {
  ModelConfig config;
  // Of the maps, and of the cached keys and values.
  ComputeType compute_type = ComputeType::kFloat32;
  ModelWeights weights;

  // Bytes of all weights as they are held in memory.
  size_t weight_bytes() const;
};

}  // namespace nibu

#endif  // NIBU_ENGINE_MODEL_WEIGHTS_H_
