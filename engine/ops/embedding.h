// Token embeddings and positions.
#ifndef NIBU_ENGINE_OPS_EMBEDDING_H_
#define NIBU_ENGINE_OPS_EMBEDDING_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/core/aligned_buffer.h"
#include "engine/core/tensor.h"
#include "engine/model/config.h"

namespace nibu {

// Rows of a table [V, D], kept in the type they were stored in (float32, float16 or bfloat16).
// Immutable after creation; threads may share it.
class EmbeddingTable {
 public:
  EmbeddingTable() = default;
  // Copies `table`, rank 2. InvalidArgument for other dtypes and for non-finite values.
  static absl::StatusOr<EmbeddingTable> Create(const TensorView& table);

  int rows() const { return rows_; }
  int dim() const { return dim_; }
  size_t bytes() const { return data_.size(); }

  // out[D] = scale * table[row].
  void Lookup(int row, float scale, float* out) const;

 private:
  int rows_ = 0;
  int dim_ = 0;
  DType dtype_ = DType::kFloat32;
  AlignedBuffer<char> data_;
};

// positions[P, D] of the sinusoidal formulas in config.h, for P positions from `offset` on.
AlignedBuffer<float> SinusoidalPositions(PositionKind kind, int positions, int offset, int dim);

}  // namespace nibu

#endif  // NIBU_ENGINE_OPS_EMBEDDING_H_
