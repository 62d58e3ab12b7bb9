// Attention as its definition says, a row of the matrix at a time, in plain loops and double
// precision: what the other algorithms are compared with, and the one that knows every score.
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_DENSE_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_DENSE_H_

#include "engine/attention/attention_spec.h"

namespace nibu::internal {

// Attends by any score and any pattern.
void AttendDense(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                 const AttentionOutput& output);

// FindScores of attention.h.
void DenseScores(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                 float* scores);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_DENSE_H_
