// The logits of the decoder's rows, as far as search asks for them.
#ifndef NIBU_ENGINE_MODEL_OUTPUT_LAYER_H_
#define NIBU_ENGINE_MODEL_OUTPUT_LAYER_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/model/layers.h"
#include "engine/model/weights.h"
#include "engine/ops/top_k.h"

namespace nibu {

// The output layer of a few tokens, ascending: those worth it for a sentence. Immutable.
struct OutputSubset {
  std::vector<int> tokens;
  Linear linear;
};

// One worker's; not thread-safe. May throw what a MatmulContext throws, and can be used again.
class OutputLayer {
 public:
  // Both outlive the output layer.
  OutputLayer(const Model& model, Workspace* workspace) : model_(model), workspace_(workspace) {}

  // REQUIRES: at least one token.
  OutputSubset Select(std::vector<int> tokens) const;

  // What is asked of a row of logits.
  struct Query {
    int row;                               // of `hidden`
    int k;                                 // how many of the best tokens
    bool normalize;                        // log-probabilities, else logits
    absl::Span<const int> suppressed;      // tokens of probability 0, ascending
    const OutputSubset* subset = nullptr;  // null: all tokens
  };
  // tops[i] is updated with the logits of row queries[i].row of `hidden`, Decoder::Step's, block by
  // block. Rows ascend; those that nobody asks for cost nothing. Rows of one subset lie side by
  // side. A row's result depends on nothing else.
  void BestTokens(const float* hidden, absl::Span<const Query> queries, absl::Span<TopK> tops);

 private:
  // The same for queries of one subset.
  void BestOfSubset(const float* hidden, absl::Span<const Query> queries, absl::Span<TopK> tops);

  const Model& model_;
  Workspace* workspace_;
};

}  // namespace nibu

#endif  // NIBU_ENGINE_MODEL_OUTPUT_LAYER_H_
