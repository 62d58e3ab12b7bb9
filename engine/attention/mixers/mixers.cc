// Chooses the algorithm for plain rows from the mechanism.
#include "engine/attention/mixers/mixers.h"

#include <algorithm>

#include "absl/base/macros.h"
#include "engine/attention/kernels.h"
#include "engine/attention/mixers/dense.h"
#include "engine/attention/mixers/factorized.h"
#include "engine/attention/mixers/lsh.h"
#include "engine/attention/mixers/reduction.h"
#include "engine/attention/mixers/score.h"
#include "engine/attention/mixers/sparse.h"

namespace nibu::internal {
namespace {

// Keys as the score wants them, and values: `memory` itself, or a copy in the arena.
KeyValueRows MapRows(const AttentionSpec& spec, const KeyValueRows& memory, Arena* arena) {
  if (spec.mixer.score != Score::kConcat) return memory;
  const auto inner =
      static_cast<size_t>(spec.shape.heads) * static_cast<size_t>(spec.shape.head_dim);
  const auto positions = static_cast<size_t>(memory.positions);
  float* const rows = arena->Floats(positions * 2 * inner);
  for (size_t j = 0; j < positions; ++j) {
    float* const row = rows + j * 2 * inner;
    std::copy_n(memory.keys + j * memory.stride, inner, row);
    std::copy_n(memory.values + j * memory.stride, inner, row + inner);
  }
  MapKeys(spec, 2 * inner, memory.positions, rows);
  return {rows, rows + inner, 2 * inner, memory.positions};
}

}  // namespace

void AttendByMixer(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                   const AttentionOutput& output, Arena* arena) {
  const MixerSpec& mixer = spec.mixer;
  ABSL_ASSERT(mixer.is_attention());
  if (mixer.dense) return AttendDense(spec, queries, memory, output);
  if (const auto* lsh = mixer.As<LshAttention>()) {
    return AttendLsh(*lsh, spec, queries, memory, output, arena);
  }
  if (const auto* mean = mixer.As<MeanAttention>()) {
    return AttendMeans(mean->reduction, spec, queries, memory, output, arena);
  }
  if (mixer.Is<FactorizedAttention>()) {
    return AttendFactorized(spec, queries, memory, output, arena);
  }
  const Queries mapped_queries = MapQueries(spec, queries, arena);
  const KeyValueRows mapped = MapRows(spec, memory, arena);
  if (mixer.is_pattern() && !mixer.Is<FullAttention>()) {
    return AttendSparse(spec, mapped_queries, mapped, output, arena);
  }
  AttendByScore(spec, mapped_queries, PackRows(spec.shape, mapped, arena), output, arena,
                /*next=*/nullptr);
}

}  // namespace nibu::internal
