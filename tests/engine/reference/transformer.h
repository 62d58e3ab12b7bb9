// A Transformer as the papers define it, to which the engine is compared: double precision, one
// sentence, no caches, no batches.
#ifndef NIBU_TESTS_ENGINE_REFERENCE_TRANSFORMER_H_
#define NIBU_TESTS_ENGINE_REFERENCE_TRANSFORMER_H_

#include <functional>
#include <memory>
#include <vector>

#include "engine/model/weights.h"
#include "tests/engine/reference/cross_attention.h"

namespace nibu::internal {
namespace reference {

using Maps = std::vector<std::vector<Matrix>>;  // [layer][head], 0 where masked

struct Map {
  int in = 0;
  int out = 0;
  std::vector<float> weight;  // [out, in]
  std::vector<float> bias;    // [out]
};

struct Norm {
  std::vector<float> gamma;
  std::vector<float> beta;
};

struct Attention {
  Map q, k, v, out;
  Norm norm;
  std::vector<float> relative_keys = {};  // [2 M + 1, size of a head]
  std::vector<float> relative_values = {};
};

struct FeedForward {
  Map up, gate, down;
  Norm norm;
};

struct Layer {
  Attention self;   // an SSRU's gate is q, its value k
  Attention cross;  // decoder only
  FeedForward ffn;
  CrossMixer mixer = {};  // decoder only
};

// A Transformer of the given shape with random weights.
class Transformer {
 public:
  Transformer(const ModelConfig& config, uint32_t seed);

  // Returns the same model for the engine.
  std::shared_ptr<const Model> Build(ComputeType compute_type) const;

  // Encodes a source, source_suffix included, to rows [S, D]. `maps`: gets the attention matrices.
  Matrix Encode(const std::vector<int>& source, Maps* maps = nullptr) const;
  // Returns the log-probabilities of the next token after the prefix; those of config.suppressed
  // are missing.
  std::vector<double> NextLogProbs(const Matrix& encoded, const std::vector<int>& prefix) const;
  // The logits of the next token after all that the decoder reads, and its attention matrices.
  struct Output {
    std::vector<double> logits;
    Maps self;  // empty with an SSRU
    Maps cross;
  };
  Output Decode(const Matrix& encoded, const std::vector<int>& tokens) const;

  const ModelConfig& config() const { return config_; }

 private:
  Matrix Embed(const std::vector<int>& tokens, const std::vector<float>& table,
               const Norm& norm) const;
  Matrix Sublayer(const Norm& norm, const Matrix& x,
                  const std::function<Matrix(const Matrix&)>& f) const;
  // `biases`: of the distances, [buckets, H]; null: none. `maps`: gets the attention matrix of each
  // head; null: not asked for.
  Matrix Attend(const Attention& weights, const Matrix& x, const Matrix& memory, int heads,
                bool causal, const std::vector<float>* biases,
                std::vector<Matrix>* maps = nullptr) const;
  Matrix AttendToSource(const Layer& layer, const Matrix& x, const Matrix& encoded,
                        std::vector<Matrix>* maps) const;
  // Returns the factor of the products of queries and keys.
  double Scale(int heads) const;
  Matrix Recur(const Attention& weights, const Matrix& x) const;
  Matrix Apply(const FeedForward& weights, const Matrix& x) const;
  Matrix Normalize(const Norm& norm, const Matrix& x) const;

  ModelConfig config_;
  std::vector<float> source_table_;
  std::vector<float> target_table_;
  std::vector<float> position_table_;                 // learned
  std::vector<float> source_biases_, target_biases_;  // relative
  Norm source_norm_, target_norm_, encoder_norm_, decoder_norm_;
  std::vector<Layer> encoder_;
  std::vector<Layer> decoder_;
  Map output_;
};

}  // namespace reference

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_REFERENCE_TRANSFORMER_H_
