// Attention to the stored keys of a source by the mechanisms that cross-attention has
// (MixerSpec::fits_cross_attention). With a window around a place, a query reads the window's keys
// alone. Means and reduced keys are stored as such: to this file they are full attention.
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_STORED_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_STORED_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"

namespace nibu::internal {

class Prefetcher;  // cache.h

// Attends to keys that MapKeys (score.h) has mapped, unless the mechanism is dense, and that are
// stored as SourceType (attention.h) says. Takes memory from the arena, which the caller rewinds.
// `next`: see Attention::Run.
void AttendStored(const AttentionSpec& spec, const Queries& queries, const KeysValues& memory,
                  const AttentionOutput& output, Arena* arena, Prefetcher* next);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_STORED_H_
