// The algorithms behind Attention, which says what their arguments mean. Internal to
// engine/attention.
#ifndef NIBU_ENGINE_ATTENTION_KERNELS_H_
#define NIBU_ENGINE_ATTENTION_KERNELS_H_

#include <cstddef>
#include <limits>

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"
#include "engine/ops/linear.h"
#include "engine/ops/matmul.h"

namespace nibu::internal {

class Prefetcher;  // cache.h

// Full attention to rows: as AttendInBFloat16 where the model's type allows it and it is faster,
// otherwise as AttendPacked, of keys that are packed for it. Takes memory from the arena, which the
// caller rewinds.
void AttendRows(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                const AttentionOutput& output, Matmul* matmul, Arena* arena);

// Over stored keys, in tiles with a running maximum and sum (Dao et al. 2022). `next`: see
// Attention::Run.
void AttendPacked(const AttentionSpec& spec, const Queries& queries, const KeysValues& memory,
                  const AttentionOutput& output, Arena* arena, Prefetcher* next);

// Over cells.
void AttendCells(const AttentionSpec& spec, const Queries& queries, const CellHistory& history,
                 const AttentionOutput& output, Arena* arena, Prefetcher* next);

// In tiles of queries and keys, whose products are oneDNN's in bfloat16 (AMX where there is any);
// scores, softmax and sums are float32. REQUIRES: AVX-512.
void AttendInBFloat16(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                      const AttentionOutput& output, Matmul* matmul, Arena* arena);

// The softmax of one query's scores, a tile of keys at a time.
struct RunningSoftmax {
  float* weights = nullptr;  // of all keys, in the end; null: not wanted
  size_t keys = 0;           // so far, as what follows
  float maximum = -std::numeric_limits<float>::infinity();
  float sum = 0;

  // Makes weights of the exponentials, and returns what else is to be multiplied by.
  float Finish() const {
    const float inverse = 1.0f / sum;
    for (size_t i = 0; weights != nullptr && i < keys; ++i) weights[i] *= inverse;
    return inverse;
  }
};

// The next n keys: scores to exp(scores + bias - maximum). `bias` null: none. `scores` has room for
// whole vectors after n, which are filled up. Returns what all so far is to be multiplied by: 0 at
// first.
float AddToSoftmax(const float* bias, size_t n, float* scores, RunningSoftmax* softmax);

// out = out * keep + part
void Accumulate(const float* part, float keep, size_t n, float* out);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_KERNELS_H_
