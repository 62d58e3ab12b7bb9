// Embeds tokens, and computes the feed-forward sublayer.
#include "engine/model/layers.h"

#include <algorithm>

namespace nibu::internal {

Embedder::Embedder(const ModelConfig& config, const EmbeddingWeights& weights, int positions)
    : config_(config),
      weights_(weights),
      dim_(static_cast<size_t>(config.d_model)),
      count_(static_cast<size_t>(positions)) {
  switch (config.position_kind) {
    case PositionKind::kSinusoidalHalf:
    case PositionKind::kSinusoidalHalfMinusOne:
    case PositionKind::kSinusoidalInterleaved:
      positions_ = SinusoidalPositions(config.position_kind, positions, config.position_offset,
                                       config.d_model);
      break;
    case PositionKind::kLearned:
      positions_ = AlignedBuffer<float>(count_ * dim_);
      for (int p = 0; p < positions; ++p) {
        // The stored table's last row serves every later position, as in Marian.
        const int row = std::min(p + config.position_offset, weights.positions->rows() - 1);
        weights.positions->Lookup(row, 1.0f, positions_.data() + static_cast<size_t>(p) * dim_);
      }
      break;
    case PositionKind::kRelativeVectors:
      break;
    case PositionKind::kRelative: {
      const int most = config.position_max_distance;
      const size_t stored = 2 * static_cast<size_t>(most) + 1;
      distances_ = AlignedBuffer<float>(weights.distance_biases.size() / stored * (2 * count_ - 1));
      float* to = distances_.data();
      const auto& biases = weights.distance_biases;
      for (const float* head = biases.data(); head < biases.data() + biases.size();
           head += stored) {
        for (int d = 1 - positions; d < positions; ++d) {
          *to++ = head[std::clamp(d, -most, most) + most];
        }
      }
      break;
    }
  }
}

ScoreBias Embedder::distance_bias() const {
  if (distances_.size() == 0) return {};
  return {distances_.data() + count_ - 1, 2 * count_ - 1};
}

void Embedder::Embed(int token, int position, float* out) const {
  ABSL_ASSERT(-1 <= token && token < weights_.tokens->rows());
  ABSL_ASSERT(0 <= position && static_cast<size_t>(position) < count_);
  if (token < 0) {
    std::fill_n(out, dim_, 0.0f);
  } else {
    weights_.tokens->Lookup(token, config_.embedding_scale, out);
  }
  if (positions_.size() == 0) return;
  Add(positions_.data() + static_cast<size_t>(position) * dim_, static_cast<long>(dim_), out);
}

void Embedder::Normalize(RowSpan<float> x) const {
  if (weights_.norm.gamma.empty()) return;
  nibu::internal::Normalize(config_, weights_.norm, x, nullptr, x.data());
}

void FeedForward(const ModelConfig& config, const FeedForwardWeights& weights,
                 RowSpan<const float> in, Workspace* workspace, RowSpan<float> out) {
  Matmul& matmul = workspace->matmul;
  if (!config.gated_ffn) {
    matmul.ApplyPair(weights.up, weights.down, in, out);
    return;
  }
  const RowSpan<float> x = workspace->Rows(in.rows(), weights.up.out());
  const RowSpan<float> gate = workspace->Rows(in.rows(), weights.gate.out());
  matmul.Apply(weights.up, in, x);
  matmul.Apply(weights.gate, in, gate);
  Multiply(gate.data(), static_cast<long>(x.rows()) * x.columns(), x.data());
  matmul.Apply(weights.down, x, out);
}

}  // namespace nibu::internal
