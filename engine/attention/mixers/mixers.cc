#include "engine/attention/mixers/mixers.h"

#include "engine/attention/kernels.h"
#include "engine/attention/mixers/dense.h"
#include "engine/attention/mixers/factorized.h"
#include "engine/attention/mixers/lsh.h"
#include "engine/attention/mixers/reduction.h"
#include "engine/attention/mixers/score.h"
#include "engine/attention/mixers/sparse.h"

namespace nibu::internal {

void AttendByMixer(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                   const AttentionOutput& output, Arena* arena) {
  const MixerSpec& mixer = spec.mixer;
  if (mixer.is_dense()) return AttendDense(spec, queries, memory, output);
  if (const auto* lsh = mixer.As<LshAttention>()) {
    return AttendLsh(*lsh, spec, queries, memory, output, arena);
  }
  if (const auto* mean = mixer.As<MeanAttention>()) {
    return AttendMeans(mean->reduction, spec, queries, memory, output, arena);
  }
  if (mixer.Is<FactorizedAttention>()) {
    return AttendFactorized(spec, queries, memory, output, arena);
  }
  AttentionSpec products = spec;
  Queries mapped = queries;
  if (mixer.score != Score::kScaledDot) {  // the plain product of the keys and the mapped queries
    products.shape.scale = 1;
    if (mixer.score == Score::kGeneral) mapped = MapQueries(spec, queries, arena);
  }
  if (mixer.is_pattern() && !mixer.Is<FullAttention>()) {
    return AttendSparse(products, mapped, memory, output, arena);
  }
  AttendRows(products, mapped, memory, output, arena);
}

}  // namespace nibu::internal
