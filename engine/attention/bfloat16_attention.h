#ifndef NIBU_ENGINE_ATTENTION_BFLOAT16_ATTENTION_H_
#define NIBU_ENGINE_ATTENTION_BFLOAT16_ATTENTION_H_

#include <cstddef>

#include "engine/attention/attention.h"
#include "engine/core/arena.h"
#include "engine/ops/linear.h"

namespace nibu {

// Sequences from so many positions on gain by it: tiles of shorter ones are mostly padding.
constexpr int kBFloat16Positions = 128;

// Self-attention of a sequence in tiles of queries and keys, whose products are oneDNN's in
// bfloat16 (AMX where there is any); scores, softmax and sums are float32. q, k, v, out [S, D];
// rows of q, k and v are `stride` floats apart, those of out `out_stride`. out overlaps nothing.
// The result depends on nothing else. REQUIRES: AVX-512; worth it with
// MatmulContext::HasFastBFloat16().
void AttendInBFloat16(const AttentionShape& shape, const float* q, const float* k, const float* v,
                      size_t stride, int positions, const DistanceBias& bias, MatmulContext* matmul,
                      Arena* arena, float* out, size_t out_stride);

}  // namespace nibu

#endif  // NIBU_ENGINE_ATTENTION_BFLOAT16_ATTENTION_H_
