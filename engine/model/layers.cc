#include "engine/model/layers.h"

#include <algorithm>

namespace nibu {

Embedder::Embedder(const ModelConfig& config, const EmbeddingWeights& weights, int positions)
    : weights_(weights),
      dim_(static_cast<size_t>(config.d_model)),
      scale_(config.embedding_scale),
      norm_epsilon_(config.norm_epsilon) {
  if (config.position_kind != PositionKind::kLearned) {
    positions_ = SinusoidalPositions(config.position_kind, positions, config.position_offset,
                                     config.d_model);
    return;
  }
  positions_ = AlignedBuffer<float>(static_cast<size_t>(positions) * dim_);
  for (int p = 0; p < positions; ++p) {
    // The stored table's last row serves every later position, as in Marian.
    const int row = std::min(p + config.position_offset, weights.positions->rows() - 1);
    weights.positions->Lookup(row, 1.0f, positions_.data() + static_cast<size_t>(p) * dim_);
  }
}

void Embedder::Embed(int token, int position, float* out) const {
  const float* vector = positions_.data() + static_cast<size_t>(position) * dim_;
  if (token < 0) {
    std::copy_n(vector, dim_, out);
    return;
  }
  weights_.tokens->Lookup(token, scale_, out);
  Add(vector, static_cast<long>(dim_), out);
}

void Embedder::Normalize(float* x, int rows) const {
  if (weights_.norm.gamma.empty()) return;
  LayerNorm(weights_.norm.gamma.data(), weights_.norm.beta.data(), norm_epsilon_, x, nullptr, rows,
            static_cast<int>(dim_), x);
}

}  // namespace nibu
