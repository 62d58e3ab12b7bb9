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

// The part of the output layer that a sentence with a shortlist needs: the columns of its tokens.
struct OutputSubset {
  std::vector<int> tokens;      // ascending
  std::vector<Linear> linears;  // one for each model; several subsets may share them
  std::vector<int> columns;     // the column of each token in the linears
};

// Computes the logits of a model, or of an ensemble, whose log-probabilities are the weighted means
// of its models'. It belongs to one worker and is not thread-safe. It may throw what a Matmul
// throws, and can be used again.
class OutputLayer {
 public:
  struct Part {
    const Model* model;
    float weight = 1;  // those of an ensemble sum to 1, since nothing divides by their sum
  };
  // The arguments outlive the output layer. The models have the same target vocabulary, of which
  // some may have fewer tokens, and the same output_tokens. Only the tokens that all have get
  // logits.
  OutputLayer(std::vector<Part> models, Workspace* workspace)
      : models_(std::move(models)), workspace_(workspace) {}
  OutputLayer(const Model& model, Workspace* workspace)
      : OutputLayer(std::vector<Part>{{&model}}, workspace) {}

  // Fills in the linears and columns of the subsets of sentences that are decoded together, from
  // their tokens, of which those without an output are removed. Where it is faster, they share one
  // matrix with the columns of all their tokens.
  // The memory is the workspace's. REQUIRES: at least one subset, and at least one token in each;
  // the tokens ascend and are below the vocabulary's size.
  void Select(absl::Span<OutputSubset* const> subsets) const;

  struct Query {
    int row;                               // in `hidden`
    LogitSink* sink;                       // receives the logits
    const OutputSubset* subset = nullptr;  // null: all tokens
  };
  // Hands the logits of row queries[i].row of each model's `hidden`, which Decoder::Step returned,
  // to queries[i].sink, block by block. A row's logits depend on nothing else. Rows that nobody
  // asks for cost nothing. Rows of one subset should lie side by side, and so should subsets that
  // share their linears: they are worked on together. REQUIRES: rows ascend, each row once;
  // `hidden` has rows for each model.
  void Run(absl::Span<const RowSpan<const float>> hidden, absl::Span<const Query> queries);

 private:
  // Returns the rows of some queries, one after the other.
  RowSpan<const float> Gather(RowSpan<const float> hidden, absl::Span<const Query> queries);
  // Does what Run does for queries whose subsets share their linears, or that have none.
  void RunShared(absl::Span<const RowSpan<const float>> hidden, absl::Span<const Query> queries);
  // Lets the query's sink edit the row's logits of each model, then hands them, or their mean, to
  // it.
  void HandOver(const Query& query, const LogitTokens& tokens, absl::Span<float* const> logits,
                absl::Span<LogSumExp> sums) const;

  const std::vector<Part> models_;
  Workspace* workspace_;
  std::vector<LogSumExp> sums_;  // of an ensemble: [query][model]
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_OUTPUT_LAYER_H_
