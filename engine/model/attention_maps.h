// Everything that the attentions of a model compute for one sentence, for people to look at.
#ifndef NIBU_ENGINE_MODEL_ATTENTION_MAPS_H_
#define NIBU_ENGINE_MODEL_ATTENTION_MAPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/attention/attention_spec.h"
#include "engine/model/weights.h"

namespace nibu::internal {

// One attention of a layer. Letters: H heads of size d, I = H d, N queries, M keys. Keys are those
// that the queries see: of mechanisms with fewer keys than positions, the reduced or sampled ones.
struct AttentionMap {
  int layer = 0;
  int part = 0;     // of a layer of two parts (MixerSpec::has_two_parts): 0 windows, 1 grid
  MixerSpec mixer;  // of masked self-attention, CausalAttention
  int heads = 0;
  int queries = 0;
  int keys = 0;
  // Values are summed with the weights, and the softmax takes the scores, which are -infinity where
  // the mechanism hides a key from a query: [H, N, M]. Rows of weights sum to 1 (local-p's to
  // less). Both are empty if the mechanism weighs no keys.
  std::vector<float> weights;
  std::vector<float> scores;
  // The layer's maps make these of its input; stored keys and values are rounded to their number
  // type later, and means are taken before. They are empty if the mechanism is no attention.
  std::vector<float> q;        // [N, I]
  std::vector<float> k;        // [M, I]
  std::vector<float> v;        // [M, I]
  std::vector<float> centres;  // [N], the place p of each query of PredictedWindow; else empty
  std::vector<float> places;   // [M], where DeformableAttention samples; else empty

  // Copies keys and values, and makes the means that MeanAttention takes of them.
  void KeepKeys(const AttentionSpec& spec, const KeyValueRows& memory);
  // Copies queries, computes the scores, and makes room for the weights. Returns where they go, or
  // null if the mechanism has none. REQUIRES: the keys are kept.
  float* KeepQueries(const AttentionSpec& spec, const Queries& all);
};

// Letters: S source tokens, T tokens that the decoder reads.
struct AttentionMaps {
  // One for each layer, in layers of two parts one for each part; none for an SSRU.
  using Layers = std::vector<AttentionMap>;

  Layers encoder;  // N = S
  Layers decoder;  // N = M = T: row t's token says what is next
  Layers cross;    // N = T
};

// Runs the encoder over `source` (its frame included) and the decoder over `target` (from
// decoder_start on), on this thread. DecodingOptions::return_attention returns the mean of a
// layer's cross-attention. Returns InvalidArgument for ids or lengths that the model does not have,
// and ResourceExhausted if there is no memory.
absl::StatusOr<AttentionMaps> FindAttention(const Model& model, absl::Span<const int> source,
                                            absl::Span<const int> target);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_ATTENTION_MAPS_H_
