// Matmuls with weights of 4 bits: the sums of inputs, the products, and a pass that finishes them.
#include "engine/ops/backend/int4_backend.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/base/macros.h"
#include "engine/ops/backend/int4_product.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {

// The products of a thread are a part of the blocks. OpenMP has started the threads before: see
// Matmul::SetThreads.
void Int4Backend::Run(const Linear::Packed& map, const MatmulInput& x, int rows,
                      const MatmulOutput& y) {
  ABSL_ASSERT(map.spec.type == ComputeType::kInt4 && y.dtype == DType::kFloat32);
  ABSL_ASSERT(0 < rows && rows <= kMostRows && y.room >= rows);
  ABSL_ASSERT(static_cast<size_t>(x.room - rows) * static_cast<size_t>(map.spec.in) >= kInt4Inputs);
  const Int4Weights weights = Int4WeightsIn(map.blob);
  const auto count = static_cast<size_t>(rows);
  const auto* const inputs = static_cast<const int8_t*>(x.rows);
  auto* const results = static_cast<float*>(y.rows);
  sums_.Reserve(count * weights.groups_in_block());
  SumInt4Inputs(inputs, count, weights.in, sums_.data());
  const auto threads = static_cast<size_t>(threads_);
  const size_t share = (weights.blocks() + threads - 1) / threads;
#pragma omp parallel for num_threads(threads_) if (threads_ > 1)
  for (size_t thread = 0; thread < threads; ++thread) {
    const size_t first = std::min(thread * share, weights.blocks());
    MultiplyInt4(CurrentIsa(), weights, first, std::min(first + share, weights.blocks()), inputs,
                 sums_.data(), count, results);
  }
  DequantizeRows(map.dequantization(), x.scales, count, weights.out,
                 static_cast<const int32_t*>(y.rows), weights.out, results, weights.out);
}

}  // namespace nibu::internal
