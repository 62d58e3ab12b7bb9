#include "engine/attention/mixers/score.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/attention/mixers/score.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// out [dim] = map [dim, dim] q [dim]
void MapVector(const float* map, const float* q, size_t dim, float* out) {
  for (size_t i = 0; i < dim; ++i, map += dim) {
    out[i] = Sum(dim, [=](auto d, size_t j, auto so_far) HWY_ATTR {
      return hn::MulAdd(hn::LoadU(d, map + j), hn::LoadU(d, q + j), so_far);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu::internal {
namespace {
HWY_EXPORT(MapVector);
}  // namespace

Queries MapQueries(const AttentionSpec& spec, const Queries& queries, Arena* arena) {
  const auto heads = static_cast<size_t>(spec.shape.heads);
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const auto rows = static_cast<size_t>(queries.count);
  float* const mapped = arena->Floats(rows * heads * dim);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t h = 0; h < heads; ++h) {
      HWY_DYNAMIC_DISPATCH(MapVector)
      (spec.score.map + h * dim * dim, queries.rows + r * queries.stride + h * dim, dim,
       mapped + (r * heads + h) * dim);
    }
  }
  Queries result = queries;
  result.rows = mapped;
  result.stride = heads * dim;
  return result;
}

}  // namespace nibu::internal
#endif  // HWY_ONCE
