// Full attention to plain rows: packs their keys, and attends as to stored ones.
#include "engine/attention/cache.h"
#include "engine/attention/kernels.h"

namespace nibu::internal {

KeysValues PackRows(const AttentionShape& shape, const KeyValueRows& memory, Arena* arena) {
  float* const packed = arena->Floats(PackedKeySize(shape, memory.positions));
  PackKeys(shape, memory.keys, memory.stride, memory.positions, packed);
  KeysValues view;
  view.keys = packed;
  view.values = memory.values;
  view.value_stride = memory.stride;
  view.positions = memory.positions;
  view.head_stride = PaddedPositions(static_cast<size_t>(memory.positions));
  return view;
}

void AttendRows(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                const AttentionOutput& output, Arena* arena) {
  AttendPacked(spec, queries, PackRows(spec.shape, memory, arena), output, arena,
               /*next=*/nullptr);
}

}  // namespace nibu::internal
