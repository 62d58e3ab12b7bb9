// Cuts the output layer into blocks, and counts the bytes of weights.
#include "engine/model/weights.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/core/status_macros.h"

namespace nibu::internal {
namespace {

// Adds up what a model holds; what is shared counts once.
struct Sum {
  size_t bytes = 0;
  std::set<const void*> seen;

  void operator()(const std::string&, const LayerNormWeights& norm, const WeightShape&) {
    bytes += (norm.gamma.size() + norm.beta.size()) * sizeof(float);
  }
  void operator()(const std::string&, const std::vector<float>& biases, const WeightShape&) {
    bytes += biases.size() * sizeof(float);
  }
  void operator()(const std::string&, const std::shared_ptr<const EmbeddingTable>& table,
                  const WeightShape&) {
    if (table != nullptr && seen.insert(table.get()).second) bytes += table->bytes();
  }
  void operator()(const std::string&, const Linear& linear, const WeightShape&) {
    const void* packed = linear.packed().get();
    if (packed != nullptr && seen.insert(packed).second) bytes += linear.bytes();
  }
  void operator()(const std::string& name, const OutputWeights& output, const WeightShape& shape) {
    for (const Linear& block : output.blocks) (*this)(name, block, shape);
  }
};

}  // namespace

absl::StatusOr<OutputWeights> OutputWeights::Create(const MatrixView& matrix,
                                                    const TensorView* bias,
                                                    ComputeType compute_type) {
  const Shape& shape = matrix.values.shape;
  if (shape.size() != 2 || !matrix.out_in) {
    return absl::InvalidArgumentError("an output layer must be a matrix [vocabulary, d_model]");
  }
  const int64_t vocabulary = shape[0];
  if (bias != nullptr && bias->elements() != vocabulary) {
    return absl::InvalidArgumentError("the output bias does not fit the vocabulary");
  }
  const auto row_bytes = static_cast<size_t>(shape[1]) * DTypeSize(matrix.values.dtype);
  OutputWeights output;
  for (int64_t first = 0; first < vocabulary; first += kBlock) {
    const int64_t n = std::min<int64_t>(kBlock, vocabulary - first);
    MatrixView rows = matrix;
    rows.values.shape = {n, shape[1]};
    rows.values.data =
        static_cast<const char*>(matrix.values.data) + static_cast<size_t>(first) * row_bytes;
    if (matrix.scales.size() > 1) {
      rows.scales = matrix.scales.subspan(static_cast<size_t>(first), static_cast<size_t>(n));
    }
    std::vector<TensorView> biases;
    if (bias != nullptr) {
      biases.push_back(*bias);
      biases[0].shape = {n};
      biases[0].data = static_cast<const char*>(bias->data) +
                       static_cast<size_t>(first) * DTypeSize(bias->dtype);
    }
    NIBU_ASSIGN_OR_RETURN(Linear block,
                          Linear::Create({rows}, biases, Activation::kNone, compute_type));
    output.blocks.push_back(std::move(block));
  }
  return output;
}

size_t Model::weight_bytes() const {
  Sum sum;
  ForEachWeight(config, weights, sum);
  return sum.bytes;
}

}  // namespace nibu::internal
