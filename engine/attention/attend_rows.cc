#include "engine/attention/cache.h"
#include "engine/attention/kernels.h"

namespace nibu::internal {

void AttendRows(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                const AttentionOutput& output, Arena* arena) {
  const auto& [keys, values, stride, positions] = memory;
  float* const packed = arena->Floats(PackedKeySize(spec.shape, positions));
  PackKeys(spec.shape, keys, stride, positions, packed);
  AttendPacked(spec, queries, {CacheType::kFloat32, packed, values, stride, positions}, output,
               arena, /*next=*/nullptr);
}

}  // namespace nibu::internal
