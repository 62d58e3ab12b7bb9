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
enum class CacheType : uint8_t { kFloat32, kBFloat16, kInt8 };

// Keys are kept for the product q k^T as blocks of kKeyBlock positions, each block [d][kKeyBlock],
// so that the scores of a block are plain vector sums. The last block is filled up with zeros.
constexpr int kKeyBlock = 16;

// What queries attend to.
struct KeysValues {
  CacheType type = CacheType::kFloat32;
  const void* keys = nullptr;    // packed: see cache.h
  const void* values = nullptr;  // [S, D]
  size_t value_stride = 0;       // elements from one row of values to the next
  int positions = 0;             // S
  DistanceBias bias = {};        // with it, queries are those of the positions 0, 1, ...
  // int8: [H][scale_stride], scale_stride >= S a multiple of kKeyBlock.
  const float* key_scales = nullptr;
  const float* value_scales = nullptr;
  size_t scale_stride = 0;
};

// out [R, D] = attention of q [R, D]; rows are q_stride and out_stride floats apart. out overlaps
// nothing.
void Attend(const AttentionShape& shape, const float* q, size_t q_stride, int queries,
            const KeysValues& memory, float* out, size_t out_stride);

// The history of one hypothesis: position t's cell (cache.h) starts `offset` bytes behind cells[t].
// Hypotheses share their history through these pointers.
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

}  // namespace nibu

#endif  // NIBU_ENGINE_ATTENTION_ATTENTION_H_
