// All attention matrices of a model for one sentence, for people to look at.
#ifndef NIBU_ENGINE_MODEL_ATTENTION_MAPS_H_
#define NIBU_ENGINE_MODEL_ATTENTION_MAPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/model/weights.h"

namespace nibu::internal {

// Letters: H heads, S source tokens, T tokens that the decoder reads. Rows are queries and sum
// to 1 (local-p's to less).
struct AttentionMaps {
  // The softmax of each layer's heads; empty for a layer that has none (an SSRU, pooling, ...).
  using Layers = std::vector<std::vector<float>>;

  // [H, S, S]; a layer of two parts (MixerSpec::has_two_parts) has 2 H heads, the windows' first.
  Layers encoder;
  Layers decoder;  // [H, T, T]: row t's token says what is next; 0 above the diagonal
  Layers cross;    // [H, T, S]
};

// Runs the encoder over `source` (its frame included) and the decoder over `target` (from
// decoder_start on), on this thread. DecodingOptions::return_attention returns the mean of a
// layer's cross-attention. Returns InvalidArgument for ids or lengths that the model does not have,
// and ResourceExhausted if there is no memory.
absl::StatusOr<AttentionMaps> FindAttention(const Model& model, absl::Span<const int> source,
                                            absl::Span<const int> target);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_ATTENTION_MAPS_H_
