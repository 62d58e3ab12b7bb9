// Hides the differences between oneDNN 2.6 and 3. Internal to engine/ops: includes dnnl.hpp.
#ifndef NIBU_ENGINE_OPS_BACKEND_ONEDNN_H_
#define NIBU_ENGINE_OPS_BACKEND_ONEDNN_H_

#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <string>
#include <vector>

#include "engine/ops/cpu.h"

namespace nibu::internal {

constexpr int kOneDnnMajor = DNNL_VERSION_MAJOR;

// The one CPU engine: a constant without state, shared by packed weights and primitives.
const dnnl::engine& CpuEngine();

// Returns the instruction set of one of oneDNN's values, which are sets of bits. A value without a
// name is the highest named set that it includes.
Isa IsaOf(uint32_t value);
// Returns "avx512_core_amx", ...; with a "+" where the value is more than the name says.
std::string IsaName(uint32_t value);

// bias: a descriptor without dimensions for none. Throws dnnl::error.
dnnl::matmul::primitive_desc DescribeMatmul(const dnnl::memory::desc& x,
                                            const dnnl::memory::desc& weights,
                                            const dnnl::memory::desc& bias,
                                            const dnnl::memory::desc& y,
                                            const dnnl::primitive_attr& attributes);

void AppendActivation(dnnl::algorithm algorithm, float alpha, dnnl::post_ops* post_ops);

// How a matrix lies in memory: the index of each of its two dimensions is cut into an outer part
// and parts for the blocks.
struct Blocking {
  std::vector<int64_t> dims;
  std::vector<int64_t> padded_dims;
  std::vector<int64_t> strides;      // of the outer parts, in elements
  std::vector<int64_t> block_sizes;  // from the outermost
  std::vector<int64_t> block_dims;   // the dimension that each is of
};
Blocking BlockingOf(const dnnl::memory::desc& description);

// Bytes from the start of a packed matrix [in, out] to where index i of a dimension begins: element
// (k, n) lies at the sum of those of k and n. That it is a sum is so for every blocked layout: each
// part of an index has its stride.
size_t OffsetOf(const Blocking& blocking, size_t dimension, size_t i, size_t element);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_ONEDNN_H_
