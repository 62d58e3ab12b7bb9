// The algorithms behind Attention, which says what their arguments mean. Internal to
// engine/attention.
#ifndef NIBU_ENGINE_ATTENTION_KERNELS_H_
#define NIBU_ENGINE_ATTENTION_KERNELS_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"

namespace nibu::internal {

class Prefetcher;  // cache.h

// Packs the keys of plain rows into the arena, which the caller rewinds.
KeysValues PackRows(const AttentionShape& shape, const KeyValueRows& memory, Arena* arena);

// Packs the keys of plain rows and attends to them as AttendPacked does. Takes memory from the
// arena, which the caller rewinds.
void AttendRows(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                const AttentionOutput& output, Arena* arena);

// Attends to stored keys by scaled products, in tiles with a running maximum and sum (Dao et al.
// 2022). `next`: see Attention::Run.
void AttendPacked(const AttentionSpec& spec, const Queries& queries, const KeysValues& memory,
                  const AttentionOutput& output, Arena* arena, Prefetcher* next);

// Attends to the history of one hypothesis, which lies in cells.
void AttendCells(const AttentionSpec& spec, const Queries& queries, const CellHistory& history,
                 const AttentionOutput& output, Arena* arena, Prefetcher* next);

// Attends with AttentionSpec::relative, to plain rows or to the history of one hypothesis. The
// arena is as it was afterwards.
void AttendRelative(const AttentionSpec& spec, const Queries& queries,
                    const AttentionMemory& memory, const AttentionOutput& output, Arena* arena,
                    Prefetcher* next);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_KERNELS_H_
