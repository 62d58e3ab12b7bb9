#include "engine/ops/packed_linear.h"

#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/aligned_buffer.h"
#include "engine/core/huge_memory.h"

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

const char* ComputeTypeName(ComputeType type) {
  switch (type) {
    case ComputeType::kFloat32:
      return "float32";
    case ComputeType::kBFloat16:
      return "bfloat16";
    case ComputeType::kInt8:
      return "int8";
  }
  return "unknown";
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

ComputeType FastestComputeType() {
  return dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::all ? ComputeType::kFloat32
                                                             : ComputeType::kInt8;
}

bool IsSupported(ComputeType type) {
  return type != ComputeType::kBFloat16 || absl::StrContains(InstructionSet(), "avx512");
}

QuantizationRange ActivationRange() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx2_vnni:
    case dnnl::cpu_isa::avx512_core_vnni:
    case dnnl::cpu_isa::avx512_core_bf16:
    case dnnl::cpu_isa::avx512_core_amx:
      return kFullRange;
    default:  // pairs of products are summed in 16 bits
      return kSevenBitRange;
  }
}

// brgemm takes any row count, and multiples of 8 at full speed. Its bfloat16 kernels (AMX) sum
// single rows, and long reductions of 256 rows, in another order than the rest. The older gemm
// kernels (AVX2) work in blocks of 6 rows and sum in another order in a rest of less than 4.
absl::Span<const int> RowCounts(ComputeType type, bool blocked) {
  static constexpr int kBrgemm[] = {1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96};
  static constexpr int kBrgemmHalf[] = {2, 4, 8, 16, 24, 32, 48, 64, 96};
  static constexpr int kGemm[] = {6, 12, 24, 48, 96};
  if (!blocked) return kGemm;
  if (type == ComputeType::kBFloat16) return kBrgemmHalf;
  return kBrgemm;
}

namespace {

constexpr uint32_t kMagic = 0x6b70626e;  // "nbpk"
constexpr int kPackRows = 64;            // the row count that the packed layout is chosen for

size_t RoundUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

MatmulSpec SpecOf(const PackedHeader& header) {
  const bool int8 = header.type == ComputeType::kInt8;
  return {header.type,
          header.in,
          header.out,
          !int8 && header.has_bias != 0,
          int8 ? Activation::kNone : header.activation,
          /*half_output=*/false};
}

struct PackedLayout {
  memory::desc weights;
  bool blocked;
};

// gemm kernels read plain rows of outputs. Rows are an odd number of cache lines apart: a power of
// two puts a column's values into the same few sets of the cache, up to four times slower.
PackedLayout PreferredLayout(const MatmulSpec& spec) {
  const memory::dims dims = {spec.in, spec.out};
  const auto type = WeightType(spec.type);
  const auto description = DescribeMatmul(spec, kPackRows, {dims, type, memory::format_tag::any});
  if (std::strncmp(description.impl_info_str(), "brg", 3) == 0) {
    return {description.weights_desc(), true};
  }
  const memory::dim line = 64 / static_cast<memory::dim>(memory::data_type_size(type));
  const memory::dim stride = ((spec.out + line - 1) / line | 1) * line;
  return {memory::desc(dims, type, memory::dims{stride, 1}), false};
}

// Offset of the weights in a blob.
size_t WeightsOffset(const PackedHeader& header) {
  const size_t vector = RoundUp(static_cast<size_t>(header.out) * sizeof(float));
  const int vectors = (header.has_bias != 0 ? 1 : 0) + (header.type == ComputeType::kInt8 ? 2 : 0);
  return sizeof(PackedHeader) + static_cast<size_t>(vectors) * vector;
}

// A hash (FNV-1a) of what decides how the blob's bytes are understood: the order of the weights and
// the zero point in the sums.
uint64_t LayoutCode(const PackedLayout& layout) {
  uint64_t hash = 14695981039346656037u;
  const auto add = [&hash](int64_t value) {
    for (int i = 0; i < 8; ++i) {
      hash = (hash ^ (static_cast<uint64_t>(value) >> 8 * i & 0xff)) * 1099511628211u;
    }
  };
  const dnnl_memory_desc_t& desc = layout.weights.data;
  const dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
  add(layout.blocked ? 1 : 0);
  add(ActivationRange().zero);
  add(desc.data_type);
  add(desc.format_kind);
  add(static_cast<int64_t>(desc.extra.flags));
  for (int i = 0; i < desc.ndims; ++i) {
    add(desc.dims[i]);
    add(desc.padded_dims[i]);
    add(blocking.strides[i]);
  }
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    add(blocking.inner_blks[i]);
    add(blocking.inner_idxs[i]);
  }
  return hash;
}

}  // namespace

