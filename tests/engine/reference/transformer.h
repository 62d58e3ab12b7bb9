// A Transformer as it is written in the papers: double precision, one sentence, no caches, no
// batches. What the engine is compared with.
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

// Random weights of a shape.
class Transformer {
 public:
  Transformer(const ModelConfig& config, uint32_t seed);

  // The same model for the engine.
  std::shared_ptr<const Model> Build(ComputeType compute_type) const;

  // [S, D] for a source, source_suffix included; `maps`: what it attends to.
  Matrix Encode(const std::vector<int>& source, Maps* maps = nullptr) const;
  // Log-probabilities of the next token after the prefix (config.suppressed has none).
  std::vector<double> NextLogProbs(const Matrix& encoded, const std::vector<int>& prefix) const;
  // Logits of the next token after all that the decoder reads; what it attends to.
  struct Output {
    std::vector<double> logits;
    Maps self;  // none of an SSRU
    Maps cross;
  };
  Output Decode(const Matrix& encoded, const std::vector<int>& tokens) const;

  const ModelConfig& config() const { return config_; }

 private:
  Matrix Embed(const std::vector<int>& tokens, const std::vector<float>& table,
               const Norm& norm) const;
  Matrix Sublayer(const Norm& norm, const Matrix& x,
                  const std::function<Matrix(const Matrix&)>& f) const;
  // `biases`: of the distances, [buckets, H]; null: none. `maps`: where each head's softmax
  // goes; null: not asked for.
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
