// What an encoder layer's mixer needs beside the layer's maps and an attention (MixerSpec;
// engine/attention/mixers has the definitions). All sentences of a batch at once, their rows one
// after the other; each sentence's result is the same whatever else is in the call.
//
// Letters: D = d_model, I = columns of all heads.
#ifndef NIBU_ENGINE_MODEL_TOKEN_MIXER_H_
#define NIBU_ENGINE_MODEL_TOKEN_MIXER_H_

#include "absl/types/span.h"
#include "engine/model/layers.h"
#include "engine/model/weights.h"

namespace nibu::internal {

// A layer that mixes positions, and what.
struct MixerCall {
  const ModelConfig& config;
  const MixerSpec& spec;
  const EncoderLayerWeights& layer;
  absl::Span<const absl::Span<const int>> sources;
  const float* in;  // [rows, D], of the sublayer
};

// Of a mixer that is no attention: out [rows, D].
void MixTokens(const MixerCall& call, Workspace* workspace, float* out);

// Rows [q, k, v] that have the keys and values, spec.keys(n) of them for a sentence of n tokens:
// `qkv` [rows, 3 I], which has the queries, or others in the arena.
const float* KeyRows(const MixerCall& call, const float* qkv, Workspace* workspace);

// The place that the query of each row looks at, in the arena; null unless the mechanism is
// PredictedWindow.
const float* Centres(const MixerCall& call, Workspace* workspace);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_TOKEN_MIXER_H_
