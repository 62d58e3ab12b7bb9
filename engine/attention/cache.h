// The memory layouts in which a decoder keeps keys and values between its steps, and the functions
// that write and view them.
//
// Letters: H heads, d = size of a head, I = H d, S positions, S' = S
// rounded up to kKeyBlock. Elements are float32, bfloat16, or int8 with a scale for each head of
// each position, x = q * scale, scale = max|x| / 127.
#ifndef NIBU_ENGINE_ATTENTION_CACHE_H_
#define NIBU_ENGINE_ATTENTION_CACHE_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "engine/attention/attention_spec.h"

namespace nibu::internal {

// Keys are kept for the product q k^T as blocks of kKeyBlock positions, each block [d][kKeyBlock],
// so that the 16 scores of a block are one vector: the sum over i of q[i] times row i, with no sum
// across a vector. The last block is filled up with zeros. A cell has one position's keys alone, in
// their order, [H][d].
constexpr int kKeyBlock = 16;
static_assert(FullAttention::kLeastTile == kKeyBlock);
inline size_t PaddedPositions(size_t positions) {
  return (positions + kKeyBlock - 1) / kKeyBlock * kKeyBlock;
}

inline size_t ElementSize(CacheType type) {
  return type == CacheType::kFloat32 ? 4 : type == CacheType::kBFloat16 ? 2 : 1;
}

// In int8, pairs of a source's elements lie together, since the kernels multiply and add two at a
// time: keys [d' / 2][kKeyBlock][2] a block, with d' = d rounded up to even, and values
// [S'' / 2][I][2], with S'' = S rounded up to even. What is added is 0.
struct PackedLayout {
  explicit PackedLayout(CacheType type)
      : element(ElementSize(type)), pair(type == CacheType::kInt8 ? 2 : 1) {}

  size_t KeyBytes(size_t dim) const { return (dim + pair - 1) / pair * pair * element; }

  size_t element;  // bytes
  size_t pair;     // elements
};

// packed [H][S' / kKeyBlock][d][kKeyBlock] from keys [S, I] whose rows are `stride` floats apart.
// REQUIRES: `packed` is 64-byte aligned.
void PackKeys(const AttentionShape& shape, const float* keys, size_t stride, int positions,
              float* packed);
// Elements of the packed keys.
size_t PackedKeySize(const AttentionShape& shape, int positions);

// Returns the bytes that the keys and values of a whole source take in one piece of memory:
//   packed keys | values [S, I], int8 in pairs | int8: scales of the keys [H][S'], of the values
//   [H][S']
// REQUIRES: the memory is 64-byte aligned.
size_t SourceBytes(const AttentionShape& shape, int positions, CacheType type);
// Stores a source from rows of I keys and I values, [S, 2 I].
void StoreSource(const AttentionShape& shape, const float* keys_values, int positions,
                 CacheType type, void* memory);
KeysValues ViewSource(const AttentionShape& shape, int positions, CacheType type,
                      const void* memory);
// Returns a view of positions begin .. end - 1. REQUIRES: 0 <= begin < end <= source.positions;
// `begin` is a multiple of kKeyBlock; so is `end`, unless it is the number of positions.
KeysValues SliceSource(const AttentionShape& shape, const KeysValues& source, int begin, int end);
// Sets `rows` [S, 2 I] to what StoreSource was given. REQUIRES: float32.
void UnpackSource(const AttentionShape& shape, const KeysValues& source, float* rows);

// A cell, the keys and values of one position:
//   I keys | I values | int8: scales of the keys [H], of the values [H]
size_t CellBytes(const AttentionShape& shape, CacheType type);
// Returns the byte at which the scales of an int8 cell begin.
inline size_t CellScales(const AttentionShape& shape) {
  return (2 * static_cast<size_t>(shape.heads * shape.head_dim) + 3) / 4 * 4;
}
// Stores a cell from I keys and I values.
void StoreCell(const AttentionShape& shape, const float* keys_values, CacheType type, void* cell);

// Requests the memory that attention reads next while attention works on something else: keys and
// values lie in too many places for the hardware's prefetchers to find. It refers to the memory
// that its arguments point to, which must outlive it.
class Prefetcher {
 public:
  Prefetcher(const AttentionShape& shape, const KeysValues& memory);
  // Leaves out cells that `near` has at the same index: these are being read already.
  Prefetcher(const AttentionShape& shape, const CellHistory& history,
             absl::Span<void* const> near = {});
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // Requests the next part; there are two for each head.
  void Advance();

 private:
  void* source_ = nullptr;
  absl::Span<void* const> cells_;  // or the one source
  absl::Span<void* const> near_;
  size_t offset_ = 0;
  size_t lines_;     // of each cell, or of the source
  size_t step_;      // lines in a part
  size_t cell_ = 0;  // of the next line
  size_t line_ = 0;  // the next line in that cell
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_CACHE_H_
