// How keys and values are kept between the steps of a decoder.
//
// Letters: H heads, d = size of a head, D = H d, S positions, S' = S rounded up to kKeyBlock.
// Elements are float32, bfloat16, or int8 with a scale for each head of each position,
// x = q * scale, scale = max|x| / 127.
#ifndef NIBU_ENGINE_ATTENTION_CACHE_H_
#define NIBU_ENGINE_ATTENTION_CACHE_H_

#include <cstddef>
#include <cstdint>

#include "engine/attention/attention.h"

namespace nibu {

// Keys are kept for the product q k^T as blocks of kKeyBlock positions, each block [d][kKeyBlock],
// so that the scores of a block are plain vector sums. The last block is filled up with zeros.
constexpr int kKeyBlock = 16;
inline size_t PaddedPositions(size_t positions) {
  return (positions + kKeyBlock - 1) / kKeyBlock * kKeyBlock;
}

inline size_t ElementSize(CacheType type) {
  return type == CacheType::kFloat32 ? 4 : type == CacheType::kBFloat16 ? 2 : 1;
}

// packed [H][S' / kKeyBlock][d][kKeyBlock], 64-byte aligned, from keys [S, D] whose rows are
// `stride` floats apart.
void PackKeys(const AttentionShape& shape, const float* keys, size_t stride, int positions,
              float* packed);
// Elements of the packed keys.
size_t PackedKeySize(const AttentionShape& shape, int positions);

// The keys and values of a whole source, in one piece of memory, 64-byte aligned:
//   packed keys | values [S, D] | int8: scales of the keys [H][S'], of the values [H][S']
size_t SourceBytes(const AttentionShape& shape, int positions, CacheType type);
// From rows of D keys and D values, [S, 2 D].
void StoreSource(const AttentionShape& shape, const float* keys_values, int positions,
                 CacheType type, void* memory);
KeysValues ViewSource(const AttentionShape& shape, int positions, CacheType type,
                      const void* memory);

// A cell, the keys and values of one position:
//   D keys | D values | int8: scales of the keys [H], of the values [H]
size_t CellBytes(const AttentionShape& shape, CacheType type);
// From D keys and D values.
void StoreCell(const AttentionShape& shape, const float* keys_values, CacheType type, void* cell);

// Bring what attention will read closer. Memory in so many places is slow to find its way alone;
// the decoder asks for the next sentence's while it works on one.
void Prefetch(const AttentionShape& shape, const KeysValues& memory);
void Prefetch(const AttentionShape& shape, const CellHistory& history);

}  // namespace nibu

#endif  // NIBU_ENGINE_ATTENTION_CACHE_H_
