#include "engine/attention/attention.h"

#include <variant>

#include "engine/attention/cache.h"
#include "engine/attention/dense.h"
#include "engine/attention/kernels.h"
#include "engine/attention/mixers/factorized.h"
#include "engine/attention/mixers/lsh.h"
#include "engine/attention/mixers/reduction.h"
#include "engine/attention/mixers/sparse.h"
#include "engine/attention/score.h"

namespace nibu {

void Attention::Run(const Queries& queries, const AttentionMemory& memory,
                    const AttentionOutput& output, Prefetcher* next) const {
  const Arena::Mark mark = arena_->mark();
  if (const auto* history = std::get_if<CellHistory>(&memory)) {
    AttendCells(spec_, queries, *history, output, arena_, next);
  } else if (const auto* stored = std::get_if<KeysValues>(&memory)) {
    AttendPacked(spec_, queries, *stored, output, arena_, next);
  } else {
    AttendRows(queries, std::get<KeyValueRows>(memory), output);
  }
  arena_->Rewind(mark);
}

void Attention::AttendRows(const Queries& queries, const KeyValueRows& memory,
                           const AttentionOutput& output) const {
  switch (spec_.mixer.algorithm) {
    case Algorithm::kDense:
      return AttendDense(spec_, queries, memory, output);
    case Algorithm::kLsh:
      return AttendLsh(spec_, queries, memory, output, arena_);
    case Algorithm::kMean:
      return AttendMeans(spec_, queries, memory, output, matmul_, arena_);
    case Algorithm::kFactorized:
      return AttendFactorized(spec_, queries, memory, output, arena_);
    default:
      break;
  }
  if (spec_.mixer.score != Score::kScaledDot) {  // a plain product, of mapped queries
    AttentionSpec products = spec_;
    products.shape.scale = 1;
    products.mixer.score = Score::kScaledDot;
    const bool is_general = spec_.mixer.score == Score::kGeneral;
    return Attention(products, matmul_, arena_)
        .AttendRows(is_general ? MapQueries(spec_, queries, arena_) : queries, memory, output);
  }
  if (spec_.mixer.pattern != Pattern::kGlobal) {
    return AttendSparse(spec_, queries, memory, output, matmul_, arena_);
  }
  const auto& [keys, values, stride, positions] = memory;
  if (spec_.compute_type != ComputeType::kFloat32 &&
      positions >= MatmulContext::LeastBFloat16Positions()) {
    return AttendInBFloat16(spec_, queries, memory, output, matmul_, arena_);
  }
  float* const packed = arena_->Floats(PackedKeySize(spec_.shape, positions));
  PackKeys(spec_.shape, keys, stride, positions, packed);
  AttendPacked(spec_, queries, {CacheType::kFloat32, packed, values, stride, positions}, output,
               arena_, /*next=*/nullptr);
}

}  // namespace nibu
