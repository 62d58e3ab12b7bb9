// The shape of an encoder-decoder Transformer, independent of any file format.
#ifndef NIBU_ENGINE_MODEL_CONFIG_H_
#define NIBU_ENGINE_MODEL_CONFIG_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "engine/attention/mixer_spec.h"
#include "engine/ops/activation.h"
#include "engine/ops/embedding.h"

namespace nibu::internal {

// Where a sublayer f is normalized (Xiong et al. 2020):
enum class NormOrder : uint8_t {
  kPost,  // x = LN(x + f(x)), the original Transformer
  kPre,   // x = x + f(LN(x))
};

enum class NormKind : uint8_t {
  kLayer,  // (x - mean) / sqrt(var + epsilon) * gamma + beta (Ba et al. 2016)
  kRms,    // x / sqrt(mean(x^2) + epsilon) * gamma (Zhang and Sennrich 2019)
};

// The sublayer by which a decoder layer takes in the tokens generated so far.
enum class DecoderMemory : uint8_t {
  kSelfAttention,
  kSsru,  // the simpler simple recurrent unit (Kim et al. 2019): see SsruWeights
};

struct ModelConfig {
  // Dimensions. D = d_model, H = heads, V = vocabulary.
  int d_model = 0;
  int heads_encoder = 0;
  int heads_decoder = 0;
  int ffn_encoder = 0;
  int ffn_decoder = 0;
  int layers_encoder = 0;
  int layers_decoder = 0;
  int vocab_source = 0;
  int vocab_target = 0;
  int d_head = 0;  // size of a head; 0: D / heads

  Activation activation = Activation::kRelu;
  bool gated_ffn = false;     // see FeedForwardWeights
  float attention_scale = 0;  // of the products q k^T; 0: 1 / sqrt(size of a head)
  NormKind norm_kind = NormKind::kLayer;
  NormOrder norm_order = NormOrder::kPost;
  float norm_epsilon = 1e-5f;
  // Embeddings are multiplied by this (sqrt(D), or 1).
  float embedding_scale = 1.0f;
  // The decoder's output is multiplied by this before the output layer. Other than 1 only with
  // final_norm, into which BuildModel puts it.
  float output_scale = 1.0f;
  bool embedding_norm = false;  // a norm after embedding + position
  bool final_norm = false;      // a norm after the last layer of each stack

  DecoderMemory decoder_memory = DecoderMemory::kSelfAttention;
  // The mechanisms by which encoder layers attend to themselves, and decoder layers to the source:
  // one for all layers, or one for each. None stands for full attention.
  std::vector<MixerSpec> encoder_attention;
  std::vector<MixerSpec> cross_attention;

  // Whose cross-attention says which source token a generated one comes from: a decoder layer's
  // (from 0; -1: the last one's, and so on), the mean of its first heads (0: of all).
  int alignment_layer = -1;
  int alignment_heads = 0;

  PositionKind position_kind = PositionKind::kSinusoidalHalf;
  int position_offset = 0;
  // kRelative: see DistanceBiases. kRelativeVectors has the distance alone, M of RelativeVectors.
  int position_buckets = 32;
  int position_max_distance = 128;
  // Longest sequence, EOS included, that the model can take.
  int max_positions = 0;

  // Token ids. The source gets `source_suffix` appended (EOS, as a rule).
  int eos = 0;
  int unk = 1;  // of the source
  int unk_target = 1;
  int decoder_start = 0;  // -1: the decoder starts from a zero vector
  std::vector<int> source_suffix;
  // Never generated (padding, <unk> where the system it comes from bans it).
  std::vector<int> suppressed;
  // The tokens that the output layer has, in the order of its outputs: ascending. Others are never
  // generated. Empty: all of them.
  std::vector<int> output_tokens;

  int outputs() const {
    return output_tokens.empty() ? vocab_target : static_cast<int>(output_tokens.size());
  }
  int head_dim(int heads) const { return d_head > 0 ? d_head : d_model / heads; }
  // Columns of a stack's queries (keys, values), all heads: D, as a rule.
  int inner_encoder() const { return heads_encoder * head_dim(heads_encoder); }
  int inner_decoder() const { return heads_decoder * head_dim(heads_decoder); }

  // Returns the mechanism of an encoder layer, and of a decoder layer's cross-attention.
  MixerSpec encoder_mixer(int layer) const { return MixerOf(encoder_attention, layer); }
  MixerSpec cross_mixer(int layer) const { return MixerOf(cross_attention, layer); }

  // InvalidArgument naming the field that makes no sense (zero sizes, D not a multiple of the
  // heads, ids outside the vocabulary, ...).
  absl::Status Validate() const;

 private:
  static MixerSpec MixerOf(const std::vector<MixerSpec>& mixers, int layer) {
    if (mixers.empty()) return {};
    MixerSpec spec = mixers[mixers.size() == 1 ? 0 : static_cast<size_t>(layer)];
    spec.layer = layer;
    return spec;
  }
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_CONFIG_H_
