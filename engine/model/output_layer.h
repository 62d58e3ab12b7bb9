// Computes the logits of the decoder's rows, block by block, for whoever chooses tokens.
#ifndef NIBU_ENGINE_MODEL_OUTPUT_LAYER_H_
#define NIBU_ENGINE_MODEL_OUTPUT_LAYER_H_

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/core/log_sum_exp.h"
#include "engine/core/logits.h"
#include "engine/model/layers.h"
#include "engine/model/weights.h"

namespace nibu::internal {

// The output layer of a few tokens, ascending: those that a shortlist has for a sentence.
struct OutputSubset {
  std::vector<int> tokens;
  std::vector<Linear> linears;  // of each model; several subsets may share them
  std::vector<int> columns;     // of the linears, each token's
};

// Computes the logits of a model, or of an ensemble, whose log-probabilities are the weighted means
// of its models'. One worker's; not thread-safe. May throw what a Matmul throws, and can be used
// again.
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

  struct Query {
    int row;                               // of `hidden`
    LogitSink* sink;                       // receives the logits
    const OutputSubset* subset = nullptr;  // null: all tokens
  };
  // Hands the logits of row queries[i].row of each model's `hidden` (Decoder::Step's) to
  // queries[i].sink, block by block. Rows ascend; those that nobody asks for cost nothing. Rows of
  // one subset lie side by side, and so do subsets that share their linears. A row's logits depend
  // on nothing else.
  void Run(absl::Span<const float* const> hidden, absl::Span<const Query> queries);

 private:
  // The rows of some queries, one after the other.
  const float* Gather(const float* hidden, size_t dim, absl::Span<const Query> queries);
  // Run for queries whose subsets share their linears, or that have none.
  void RunShared(absl::Span<const float* const> hidden, absl::Span<const Query> queries);
  // Edits a row's logits of each model and hands them, or their mean, to the query's sink.
  void HandOver(const Query& query, const LogitTokens& tokens, absl::Span<float* const> logits,
                absl::Span<LogSumExp> sums) const;

  const std::vector<Part> models_;
  Workspace* workspace_;
  std::vector<LogSumExp> sums_;  // of an ensemble: [query][model]
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_OUTPUT_LAYER_H_
