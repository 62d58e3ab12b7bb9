// Computes the parts of mixers (MixerSpec; engine/attention/mixers has the definitions) that a
// layer's maps and its attention do not cover. All sentences of a batch come at once, their rows
// one after the other; each sentence's result is the same whatever else is in the call.
//
// Letters: D = d_model, I = columns of all heads.
#ifndef NIBU_ENGINE_MODEL_TOKEN_MIXER_H_
#define NIBU_ENGINE_MODEL_TOKEN_MIXER_H_

#include "absl/types/span.h"
#include "engine/model/layers.h"
#include "engine/model/weights.h"

namespace nibu::internal {

// A part of an encoder layer that mixes positions, and what it mixes.
struct MixerCall {
  const ModelConfig& config;
  const MixerSpec& spec;
  const EncoderPartWeights& layer;
  absl::Span<const absl::Span<const int>> sources;
  const float* in;  // [rows, D], of the sublayer
};

// out [rows, D]: what a mixer that is no attention makes of the rows.
void MixTokens(const MixerCall& call, Workspace* workspace, float* out);

// Rows [q, k, v] that have the keys and values, spec.mapped_keys(n) of them for a sentence of n
// tokens: `qkv` [rows, 3 I], which has the queries, or others in the arena.
const float* KeyRows(const MixerCall& call, const float* qkv, Workspace* workspace);

// LN(W [x_1; ...; x_R] + b) of every R neighbours of x [rows, D], which are sentences of `lengths`
// rows: [keys, D] in the arena, ceil(n / R) for a sentence of n rows.
const float* ReduceRows(const ModelConfig& config, const MixerWeights& own, int reduction,
                        const float* x, absl::Span<const int> lengths, Workspace* workspace);

// Rows one after another, the queries to the keys of one sentence.
struct QueryGroup {
  int rows;
  int keys;
};
// Predicts the place that each row of x [rows, D] looks at (PredictedWindow); in the arena.
const float* PredictCentres(const ModelConfig& config, const MixerWeights& own, const float* x,
                            absl::Span<const QueryGroup> groups, Workspace* workspace);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_TOKEN_MIXER_H_
