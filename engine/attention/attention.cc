#include "engine/attention/attention.h"

#include <algorithm>

#include "engine/attention/cache.h"
#include "engine/attention/kernels.h"

namespace nibu {
namespace {

// Sequences from so many positions on gain by products in bfloat16: tiles of shorter ones are
// mostly padding.
constexpr int kBFloat16Positions = 128;

}  // namespace

void Attention::Run(const Queries& queries, const AttentionMemory& memory,
                    const AttentionOutput& output) const {
  const Arena::Mark mark = arena_->mark();
  std::visit([&](const auto& layout) { Attend(queries, layout, output); }, memory);
  arena_->Rewind(mark);
}

void Attention::Attend(const Queries& queries, const KeyValueRows& memory,
                       const AttentionOutput& output) const {
  if (spec_.compute_type != ComputeType::kFloat32 && memory.positions >= kBFloat16Positions &&
      MatmulContext::HasFastBFloat16()) {
    return AttendInBFloat16(spec_, queries, memory, output, matmul_, arena_);
  }
  float* const packed = arena_->Floats(PackedKeySize(spec_.shape, memory.positions));
  PackKeys(spec_.shape, memory.keys, memory.stride, memory.positions, packed);
  Attend(queries,
         KeysValues{CacheType::kFloat32, packed, memory.values, memory.stride, memory.positions},
         output);
}

void Attention::Attend(const Queries& queries, const KeysValues& memory,
                       const AttentionOutput& output) const {
  AttendPacked(spec_, queries, memory, output);
}

void Attention::Attend(const Queries& queries, const CellHistory& memory,
                       const AttentionOutput& output) const {
  float* const scores = arena_->Floats(memory.cells.size() + kKeyBlock);
  AttendCells(spec_, queries, memory, output, scores);
}

}  // namespace nibu
