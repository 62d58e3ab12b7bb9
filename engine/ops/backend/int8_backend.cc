// Matmuls by our own int8 kernels: an int8 product, and a pass of its own for rare activations.
#include "engine/ops/backend/int8_backend.h"

#include <cstddef>
#include <utility>

#include "absl/base/macros.h"
#include "engine/ops/backend/int8_product.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {

// The kernels finish sums with ReLU or without an activation. Other activations take a pass over
// the sums, in place.
void Int8Backend::Run(const Linear::Packed& map, const MatmulInput& x, int rows,
                      const MatmulOutput& y) {
  ABSL_ASSERT(Has(map, rows));
  ABSL_ASSERT(0 < rows && rows <= kMostRows);
  ABSL_ASSERT(x.room >= (rows + kInt8Rows - 1) / kInt8Rows * kInt8Rows && y.room >= rows);
  ABSL_ASSERT(y.dtype == DType::kFloat32);
  auto* const results = static_cast<float*>(y.rows);
  if (map.int8_weights == nullptr) return RunRows(map, x, static_cast<size_t>(rows), results);
  const bool fetches = map.int8_weights != std::exchange(in_l2_, map.int8_weights);
  const auto in = static_cast<size_t>(map.spec.in);
  const auto out = static_cast<size_t>(map.spec.out);
  const auto count = static_cast<size_t>(rows);
  const Dequantization finish = map.dequantization();
  MultiplyInt8(CurrentIsa(), {map.int8_weights, in, out}, fetches,
               static_cast<const uint8_t*>(x.rows), count, finish, x.scales, results);
  if (FinishesInt8(finish.activation)) return;
  DequantizeRows(finish, x.scales, count, out, static_cast<const int32_t*>(y.rows), out, results,
                 out);
}

void Int8Backend::RunRows(const Linear::Packed& map, const MatmulInput& x, size_t rows, float* y) {
  const auto in = static_cast<size_t>(map.spec.in);
  const auto out = static_cast<size_t>(map.spec.out);
  const auto stride = static_cast<size_t>(map.header().blockings()[0].strides[0]);
  sums_.Reserve(rows * stride);
  MultiplyInt8Rows(map.int8_rows, stride, in, out, static_cast<const uint8_t*>(x.rows), rows,
                   sums_.data(), stride);
  DequantizeRows(map.dequantization(), x.scales, rows, out, sums_.data(), stride, y, out);
}

}  // namespace nibu::internal
