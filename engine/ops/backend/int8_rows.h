// int8 matmuls of few rows on CPUs with AVX2 and without VNNI:
//
//   sums[r][n] = sum over k of x[r][k] * W[k][n]
//
//   x [rows, in] u8, at most 127; W [in, out] s8, plain rows; sums int32, exact
//
// oneDNN has a matrix product for such CPUs, which copies weights before it multiplies. For a
// single row, as in greedy decoding of one sentence, the copy takes most of the time. These
// products read the weights once, in the order of memory: engine/PERFORMANCE.md, AVX2.
#ifndef NIBU_ENGINE_OPS_BACKEND_INT8_ROWS_H_
#define NIBU_ENGINE_OPS_BACKEND_INT8_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "engine/ops/cpu.h"

namespace nibu::internal {

// More rows are faster with oneDNN, which makes up for its copy.
constexpr int kMostInt8Rows = 4;
// Sums are computed for so many outputs at a time.
constexpr size_t kInt8RowOutputs = 32;

// Returns whether there is a kernel for an instruction set: activations must have 7 bits, so that
// two products fit into 16.
constexpr bool HasInt8Rows(Isa isa) { return isa == Isa::kAvx2 || isa == Isa::kAvx512; }

// Computes the sums as above. Rows of W are `stride` bytes apart, rows of sums `sums_stride`
// elements. Thread-safe. REQUIRES: 1 to kMostInt8Rows rows; out rounded up to kInt8RowOutputs is at
// most stride and sums_stride; HasInt8Rows(CurrentIsa()).
void MultiplyInt8Rows(const int8_t* weights, size_t stride, size_t in, size_t out, const uint8_t* x,
                      size_t rows, int32_t* sums, size_t sums_stride);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_INT8_ROWS_H_
