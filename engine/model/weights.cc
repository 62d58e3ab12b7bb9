#include "engine/model/weights.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/core/status_macros.h"

namespace nibu {
namespace {

size_t Bytes(const LayerNormWeights& norm) {
  return (norm.gamma.size() + norm.beta.size()) * sizeof(float);
}
size_t Bytes(const SelfAttentionWeights& w) {
  return w.qkv.bytes() + w.out.bytes() + Bytes(w.norm);
}
size_t Bytes(const SsruWeights& w) { return w.gate_value.bytes() + Bytes(w.norm); }
size_t Bytes(const CrossAttentionWeights& w) {
  return w.q.bytes() + w.kv.bytes() + w.out.bytes() + Bytes(w.norm);
}
size_t Bytes(const FeedForwardWeights& w, bool gated) {
  return w.up.bytes() + (gated ? w.gate.bytes() : 0) + w.down.bytes() + Bytes(w.norm);
}
size_t Bytes(const EmbeddingWeights& w) {
  return Bytes(w.norm) + w.distance_biases.size() * sizeof(float);
}

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
  size_t bytes = Bytes(weights.encoder_norm) + Bytes(weights.decoder_norm) + Bytes(weights.source) +
                 Bytes(weights.target);
  const std::set<const EmbeddingTable*> tables = {
      weights.source.tokens.get(), weights.source.positions.get(), weights.target.tokens.get(),
      weights.target.positions.get()};
  for (const EmbeddingTable* table : tables) bytes += table != nullptr ? table->bytes() : 0;
  for (const auto& layer : weights.encoder) {
    bytes += Bytes(layer.self) + Bytes(layer.ffn, config.gated_ffn);
  }
  for (const auto& layer : weights.decoder) {
    bytes += config.decoder_memory == DecoderMemory::kSsru ? Bytes(layer.ssru) : Bytes(layer.self);
    bytes += Bytes(layer.cross) + Bytes(layer.ffn, config.gated_ffn);
  }
  for (const Linear& block : weights.output.blocks) bytes += block.bytes();
  return bytes;
}

}  // namespace nibu
