// Attention in which a query sees some keys only (pattern.h): a tile of queries at a time attends
// to the keys that any of them sees, with a bias that hides from each what it does not see. Time
// and memory grow with the keys seen.
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_SPARSE_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_SPARSE_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"

namespace nibu::internal {

// The bias of a key that a query does not see: next to the score of any key that it sees, its
// exponential is 0. It is not infinite, as a tile of keys may hold nothing else.
constexpr float kHidden = -1e30f;

// REQUIRES: as many queries as keys, from the first position on.
void AttendSparse(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                  const AttentionOutput& output, Arena* arena);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_SPARSE_H_
