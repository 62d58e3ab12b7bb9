// Attention to fewer keys: every R neighbours make one key and one value, the last one what is
// left.
//   mean       the mean of their keys and of their values: no weights
//   reduction  x~ = LN(W [x_1; ...; x_R] + b), then the layer's maps of x~ to keys and values
//              (spatial reduction: PVT, Wang et al. 2021; efficient self-attention: SegFormer, Xie
//              et al. 2021)
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_REDUCTION_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_REDUCTION_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"

namespace nibu::internal {

// The weights are those of the means, [H, R, ceil(S / R)].
void AttendMeans(int reduction, const AttentionSpec& spec, const Queries& queries,
                 const KeyValueRows& memory, const AttentionOutput& output, Arena* arena);

// out [ceil(positions / R), dim] = the means of R neighbours of x [positions, dim], whose rows are
// `stride` floats apart. `out` may be x itself. Returns the number of means.
int TakeMeans(const float* x, size_t stride, int positions, size_t dim, int reduction, float* out);

// out [rows, positions] = weights [rows, ceil(positions / R)], each shared equally among the R
// neighbours that its key was made from.
void ShareWeights(const float* weights, size_t rows, int positions, int reduction, float* out);

// out [ceil(positions / R), R dim]: x [positions, dim], R rows side by side, zeros behind the last.
void JoinNeighbours(const float* x, int positions, int dim, int reduction, float* out);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_REDUCTION_H_
