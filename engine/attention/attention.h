// Scaled dot-product attention, softmax(scale q k^T + bias) v, over the key layouts that the
// encoder and the decoder use. Vaswani et al. 2017; the tiling with a running maximum and sum is
// Dao et al. 2022.
//
// Letters: H heads, d = size of a head, D = H d, S keys, R queries. Every result row depends on its
// own query and its keys alone, never on R.
#ifndef NIBU_ENGINE_ATTENTION_ATTENTION_H_
#define NIBU_ENGINE_ATTENTION_ATTENTION_H_

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace nibu {

struct AttentionShape {
  int heads;
  int head_dim;
  float scale = 0;  // 0: 1 / sqrt(head_dim)

  float Scale() const {
    return scale != 0 ? scale : 1.0f / std::sqrt(static_cast<float>(head_dim));
  }
};

// A bias of the scores by how far a key lies from its query (Raffel et al. 2020): head h's for key
// j and query i, counted in positions, is values[h * stride + j - i].
struct DistanceBias {
  const float* values = nullptr;  // null: no bias
  size_t stride = 0;
};

// Element type of stored keys and values. Sums are float in any case.
enum class CacheType : uint8_t { kFloat32, kBFloat16 };
constexpr size_t CacheElementSize(CacheType type) { return type == CacheType::kFloat32 ? 4 : 2; }

// Keys are kept for the product q k^T as blocks of kKeyBlock positions, each block [d][kKeyBlock],
// so that the scores of a block are plain vector sums. The last block is filled up with zeros.
constexpr int kKeyBlock = 16;

// Elements of the packed keys of all heads for S positions.
size_t PackedKeySize(const AttentionShape& shape, int positions);

// packed [H][S / kKeyBlock][d][kKeyBlock] of the given type, 64-byte aligned, from keys [S, D]
// whose rows are `stride` floats apart.
void PackKeys(const AttentionShape& shape, const float* keys, size_t stride, int positions,
              CacheType type, void* packed);

// out[i] = in[i] in the cache's type.
void StoreToCache(const float* in, size_t n, CacheType type, void* out);

// What queries attend to.
struct KeysValues {
  CacheType type;
  const void* keys;        // packed
  const void* values;      // [S, D]
  size_t value_stride;     // elements from one row of values to the next
  int positions;           // S
  DistanceBias bias = {};  // with it, queries are those of the positions 0, 1, ...
};

// out [R, D] = attention of q [R, D]; rows are q_stride and out_stride floats apart. out overlaps
// nothing.
void Attend(const AttentionShape& shape, const float* q, size_t q_stride, int queries,
            const KeysValues& memory, float* out, size_t out_stride);

// The history of one hypothesis: position t's D keys and then D values start `offset` elements
// behind cells[t]. Hypotheses share their history through these pointers.
struct CellHistory {
  CacheType type;
  absl::Span<void* const> cells;
  size_t offset;
  DistanceBias bias = {};
};

// Decoder self-attention of one new position. q, out: D floats. `scores`: scratch for as many
// floats as there are cells, rounded up to a multiple of kKeyBlock.
void AttendCells(const AttentionShape& shape, const float* q, const CellHistory& history,
                 float* scores, float* out);

// Bring what a call will read closer. Memory in so many places is slow to find its way alone; the
// decoder asks for the next sentence's while it works on one.
void Prefetch(const AttentionShape& shape, const KeysValues& memory);
void Prefetch(const AttentionShape& shape, const CellHistory& history);

}  // namespace nibu

#endif  // NIBU_ENGINE_ATTENTION_ATTENTION_H_
