#include "engine/model/weights.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/core/status_macros.h"

namespace nibu {
namespace {

// Adds up what a model holds; maps that layers share count once.
class Sum {
 public:
  size_t bytes() const { return bytes_; }

  void Add(const LayerNormWeights& norm) {
    bytes_ += (norm.gamma.size() + norm.beta.size()) * sizeof(float);
  }
  void Add(const Linear& map) {
    if (map.packed() != nullptr && seen_.insert(map.packed().get()).second) bytes_ += map.bytes();
  }
  void Add(const std::shared_ptr<const EmbeddingTable>& table) {
    if (table != nullptr && seen_.insert(table.get()).second) bytes_ += table->bytes();
  }
  void Add(const EmbeddingWeights& w) {
    Add(w.tokens);
    Add(w.positions);
    Add(w.norm);
    bytes_ += w.distance_biases.size() * sizeof(float);
  }
  void Add(const SelfAttentionWeights& w) {
    Add(w.qkv);
    Add(w.out);
    Add(w.norm);
  }
  void Add(const FeedForwardWeights& w) {
    Add(w.up);
    Add(w.gate);
    Add(w.down);
    Add(w.norm);
  }
  void Add(const EncoderLayerWeights& layer) {
    Add(layer.self);
    Add(layer.ffn);
  }
  void Add(const DecoderLayerWeights& layer) {
    Add(layer.self);
    Add(layer.ssru.gate_value);
    Add(layer.ssru.norm);
    Add(layer.cross.q);
    Add(layer.cross.kv);
    Add(layer.cross.out);
    Add(layer.cross.norm);
    Add(layer.ffn);
  }

 private:
  size_t bytes_ = 0;
  std::set<const void*> seen_;
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
  sum.Add(weights.source);
  sum.Add(weights.target);
  for (const auto& layer : weights.encoder) sum.Add(layer);
  for (const auto& layer : weights.decoder) sum.Add(layer);
  sum.Add(weights.encoder_norm);
  sum.Add(weights.decoder_norm);
  for (const Linear& block : weights.output.blocks) sum.Add(block);
  return sum.bytes();
}

}  // namespace nibu
