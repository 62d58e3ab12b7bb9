// Attention to keys in the direction of the query, found by hashing (Reformer, Kitaev et al. 2020).
// A round hashes queries and keys by which of random directions lies nearest to them,
// argmax([x R; -x R]), and sorts the keys by hash, then position. A query attends to the chunk of
// `bucket` sorted keys that it would come into itself, and to the chunk before. What it sees in
// several rounds counts once: with the correction for repeated keys of the paper's appendix, the
// rounds' log-sum-exp is the one softmax over all keys seen that is computed here. In the paper
// queries are the keys; here they need not be.
//
// Every layer and head has directions of its own: those of the seed, mirrored in random elements.
// Hashes are functions of the seed, the layer, the head, the round and the vector, the sorting of
// the sentence: nothing depends on what else is translated. A hash of many buckets is made of
// digits of up to 16 directions each, so that time grows as N log N.
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_LSH_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_LSH_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"

namespace nibu::internal {

void AttendLsh(const LshAttention& lsh, const AttentionSpec& spec, const Queries& queries,
               const KeyValueRows& memory, const AttentionOutput& output, Arena* arena);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_LSH_H_
