// The general score, k^T W q (Luong et al. 2015), of each head: the plain product of k and the
// mapped query W q.
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_SCORE_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_SCORE_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"

namespace nibu::internal {

// W q for all queries, in the arena. REQUIRES: spec.score.map.
Queries MapQueries(const AttentionSpec& spec, const Queries& queries, Arena* arena);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_SCORE_H_
