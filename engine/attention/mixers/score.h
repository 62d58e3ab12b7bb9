// The scores of Luong et al. 2015 that have weights. Each head has its own; d is its size.
//   general  k^T W q, the plain product of a key and the mapped query W q
//   concat   v^T tanh(W [k; q]) = v^T tanh(W_k k + W_q q), where W_k and W_q are the first and the
//            last d columns of W: a map of the keys, a map of the queries, and a sum of tanh
// A caller first maps queries and keys, once each, and then attends by the score.
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_SCORE_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_SCORE_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"

namespace nibu::internal {

class Prefetcher;  // cache.h

// Queries times what the score multiplies them by, in the arena; themselves if that is nothing.
Queries MapQueries(const AttentionSpec& spec, const Queries& queries, Arena* arena);

// Multiplies keys [positions, I], whose rows are `stride` floats apart, by what the score
// multiplies them by; leaves them if that is nothing.
void MapKeys(const AttentionSpec& spec, size_t stride, int positions, float* keys);

// Attends to all positions of `memory` by any score and by spec.bias; queries and keys are mapped.
// REQUIRES: with the concat score, float32.
void AttendByScore(const AttentionSpec& spec, const Queries& queries, const KeysValues& memory,
                   const AttentionOutput& output, Arena* arena, Prefetcher* next);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_SCORE_H_
