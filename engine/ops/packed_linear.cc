#include "engine/ops/packed_linear.h"

namespace nibu {

using dnnl::memory;

const dnnl::engine& CpuEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::data_type SourceType(ComputeType type) {
  switch (type) {
    case ComputeType::kFloat32:
      return memory::data_type::f32;
    case ComputeType::kBFloat16:
      return memory::data_type::bf16;
    case ComputeType::kInt8:
      return memory::data_type::u8;
  }
  return memory::data_type::undef;
}

memory::data_type WeightType(ComputeType type) {
  return type == ComputeType::kInt8 ? memory::data_type::s8 : SourceType(type);
}

dnnl::matmul::primitive_desc DescribeMatmul(const MatmulSpec& spec, int rows,
                                            const memory::desc& weights) {
  const auto ab = memory::format_tag::ab;
  auto y_type = memory::data_type::f32;
  if (spec.half_output) y_type = memory::data_type::bf16;
  if (spec.type == ComputeType::kInt8) y_type = memory::data_type::s32;
  const memory::desc x({rows, spec.in}, SourceType(spec.type), ab);
  const memory::desc y({rows, spec.out}, y_type, ab);
  const memory::desc b({1, spec.out}, memory::data_type::f32, ab);

  dnnl::post_ops post_ops;
  switch (spec.activation) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      post_ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
      break;
    case Activation::kGelu:
      post_ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_erf, 0.0f, 0.0f);
      break;
    case Activation::kGeluTanh:
      post_ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_tanh, 0.0f, 0.0f);
      break;
    case Activation::kGeluSigmoid:
      post_ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_swish, 1.702f, 0.0f);
      break;
    case Activation::kSwish:
      post_ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_swish, 1.0f, 0.0f);
      break;
  }
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(post_ops);
  const auto op =
      spec.bias ? dnnl::matmul::desc(x, weights, b, y) : dnnl::matmul::desc(x, weights, y);
  return dnnl::matmul::primitive_desc(op, attributes, CpuEngine());
}

const char* InstructionSet() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::all:
      return "any";
    case dnnl::cpu_isa::sse41:
      return "sse41";
    case dnnl::cpu_isa::avx:
      return "avx";
    case dnnl::cpu_isa::avx2:
      return "avx2";
    case dnnl::cpu_isa::avx2_vnni:
      return "avx2_vnni";
    case dnnl::cpu_isa::avx512_core:
      return "avx512_core";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "avx512_core_amx";
    default:
      return "newer";
  }
}

QuantizationRange ActivationRange() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::all:
    case dnnl::cpu_isa::sse41:
    case dnnl::cpu_isa::avx:
    case dnnl::cpu_isa::avx2:
    case dnnl::cpu_isa::avx512_core:
      return kSevenBitRange;
    default:  // AVX2 or AVX-512 with VNNI, AMX
      return kFullRange;
  }
}

// brgemm takes any row count; 32 and more divide into its full blocks. Its bfloat16 kernels (AMX)
// sum single rows, and long reductions of 256 rows, in another order than the rest. The older gemm
// kernels (AVX2) work in blocks of 6 rows and sum in another order in a rest of less than 4.
absl::Span<const int> RowCounts(ComputeType type, bool blocked) {
  static constexpr int kBrgemm[] = {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256};
  static constexpr int kBrgemmHalf[] = {2, 4, 8, 16, 24, 32, 48, 64, 96, 128};
  static constexpr int kGemm[] = {6, 12, 24, 48, 96, 144, 192, 240};
  if (!blocked) return kGemm;
  if (type == ComputeType::kBFloat16) return kBrgemmHalf;
  return kBrgemm;
}

}  // namespace nibu
