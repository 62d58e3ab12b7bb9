// What differs between oneDNN 2.6 and 3, in one place. Internal to engine/ops: includes dnnl.hpp.
#ifndef NIBU_ENGINE_OPS_ONEDNN_H_
#define NIBU_ENGINE_OPS_ONEDNN_H_

#include <cstdint>
#include <dnnl.hpp>
#include <string>
#include <vector>

#include "engine/ops/matmul_rule.h"

namespace nibu {

constexpr int kOneDnnMajor = DNNL_VERSION_MAJOR;

// Whether a reorder may be given weights as [out, in]. Where the outputs are no whole blocks, 3.7's
// jit:uni leaves elements out, on some CPUs (seen on AMD's Zen 5, whatever the instruction set).
constexpr bool kReordersTransposed = DNNL_VERSION_MAJOR < 3;

// The one CPU engine: a constant without state, shared by packed weights and primitives.
const dnnl::engine& CpuEngine();

// The instruction set that oneDNN's kernels use here (ONEDNN_MAX_CPU_ISA may lower it).
Isa CurrentIsa();
// Of one of oneDNN's values, which are sets of bits: what no name is known for is the highest set
// it includes.
Isa IsaOf(uint32_t value);
// "avx512_core_amx", ...; with a "+" where it is more than the name says.
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

}  // namespace nibu

#endif  // NIBU_ENGINE_OPS_ONEDNN_H_
