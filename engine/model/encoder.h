// The encoder: turns the tokens of sources into the rows that the decoder's cross-attention reads.
// encoder.cc opens with the equations.
#ifndef NIBU_ENGINE_MODEL_ENCODER_H_
#define NIBU_ENGINE_MODEL_ENCODER_H_

#include "absl/types/span.h"
#include "engine/model/attention_maps.h"
#include "engine/model/layers.h"
#include "engine/model/weights.h"

namespace nibu::internal {

// Encodes several sentences at once, their tokens one after the other: no padding, and each
// sentence's result is the same whatever else is in the call. Returns [sum of lengths, D] in the
// workspace's arena, valid until a Rewind, with room for a matmul's padding. `maps`: receives what
// each attention computes; null: not asked for. REQUIRES: at least one source, each with at least
// one token and no more than the embedder has positions; if `maps` is not null, a single source.
RowSpan<float> Encode(const Model& model, const Embedder& embedder,
                      absl::Span<const absl::Span<const int>> sources, Workspace* workspace,
                      AttentionMaps::Layers* maps = nullptr);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_ENCODER_H_
