// Attention to all of plain rows: packs their keys, and attends as to stored ones.
#include "engine/attention/cache.h"
#include "engine/attention/kernels.h"
#include "engine/attention/mixers/score.h"

namespace nibu::internal {

void AttendRows(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                const AttentionOutput& output, Arena* arena) {
  float* const packed = arena->Floats(PackedKeySize(spec.shape, memory.positions));
  PackKeys(spec.shape, memory.keys, memory.stride, memory.positions, packed);
  KeysValues view;
  view.keys = packed;
  view.values = memory.values;
  view.value_stride = memory.stride;
  view.positions = memory.positions;
  view.head_stride = PaddedPositions(static_cast<size_t>(memory.positions));
  AttendByScore(spec, queries, view, output, arena, /*next=*/nullptr);
}

}  // namespace nibu::internal
