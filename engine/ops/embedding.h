// Token embeddings, positions and distances.
#ifndef NIBU_ENGINE_OPS_EMBEDDING_H_
#define NIBU_ENGINE_OPS_EMBEDDING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/core/aligned_buffer.h"
#include "engine/core/tensor.h"

namespace nibu::internal {

// Which vector is added to the embedding at position p = 0, 1, ...
enum class PositionKind : uint8_t {
  // sin in the first half of the columns, cos in the second half, of the angle
  //   (p + offset) / 10000^(i / (d/2))        Hugging Face Marian
  kSinusoidalHalf,
  //   (p + offset) / 10000^(i / (d/2 - 1))    Marian, fairseq, CTranslate2
  kSinusoidalHalfMinusOne,
  // a stored table, row p + offset
  kLearned,
  // none; self-attention's scores get a bias by the distance of key and query (Raffel et al. 2020)
  kRelative,
  // sin and cos of the angle in turn, columns 2 i and 2 i + 1, of the angle
  //   (p + offset) / 10000^(i / (d/2))        OpenNMT-py
  kSinusoidalInterleaved,
};

// Rows of a table [V, D], kept in the type they were stored in (float32, float16, bfloat16, or int8
// and int16 with scales). Immutable after creation; threads may share it.
class EmbeddingTable {
 public:
  EmbeddingTable() = default;
  // Copies `table`, rank 2. Integers: value / scale; one scale, or one for each row.
  // InvalidArgument: other dtypes, scales that do not fit, non-finite values.
  static absl::StatusOr<EmbeddingTable> Create(const TensorView& table,
                                               absl::Span<const float> scales = {});
  // The same on the table's own memory, which `owner` keeps alive; its values are not looked at.
  static absl::StatusOr<EmbeddingTable> Share(const TensorView& table,
                                              absl::Span<const float> scales,
                                              std::shared_ptr<const void> owner);

  int rows() const { return rows_; }
  int dim() const { return dim_; }
  size_t bytes() const;

  // out[D] = scale * table[row].
  void Lookup(int row, float scale, float* out) const;

 private:
  int rows_ = 0;
  int dim_ = 0;
  DType dtype_ = DType::kFloat32;
  std::vector<float> scales_;  // one, or one a row; empty: not integers
  std::shared_ptr<const void> owner_;
  const char* data_ = nullptr;
};

// positions[P, D] of the sinusoidal formulas, for P positions from `offset` on.
AlignedBuffer<float> SinusoidalPositions(PositionKind kind, int positions, int offset, int dim);

// Self-attention's biases [H, 2 M + 1] for a key that lies d = -M .. M = max_distance positions
// behind its query, from a table [buckets, H] (Raffel et al. 2020). What lies farther away gets
// what M gets. With e buckets of their own for the distances 0 .. e - 1, of n in all, a distance d
// >= e has bucket e + (n - e) log(d / e) / log(M / e), at most n - 1. `both_ways`: n is a half of
// the buckets, the second half being that of d > 0; else keys with d > 0 get what d = 0 gets. e = n
// / 2. REQUIRES: M > e > 0.
std::vector<float> DistanceBiases(absl::Span<const float> table, int heads, bool both_ways,
                                  int max_distance);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_EMBEDDING_H_
