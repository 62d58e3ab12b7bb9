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
#include "engine/ops/linear.h"

namespace nibu::internal {

// The vector that is added to the embedding at position p = 0, 1, ... D is its width.
enum class PositionKind : uint8_t {
  // Columns i and D/2 + i hold the sine and the cosine of the angle
  //   (p + offset) / 10000^(i / (D/2))        Hugging Face Marian
  kSinusoidalHalf,
  //   (p + offset) / 10000^(i / (D/2 - 1))    Marian, fairseq, CTranslate2
  kSinusoidalHalfMinusOne,
  // Row p + offset of a stored table.
  kLearned,
  // No vector is added. Self-attention's scores get a bias by the distance of key and query instead
  // (Raffel et al. 2020).
  kRelative,
  // Columns 2 i and 2 i + 1 hold the sine and the cosine of the angle
  //   (p + offset) / 10000^(i / (D/2))        OpenNMT-py
  kSinusoidalInterleaved,
  // No vector is added. Self-attention's keys and values get vectors by the distance of key and
  // query instead (Shaw et al. 2018): see RelativeVectors.
  kRelativeVectors,
};

// Rows of a table [V, D], kept in the type they were stored in (float32, float16, bfloat16, or int8
// and int16 with scales), or in a smaller one; or those of a map that is tied to the table.
// Immutable after creation; threads may share it.
class EmbeddingTable {
 public:
  EmbeddingTable() = default;
  // Returns the type in which a table of tokens is held for a compute type: that of the compute
  // type, or the stored one, if that is no larger.
  static DType HeldType(DType stored, ComputeType compute_type);
  // Copies `table`, which has rank 2, as HeldType says. A table of integers has one scale, or one
  // for each row, and means value / scale; so does one that becomes int8, with a scale for each
  // row. InvalidArgument: other dtypes, scales that do not fit, non-finite values.
  static absl::StatusOr<EmbeddingTable> Create(const TensorView& table,
                                               absl::Span<const float> scales = {},
                                               ComputeType compute_type = ComputeType::kFloat32);
  // Uses the table's own memory instead, which `owner` keeps alive. Its values are not checked.
  static absl::StatusOr<EmbeddingTable> Share(const TensorView& table,
                                              absl::Span<const float> scales,
                                              std::shared_ptr<const void> owner);

  // Reads the rows from the outputs of a map, whose memory it shares.
  static EmbeddingTable Tie(OutputReader outputs);

  int rows() const { return rows_; }
  int dim() const { return dim_; }
  size_t bytes() const;  // of the values and the scales; 0 if they are those of a map

  // Sets out [D] = scale * table[row]. REQUIRES: 0 <= row < rows().
  void Lookup(int row, float scale, float* out) const;

 private:
  int rows_ = 0;
  int dim_ = 0;
  DType dtype_ = DType::kFloat32;
  std::vector<float> scales_;  // factors: one, or one for each row; empty: values are no integers
  std::shared_ptr<const void> owner_;
  const char* data_ = nullptr;
  std::shared_ptr<const OutputReader> outputs_;  // null: the table has rows of its own
};

// Returns the sinusoidal vectors [positions, dim] for p = 0 .. positions - 1.
AlignedBuffer<float> SinusoidalPositions(PositionKind kind, int positions, int offset, int dim);

// Returns self-attention's biases [H, 2 M + 1] for keys that lie d = -M .. M positions behind their
// query, M = max_distance, from a table [buckets, H] (Raffel et al. 2020). Keys that lie farther
// away get the bias of M.
//
// There are n buckets. The distances |d| = 0 .. e - 1, e = n / 2, have one each; a larger distance
// has bucket e + (n - e) log(|d| / e) / log(M / e), at most n - 1. With `both_ways`, n is half of
// the table's buckets; the first half is for d <= 0, the second for d > 0. Otherwise n is all of
// them, and keys with d > 0 get the bias of d = 0. REQUIRES: M > e > 0.
std::vector<float> DistanceBiases(absl::Span<const float> table, int heads, bool both_ways,
                                  int max_distance);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_EMBEDDING_H_
