// The logits of the decoder's rows, as far as search asks for them.
#ifndef NIBU_ENGINE_MODEL_OUTPUT_LAYER_H_
#define NIBU_ENGINE_MODEL_OUTPUT_LAYER_H_

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/model/layers.h"
#include "engine/model/weights.h"
#include "engine/ops/top_k.h"

namespace nibu::internal {

// The output layer of a few tokens, ascending: those worth it for a sentence.
struct OutputSubset {
  std::vector<int> tokens;
  std::vector<Linear> linears;  // of each model; several subsets may share them
  std::vector<int> columns;     // of the linears, each token's
};

// What else a row of logits may be subject to, and asked for.
struct RowRules {
  std::vector<int> suppressed;   // tokens of probability 0
  float repetition_penalty = 1;  // of these tokens, each once
  std::vector<int> repeated;
  std::vector<int> wanted;             // tokens whose log-probabilities are asked for, too
  const Sampling* sampling = nullptr;  // in place of the best tokens; one for each noise
  std::vector<Noise> noises;
};

// Of a model, or of an ensemble, whose log-probabilities are the weighted means of its models'. One
// worker's; not thread-safe. May throw what a MatmulContext throws, and can be used again.
class OutputLayer {
 public:
  struct Part {
    const Model* model;
    float weight = 1;
  };
  // All outlive the output layer. The models have one target vocabulary, as far as that of each
  // goes.
  OutputLayer(std::vector<Part> models, Workspace* workspace)
      : models_(std::move(models)), workspace_(workspace) {}
  OutputLayer(const Model& model, Workspace* workspace)
      : OutputLayer(std::vector<Part>{{&model}}, workspace) {}

  // The subsets of sentences that are decoded together, by their tokens. Where it is faster,
  // they share what all of them need: one product for all rows. Their memory is the workspace's.
  // REQUIRES: a subset, a token in each.
  void Select(absl::Span<OutputSubset* const> subsets) const;

  // What is asked of a row of logits.
  struct Query {
    int row;                               // of `hidden`
    int k;                                 // how many of the best tokens
    bool normalize;                        // log-probabilities, else logits
    absl::Span<const int> suppressed;      // tokens of probability 0
    const OutputSubset* subset = nullptr;  // null: all tokens
    const RowRules* rules = nullptr;       // null: nothing else
  };
  // tops[i] is updated with the logits of row queries[i].row of each model's `hidden`,
  // Decoder::Step's, block by block. Rows ascend; those that nobody asks for cost nothing. Rows of
  // one subset lie side by side, and so do subsets that share their linears. A row's result depends
  // on nothing else.
  void BestTokens(absl::Span<const float* const> hidden, absl::Span<const Query> queries,
                  absl::Span<TopK> tops);

 private:
  // The rows of some queries, one after the other.
  const float* Gather(const float* hidden, size_t dim, absl::Span<const Query> queries);
  // The same for queries whose subsets share their linears, or that have none.
  void BestOfSubset(absl::Span<const float* const> hidden, absl::Span<const Query> queries,
                    absl::Span<TopK> tops);
  // The mean of the models' logits into the first one's.
  void Mix(absl::Span<float* const> logits, size_t n) const;

  const std::vector<Part> models_;
  Workspace* workspace_;
  std::vector<TopK> sums_;  // of an ensemble: [query][model], for the log-sum-exp
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_OUTPUT_LAYER_H_
