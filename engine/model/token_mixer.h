// Computes the parts of mixers (MixerSpec; engine/attention/mixers has the definitions) that a
// layer's maps and its attention do not cover. All sentences of a batch come at once, their rows
// one after the other; each sentence's result is the same whatever else is in the call.
//
// Letters: D = d_model, I = columns of all heads.
#ifndef NIBU_ENGINE_MODEL_TOKEN_MIXER_H_
#define NIBU_ENGINE_MODEL_TOKEN_MIXER_H_

#include "absl/types/span.h"
#include "engine/model/attention_maps.h"
#include "engine/model/layers.h"
#include "engine/model/weights.h"

namespace nibu::internal {

// A part of an encoder layer that mixes positions, and what it mixes.
struct MixerCall {
  const ModelConfig& config;
  const MixerSpec& spec;
  const EncoderPartWeights& layer;
  absl::Span<const absl::Span<const int>> sources;
  RowSpan<const float> in;      // [rows, D], of the sublayer
  AttentionMap* map = nullptr;  // receives what the attention computes; null: not asked for
};

// Sets out [rows, D] to what a mixer that is no attention makes of the rows. REQUIRES: the mixer is
// no attention.
void MixTokens(const MixerCall& call, Workspace* workspace, RowSpan<float> out);

// Returns the rows [q, k, v] that have the keys and values, spec.mapped_keys(n) of them for a
// sentence of n tokens: `qkv` [rows, 3 I], which has the queries, or others in the arena.
RowSpan<const float> KeyRows(const MixerCall& call, RowSpan<const float> qkv, Workspace* workspace);

// Returns LN(W [x_1; ...; x_R] + b) of every R neighbours of x [rows, D], which are sentences of
// `lengths` rows: [keys, D] in the arena, ceil(n / R) for a sentence of n rows. REQUIRES: the
// lengths add up to the rows.
RowSpan<const float> ReduceRows(const ModelConfig& config, const MixerWeights& own, int reduction,
                                RowSpan<const float> x, absl::Span<const int> lengths,
                                Workspace* workspace);

// Rows one after another, the queries to the keys of one sentence.
struct QueryGroup {
  int rows;
  int keys;
};
// Predicts the place that each row of x [rows, D] looks at (PredictedWindow). Returns the places in
// the arena. REQUIRES: the groups have as many rows as x.
const float* PredictCentres(const ModelConfig& config, const MixerWeights& own,
                            RowSpan<const float> x, absl::Span<const QueryGroup> groups,
                            Workspace* workspace);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_TOKEN_MIXER_H_
