// Scaled dot-product attention, softmax(q k^T / sqrt(d_head)) v, over the key layouts that the
// encoder and the decoder use. Vaswani et al. 2017; the tiling with a running maximum and sum is
// Dao et al. 2022.
//
// Letters: H heads, d = size of a head, D = H d, S keys, R queries. Every result row depends on its
// own query and its keys alone, never on R.
#ifndef NIBU_ENGINE_ATTENTION_ATTENTION_H_
#define NIBU_ENGINE_ATTENTION_ATTENTION_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace nibu {

struct AttentionShape {
  int heads;
  int head_dim;
};

// Keys are kept for the product q k^T as blocks of kKeyBlock positions, each block [d][kKeyBlock],
// so that the scores of a block are plain vector sums. The last block is filled up with zeros.
constexpr int kKeyBlock = 16;

// Floats of the packed keys of all heads for S positions.
size_t PackedKeySize(const AttentionShape& shape, int positions);

// packed [H][S / kKeyBlock][d][kKeyBlock] from keys [S, D] whose rows are `stride` floats apart.
void PackKeys(const AttentionShape& shape, const float* keys, size_t stride, int positions,
              float* packed);

// out [R, D] = attention of q [R, D] over `positions` keys. `keys`: packed; `values` [S, D].
// Strides in floats between rows. out overlaps nothing.
void Attend(const AttentionShape& shape, const float* q, size_t q_stride, int queries,
            const float* keys, const float* values, size_t value_stride, int positions, float* out,
            size_t out_stride);

// Decoder self-attention of one new position. The key and value of position t of this hypothesis
// are at cells[t] + key_offset and cells[t] + value_offset, D floats each (hypotheses share their
// history through these pointers). q, out: D floats. `scores`: scratch for cells.size() floats,
// rounded up to a multiple of kKeyBlock.
void AttendCells(const AttentionShape& shape, const float* q, absl::Span<const float* const> cells,
                 size_t key_offset, size_t value_offset, float* scores, float* out);

}  // namespace nibu

#endif  // NIBU_ENGINE_ATTENTION_ATTENTION_H_
