// Hides the differences between oneDNN 2.6 and 3. Internal to engine/ops: includes dnnl.hpp.
#ifndef NIBU_ENGINE_OPS_BACKEND_ONEDNN_H_
#define NIBU_ENGINE_OPS_BACKEND_ONEDNN_H_

#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <string>

#include "engine/ops/cpu.h"

namespace nibu::internal {

constexpr int kOneDnnMajor = DNNL_VERSION_MAJOR;

// Returns oneDNN's CPU engine: a constant without state, shared by packed weights and primitives.
const dnnl::engine& CpuEngine();

// Returns the instruction set of one of oneDNN's values, which are sets of bits. A value without a
// name is the highest named set that it includes.
Isa IsaOf(uint32_t value);
// Returns "avx512_core_amx", ...; with a "+" where the value is more than the name says.
std::string IsaName(uint32_t value);

// Returns the description of y = x W + bias. `bias`: a descriptor without dimensions for none.
// Throws dnnl::error.
dnnl::matmul::primitive_desc DescribeMatmul(const dnnl::memory::desc& x,
                                            const dnnl::memory::desc& weights,
                                            const dnnl::memory::desc& bias,
                                            const dnnl::memory::desc& y,
                                            const dnnl::primitive_attr& attributes);

// Adds an activation to what a primitive does with its results.
void AppendActivation(dnnl::algorithm algorithm, float alpha, dnnl::post_ops* post_ops);

// Describes how a matrix lies in memory. The matrix is cut into blocks, and these into smaller
// ones. The index of each of its two dimensions is cut accordingly, into an outer part, which
// counts the largest blocks, and a part for each block size of that dimension. In BA16a64b4a, for
// example, dimension 0 has the block sizes 16 and 4, dimension 1 has 64. Packed weights hold it as
// it is here, so that they can be undone on another CPU; what is not used is 0.
struct Blocking {
  static constexpr int kMostBlocks = 4;

  int64_t bytes;       // of the whole
  int64_t strides[2];  // of the outer parts, in elements
  int32_t dims[2];
  int32_t block_sizes[kMostBlocks];  // from the outermost to the innermost: 16, 64, 4
  int8_t block_dims[kMostBlocks];    // the dimension that each block size belongs to: 0, 1, 0
  int32_t blocks;                    // their number

  bool operator==(const Blocking&) const = default;
};
static_assert(sizeof(Blocking) == 56);

// Throws dnnl::error where there are more blocks.
Blocking BlockingOf(const dnnl::memory::desc& description);

// Returns the offset, in bytes, of index i of a dimension in a packed matrix [in, out]. Element (k,
// n) lies at the offset of k plus that of n, since each part of an index has a stride of its own.
// `element`: the bytes of an element.
size_t OffsetOf(const Blocking& blocking, size_t dimension, size_t i, size_t element);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_ONEDNN_H_
