// The parts that the encoder's and the decoder's layers have in common: a worker's workspace,
// embeddings, norms, feed-forward and residual sublayers.
#ifndef NIBU_ENGINE_MODEL_LAYERS_H_
#define NIBU_ENGINE_MODEL_LAYERS_H_

#include <cstddef>

#include "absl/base/macros.h"
#include "engine/attention/attention.h"
#include "engine/core/aligned_buffer.h"
#include "engine/core/arena.h"
#include "engine/core/huge_heap.h"
#include "engine/core/profile.h"
#include "engine/core/row_span.h"
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

  // Returns scratch [rows, columns] in the arena, with room for a matmul's padding and for `more`
  // rows beyond that.
  RowSpan<float> Rows(int rows, int columns, int more = 0) {
    const int room = Matmul::RoomFor(rows) + more;
    return {arena.Floats(static_cast<size_t>(room) * static_cast<size_t>(columns)), rows, columns,
            room};
  }
};

// Returns the element type in which a decoder keeps keys and values.
inline CacheType CacheTypeOf(const Model& model) {
  return HasInt8Inputs(model.compute_type) ? CacheType::kInt8 : model.compute_type;
}

inline AttentionShape ShapeOf(const ModelConfig& config, int heads) {
  return {heads, config.head_dim(heads), config.attention_scale};
}

// Embeds the tokens of a stack (the encoder or the decoder): token embedding times scale, plus the
// position's vector. Immutable; threads may share it.
class Embedder {
 public:
  // Positions 0 .. positions - 1 will be asked for. `config` and `weights` outlive the embedder.
  Embedder(const ModelConfig& config, const EmbeddingWeights& weights, int positions);

  // out [D] = embedding of the token (-1: a zero vector) * scale + position vector.
  void Embed(int token, int position, float* out) const;
  // Applies the norm behind the embeddings to x [rows, D], if the model has one.
  void Normalize(RowSpan<float> x) const;
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

// Sets out to the norm of x, or of x + y if y is not null. `y` and `out` are as large as x.
// REQUIRES: the norm has as many numbers as x has columns.
inline void Normalize(const ModelConfig& config, const LayerNormWeights& norm,
                      RowSpan<const float> x, const float* y, float* out) {
  ABSL_ASSERT(norm.gamma.size() == static_cast<size_t>(x.columns()));
  const float* const beta = config.norm_kind == NormKind::kRms ? nullptr : norm.beta.data();
  LayerNorm(norm.gamma.data(), beta, config.norm_epsilon, x.data(), y, x.rows(), x.columns(), out);
}

// Sets out [rows, D] to the feed-forward sublayer of in [rows, D].
void FeedForward(const ModelConfig& config, const FeedForwardWeights& weights,
                 RowSpan<const float> in, Workspace* workspace, RowSpan<float> out);

// x = LN(x + f(x)) (post-norm) or x + f(LN(x)) (pre-norm), x [rows, D]. `f(in, out)` maps [rows, D]
// to [rows, D]; x, in and out have room for the padding rows of a matmul.
template <typename F>
void Sublayer(const ModelConfig& config, const LayerNormWeights& norm, Workspace* workspace,
              RowSpan<float> x, F f) {
  const RowSpan<float> y = workspace->Rows(x.rows(), config.d_model);
  if (config.norm_order == NormOrder::kPost) {
    f(x, y);
    Normalize(config, norm, x, y.data(), x.data());
  } else {
    const RowSpan<float> normalized = workspace->Rows(x.rows(), config.d_model);
    Normalize(config, norm, x, nullptr, normalized.data());
    f(normalized, y);
    Add(y.data(), static_cast<long>(x.rows()) * config.d_model, x.data());
  }
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_LAYERS_H_
