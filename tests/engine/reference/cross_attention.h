// The mechanisms of cross-attention as they are defined (engine/attention/mixers/README.md): double
// precision, whole matrices, one sentence.
#ifndef NIBU_TESTS_ENGINE_REFERENCE_CROSS_ATTENTION_H_
#define NIBU_TESTS_ENGINE_REFERENCE_CROSS_ATTENTION_H_

#include <vector>

#include "engine/attention/mixer_spec.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace reference {

using Matrix = std::vector<std::vector<double>>;  // rows

// The weights that a mechanism has of its own. Those that it does not need are empty.
struct CrossMixer {
  CrossMixer() = default;
  CrossMixer(const ModelConfig& config, const MixerSpec& spec, uint32_t seed);
  // Returns the same weights for the engine.
  MixerWeights Build(ComputeType type) const;

  MixerSpec spec;
  int heads = 0;
  int dim = 0;  // the size of a head
  int model_dim = 0;
  std::vector<float> score, score_vector;
  std::vector<float> centre, centre_bias, centre_vector;
  std::vector<float> reduce, reduce_bias, gamma, beta;
};

// Returns the rows that keys and values are made of: `encoded` itself, or what a reduction makes of
// it. `config` says which norm the model has.
Matrix CrossRows(const CrossMixer& mixer, const ModelConfig& config, const Matrix& encoded);

// Returns the context of every row of `x`, which `q` is made of, [T, I]. Adds to `maps`, if not
// null, the attention matrix [T, S] of each head.
Matrix CrossAttend(const CrossMixer& mixer, double scale, const Matrix& x, const Matrix& q,
                   const Matrix& k, const Matrix& v, int source_length, std::vector<Matrix>* maps);

// Returns random mechanisms, one for each layer.
std::vector<MixerSpec> RandomCrossAttention(Random* random, int layers);

}  // namespace reference
}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_REFERENCE_CROSS_ATTENTION_H_
