// The oneDNN side of a Linear. Internal to engine/ops: includes dnnl.hpp.
#ifndef NIBU_ENGINE_OPS_PACKED_LINEAR_H_
#define NIBU_ENGINE_OPS_PACKED_LINEAR_H_

#include <cstdint>
#include <dnnl.hpp>

#include "absl/types/span.h"
#include "engine/core/aligned_buffer.h"
#include "engine/ops/linear.h"
#include "engine/ops/quantize.h"

namespace nibu {

// What one oneDNN matmul needs to know. x [rows, in] is float32, bfloat16 or u8; y [rows, out]
// float32 (bfloat16 with half_output), or the int32 sums of int8, which are finished by kernels of
// ours, since oneDNN 2 has no scales for each row.
struct MatmulSpec {
  ComputeType type;
  int in;
  int out;
  bool bias;  // bias and activation are applied by oneDNN; never set for int8
  Activation activation;
  bool half_output;
};

// The one CPU engine: a constant without state, shared by packed weights and primitives.
const dnnl::engine& CpuEngine();

// `weights`: a fixed layout, or format_tag::any to let oneDNN choose. Throws dnnl::error.
dnnl::matmul::primitive_desc DescribeMatmul(const MatmulSpec& spec, int rows,
                                            const dnnl::memory::desc& weights);

// Element type of x and the weights.
dnnl::memory::data_type SourceType(ComputeType type);
dnnl::memory::data_type WeightType(ComputeType type);

// How this CPU's int8 kernels want activations.
QuantizationRange ActivationRange();

// The row counts that primitives are made for, ascending.
absl::Span<const int> RowCounts(ComputeType type, bool blocked);

struct Linear::Packed {
  MatmulSpec spec;
  Activation activation = Activation::kNone;
  bool blocked = false;  // brgemm kernels with blocked weights, else gemm
  AlignedBuffer<char> data;
  AlignedBuffer<float> bias_data;
  // int8: see Dequantization.
  AlignedBuffer<float> scales;
  AlignedBuffer<int32_t> zero_sums;
  float static_scale = 0;  // of the activations; 0: each row its own
  // Views of data and bias_data. Made once: setting a data handle writes to a layout's padding.
  dnnl::memory weights;
  dnnl::memory bias;
};

}  // namespace nibu

#endif  // NIBU_ENGINE_OPS_PACKED_LINEAR_H_
