// Factorized attention (CoaT, Xu et al. 2021): scale q (softmax(K)^T V), the softmax of each column
// of K over the positions. A head's [d, d] matrix stands between, so that time grows with N.
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_FACTORIZED_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_FACTORIZED_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"

namespace nibu::internal {

// Has no matrix of weights.
void AttendFactorized(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                      const AttentionOutput& output, Arena* arena);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_FACTORIZED_H_
