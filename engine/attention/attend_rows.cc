// Full attention to plain rows: the choice between products in bfloat16 and packed keys.
#include "engine/attention/cache.h"
#include "engine/attention/kernels.h"

namespace nibu::internal {

void AttendRows(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                const AttentionOutput& output, Matmul* matmul, Arena* arena) {
  const auto& [keys, values, stride, positions] = memory;
  if (spec.compute_type != ComputeType::kFloat32 && positions >= Matmul::LeastBFloat16Positions()) {
    return AttendInBFloat16(spec, queries, memory, output, matmul, arena);
  }
  float* const packed = arena->Floats(PackedKeySize(spec.shape, positions));
  PackKeys(spec.shape, keys, stride, positions, packed);
  AttendPacked(spec, queries, {CacheType::kFloat32, packed, values, stride, positions}, output,
               arena, /*next=*/nullptr);
}

}  // namespace nibu::internal