Linear::Packed::Packed(PackedHeader header, bool lasting) : spec(SpecOf(header)) {
  const PackedLayout layout = PreferredLayout(spec);
  blocked = layout.blocked;
  const size_t offset = WeightsOffset(header);
  header.magic = kMagic;
  header.weights_offset = static_cast<uint32_t>(offset);
  header.size = RoundUp(offset + layout.weights.get_size());
  header.layout = LayoutCode(layout);
  if (lasting) {
    const std::shared_ptr<char> memory = AllocateHuge(header.size);
    blob = memory.get();
    owner = memory;
  } else {
    auto memory = std::make_shared<AlignedBuffer<char>>(header.size);
    blob = memory->data();
    owner = std::move(memory);
  }
  std::memset(blob, 0, blocked ? offset : header.size);  // oneDNN fills blocked layouts' gaps
  std::memcpy(blob, &header, sizeof(header));
  SetViews(layout.weights);
}

Linear::Packed::Packed(char* bytes, std::shared_ptr<const void> keep)
    : owner(std::move(keep)), blob(bytes) {
  spec = SpecOf(header());
  const PackedLayout layout = PreferredLayout(spec);
  blocked = layout.blocked;
  SetViews(layout.weights);
}

void Linear::Packed::SetViews(const memory::desc& layout) {
  char* next = blob + sizeof(PackedHeader);
  const auto take = [&] {
    char* const vector = next;
    next += RoundUp(static_cast<size_t>(spec.out) * sizeof(float));
    return vector;
  };
  if (header().has_bias != 0) bias_data = reinterpret_cast<float*>(take());
  if (spec.type == ComputeType::kInt8) {
    scales = reinterpret_cast<float*>(take());
    zero_sums = reinterpret_cast<int32_t*>(take());
  }
  weights = memory(layout, CpuEngine(), next);
  if (spec.bias) {
    bias = memory({{1, spec.out}, memory::data_type::f32, memory::format_tag::ab}, CpuEngine(),
                  bias_data);
  }
}

absl::Status CheckPacked(absl::string_view bytes) {
  PackedHeader header;
  if (bytes.size() < sizeof(header)) return absl::InvalidArgumentError("a packed weight is cut");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != kMagic || header.type > ComputeType::kInt8 ||
      header.activation > Activation::kSwish || header.in < 1 || header.out < 1 ||
      header.size != bytes.size() || header.weights_offset != WeightsOffset(header) ||
      header.weights_offset > header.size || !(header.static_scale >= 0)) {
    return absl::InvalidArgumentError("a packed weight is damaged");
  }
  // Before oneDNN is asked: int8, the smallest type, bounds the sizes.
  const auto elements = static_cast<uint64_t>(header.in) * static_cast<uint64_t>(header.out);
  if (elements > header.size) return absl::InvalidArgumentError("a packed weight is damaged");
  try {
    const PackedLayout layout = PreferredLayout(SpecOf(header));
    if (header.layout != LayoutCode(layout) ||
        header.size != RoundUp(header.weights_offset + layout.weights.get_size())) {
      return absl::FailedPreconditionError("packed for another CPU or oneDNN");
    }
  } catch (const dnnl::error& e) {
    return absl::InvalidArgumentError(absl::StrCat("a packed weight is damaged: ", e.what()));
  }
  return absl::OkStatus();
}

std::string PackFingerprint() {
  const dnnl_version_t& version = *dnnl_version();
  return absl::StrCat(InstructionSet(), ", oneDNN ", version.major, ".", version.minor, ".",
                      version.patch, ", ", version.hash);
}

}  // namespace nibu
