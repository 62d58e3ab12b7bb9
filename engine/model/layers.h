// The parts that the encoder's and the decoder's layers have in common: a worker's workspace,
// embeddings, norms, feed-forward and residual sublayers.
#ifndef NIBU_ENGINE_MODEL_LAYERS_H_
#define NIBU_ENGINE_MODEL_LAYERS_H_

#include <cstddef>

#include "engine/attention/attention.h"
#include "engine/core/aligned_buffer.h"
#include "engine/core/arena.h"
#include "engine/core/huge_heap.h"
#include "engine/core/profile.h"
#include "engine/model/weights.h"
#include "engine/ops/linear.h"
#include "engine/ops/matmul.h"
#include "engine/ops/row_kernels.h"

namespace nibu::internal {

// One worker's primitives, memory and clock. Not thread-safe.
struct Workspace {
  explicit Workspace(MatmulKernels kernels = MatmulKernels::kAuto) : matmul(kernels) {}

  HugeHeap heap;
  // Allocates what lasts for a sentence.
  std::pmr::memory_resource* memory = WatchedBySanitizers(&heap);
  Matmul matmul;
  Arena arena;
  Profile profile;

  // Scratch for the rows of a matmul, its padding included.
  float* Rows(int rows, int columns) {
    return arena.Floats(static_cast<size_t>(Matmul::PaddedRows(rows)) *
                        static_cast<size_t>(columns));
  }
};

// Returns the element type in which a decoder keeps keys and values.
inline CacheType CacheTypeOf(const Model& model) { return model.compute_type; }

inline AttentionShape ShapeOf(const ModelConfig& config, int heads) {
  return {heads, config.head_dim(heads), config.attention_scale};
}

// A stack's positions: its tokens at them to vectors. Immutable; threads may share it.
class Embedder {
 public:
  // Positions 0 .. positions - 1 will be asked for. `config` and `weights` outlive the embedder.
  Embedder(const ModelConfig& config, const EmbeddingWeights& weights, int positions);

  // out [D] = embedding of the token (-1: a zero vector) * scale + position vector.
  void Embed(int token, int position, float* out) const;
  // Applies the norm behind the embeddings, if the model has one. x [rows, D].
  void Normalize(float* x, int rows) const;
  // Returns the bias by distance of the stack's self-attention, if the model has one.
  ScoreBias distance_bias() const;

 private:
  const ModelConfig& config_;
  const EmbeddingWeights& weights_;
  size_t dim_;
  size_t count_;                    // of positions
  AlignedBuffer<float> positions_;  // [positions, D], or none
  AlignedBuffer<float> distances_;  // [H, 2 positions - 1], or none
};

// out = the norm of x, or of x + y.
inline void Normalize(const ModelConfig& config, const LayerNormWeights& norm, const float* x,
                      const float* y, int rows, float* out) {
  const float* const beta = config.norm_kind == NormKind::kRms ? nullptr : norm.beta.data();
  LayerNorm(norm.gamma.data(), beta, config.norm_epsilon, x, y, rows, config.d_model, out);
}

// out [rows, D] of in [rows, D]; both have room for the padding rows of a matmul.
void FeedForward(const ModelConfig& config, const FeedForwardWeights& weights, const float* in,
                 int rows, Workspace* workspace, float* out);

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

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_LAYERS_H_
