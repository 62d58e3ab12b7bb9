// Deformable attention (DAT, Xia et al. 2022) of a sequence: keys and values are made, by the
// layer's own maps, from rows x~ sampled where the queries say. Reference points lie in the middle
// of every R positions; a network moves each of them by at most R,
//   offset = R tanh(w gelu(LN(conv(q))))
// with conv a depthwise convolution of K positions and stride R, and x~ is interpolated linearly
// between the two rows of x next to the place, which is held within the sentence.
//
// Left out of the paper: groups of channels with offsets of their own (there is one), and the bias
// by relative positions.
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_DEFORMABLE_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_DEFORMABLE_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"

namespace nibu::internal {

// I columns of queries.
struct OffsetWeights {
  const float* taps;   // [I, K]
  const float* bias;   // [I]
  const float* gamma;  // [I], of the norm; beta null: an RMS norm
  const float* beta;
  float epsilon;
  const float* offset;  // w [I]
};

// places [ceil(N / R)], in positions, of a sentence of N queries; `inner`: I.
void FindPlaces(const DeformableAttention& spec, const OffsetWeights& weights,
                const Queries& queries, int inner, Arena* arena, float* places);

// out [count, dim]: x [positions, dim] at `places`.
void SampleRows(const float* x, int positions, int dim, const float* places, int count, float* out);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_DEFORMABLE_H_
