// What the encoder's and the decoder's layers have in common.
#ifndef NIBU_ENGINE_MODEL_LAYERS_H_
#define NIBU_ENGINE_MODEL_LAYERS_H_

#include <cstddef>

#include "engine/core/aligned_buffer.h"
#include "engine/core/arena.h"
#include "engine/core/profile.h"
#include "engine/model/weights.h"
#include "engine/ops/layer_norm.h"
#include "engine/ops/linear.h"

namespace nibu {

// One worker's primitives, scratch memory and clock. Not thread-safe; used by the thread that made
// it.
struct Workspace {
  MatmulContext matmul;
  Arena arena;
  Profile profile;

  // Scratch for the rows of a matmul, its padding included.
  float* Rows(int rows, int columns) {
    return arena.Floats(static_cast<size_t>(MatmulContext::PaddedRows(rows)) *
                        static_cast<size_t>(columns));
  }
};

// Tokens at positions to vectors. Immutable; threads may share it.
class Embedder {
 public:
  // Positions 0 .. positions - 1 will be asked for. `weights` outlives the embedder.
  Embedder(const ModelConfig& config, const EmbeddingWeights& weights, int positions);

  // out [D] = embedding of the token (-1: a zero vector) * scale + position vector.
  void Embed(int token, int position, float* out) const;
  // The norm after it, if the model has one. x [rows, D].
  void Normalize(float* x, int rows) const;

 private:
  const EmbeddingWeights& weights_;
  size_t dim_;
  float scale_;
  float norm_epsilon_;
  AlignedBuffer<float> positions_;  // [positions, D]
};

inline void Normalize(const ModelConfig& config, const LayerNormWeights& norm, const float* x,
                      const float* y, int rows, float* out) {
  LayerNorm(norm.gamma.data(), norm.beta.data(), config.norm_epsilon, x, y, rows, config.d_model,
            out);
}

// x = LN(x + f(x)) (post-norm) or x + f(LN(x)) (pre-norm), x [rows, D]. `f(in, out)` maps [rows, D]
// to [rows, D]; in and out have room for the padding rows of a matmul.
template <typename F>
void Sublayer(const ModelConfig& config, const LayerNormWeights& norm, Workspace* workspace,
              int rows, float* x, F f) {
  float* y = workspace->Rows(rows, config.d_model);
  if (config.norm_order == NormOrder::kPost) {
    f(x, y);
    Normalize(config, norm, x, y, rows, x);
  } else {
    float* normalized = workspace->Rows(rows, config.d_model);
    Normalize(config, norm, x, nullptr, rows, normalized);
    f(normalized, y);
    Add(y, static_cast<long>(rows) * config.d_model, x);
  }
}

}  // namespace nibu

#endif  // NIBU_ENGINE_MODEL_LAYERS_H_
