// What a model attends to in one sentence: every attention matrix of it, for people to look at.
#ifndef NIBU_ENGINE_MODEL_ATTENTION_MAPS_H_
#define NIBU_ENGINE_MODEL_ATTENTION_MAPS_H_

#include <vector>

namespace nibu {

// Letters: H heads, S source tokens, T tokens that the decoder reads. Rows are queries and sum
// to 1.
struct AttentionMaps {
  // Of each layer the softmax of its heads; empty: the layer has none (an SSRU, pooling, ...).
  using Layers = std::vector<std::vector<float>>;

  Layers encoder;  // [H, S, S]
  Layers decoder;  // [H, T, T]: row t's token says what is next; 0 above the diagonal
  Layers cross;    // [H, T, S]
};

}  // namespace nibu

#endif  // NIBU_ENGINE_MODEL_ATTENTION_MAPS_H_
