// The way from a mechanism's specification to the code that computes it.
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_MIXERS_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_MIXERS_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"

namespace nibu::internal {

// Attention of queries to the rows of their own positions, as spec.mixer says. Keys and values of
// ReducedAttention and DeformableAttention are those that their maps have made: what is left is
// full attention. Takes memory from the arena, which the caller rewinds.
// REQUIRES: spec.mixer.is_attention().
void AttendByMixer(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                   const AttentionOutput& output, Arena* arena);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_MIXERS_H_
