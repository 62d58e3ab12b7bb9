// Hides the differences between oneDNN 2.6 and 3: instruction sets, descriptions, layouts.
#include "engine/ops/backend/onednn.h"

namespace nibu::internal {

using dnnl::memory;

namespace {

struct NamedIsa {
  dnnl::cpu_isa value;
  Isa isa;
  const char* name;
};

// oneDNN's instruction sets, the highest first.
constexpr NamedIsa kIsas[] = {
#if DNNL_VERSION_MAJOR >= 3
    {dnnl::cpu_isa::avx512_core_amx_fp16, Isa::kAmx, "avx512_core_amx_fp16"},
#endif
    {dnnl::cpu_isa::avx512_core_amx, Isa::kAmx, "avx512_core_amx"},
#if DNNL_VERSION_MAJOR >= 3
    {dnnl::cpu_isa::avx512_core_fp16, Isa::kAvx512Bf16, "avx512_core_fp16"},
#endif
    {dnnl::cpu_isa::avx512_core_bf16, Isa::kAvx512Bf16, "avx512_core_bf16"},
    {dnnl::cpu_isa::avx512_core_vnni, Isa::kAvx512Vnni, "avx512_core_vnni"},
    {dnnl::cpu_isa::avx512_core, Isa::kAvx512, "avx512_core"},
#if DNNL_VERSION_MAJOR >= 3
    {dnnl::cpu_isa::avx2_vnni_2, Isa::kAvx2Vnni, "avx2_vnni_2"},
#endif
    {dnnl::cpu_isa::avx2_vnni, Isa::kAvx2Vnni, "avx2_vnni"},
    {dnnl::cpu_isa::avx2, Isa::kAvx2, "avx2"},
    {dnnl::cpu_isa::avx, Isa::kAvx, "avx"},
    {dnnl::cpu_isa::sse41, Isa::kSse41, "sse41"},
};

const NamedIsa* Find(uint32_t value) {
  for (const NamedIsa& named : kIsas) {
    const auto bits = static_cast<uint32_t>(named.value);
    if ((value & bits) == bits) return &named;
  }
  return nullptr;
}

// The lists are oneDNN's, of 64-bit integers; `blocks`: how many of the last two count.
template <typename List>
Blocking MakeBlocking(const memory::desc& description, const List& dims, const List& strides,
                      const List& sizes, const List& of_dims, size_t blocks) {
  if (blocks > Blocking::kMostBlocks) {
    throw dnnl::error(dnnl_unimplemented, "oneDNN packs weights in too many blocks");
  }
  Blocking result{};
  result.bytes = static_cast<int64_t>(description.get_size());
  result.blocks = static_cast<int32_t>(blocks);
  for (size_t d = 0; d < 2; ++d) {
    result.dims[d] = static_cast<int32_t>(dims[d]);
    result.strides[d] = strides[d];
  }
  for (size_t b = 0; b < blocks; ++b) {
    result.block_sizes[b] = static_cast<int32_t>(sizes[b]);
    result.block_dims[b] = static_cast<int8_t>(of_dims[b]);
  }
  return result;
}

}  // namespace

const dnnl::engine& CpuEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

Isa IsaOf(uint32_t value) {
  const NamedIsa* found = Find(value);
  return found == nullptr ? Isa::kNone : found->isa;
}

std::string IsaName(uint32_t value) {
  const NamedIsa* found = Find(value);
  if (found == nullptr) return "any";
  return std::string(found->name) + (static_cast<uint32_t>(found->value) == value ? "" : "+");
}

#if DNNL_VERSION_MAJOR >= 3

dnnl::matmul::primitive_desc DescribeMatmul(const memory::desc& x, const memory::desc& weights,
                                            const memory::desc& bias, const memory::desc& y,
                                            const dnnl::primitive_attr& attributes) {
  return {CpuEngine(), x, weights, bias, y, attributes};
}

void AppendActivation(dnnl::algorithm algorithm, float alpha, dnnl::post_ops* post_ops) {
  post_ops->append_eltwise(algorithm, alpha, 0.0f);
}

Blocking BlockingOf(const memory::desc& description) {
  const auto sizes = description.get_inner_blks();
  return MakeBlocking(description, description.get_dims(), description.get_strides(), sizes,
                      description.get_inner_idxs(), sizes.size());
}

#else

dnnl::matmul::primitive_desc DescribeMatmul(const memory::desc& x, const memory::desc& weights,
                                            const memory::desc& bias, const memory::desc& y,
                                            const dnnl::primitive_attr& attributes) {
  return {{x, weights, bias, y}, attributes, CpuEngine()};
}

void AppendActivation(dnnl::algorithm algorithm, float alpha, dnnl::post_ops* post_ops) {
  post_ops->append_eltwise(1.0f, algorithm, alpha, 0.0f);
}

Blocking BlockingOf(const memory::desc& description) {
  const dnnl_memory_desc_t& desc = description.data;
  const dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
  return MakeBlocking(description, desc.dims, blocking.strides, blocking.inner_blks,
                      blocking.inner_idxs, static_cast<size_t>(blocking.inner_nblks));
}

#endif

// Takes the parts off the index from the innermost block outwards. `stride` is the number of
// elements in one step of the part at hand.
size_t OffsetOf(const Blocking& blocking, size_t dimension, size_t i, size_t element) {
  size_t stride = 1;
  size_t offset = 0;
  for (int b = blocking.blocks; b-- > 0;) {
    const auto size = static_cast<size_t>(blocking.block_sizes[b]);
    if (static_cast<size_t>(blocking.block_dims[b]) == dimension) {
      offset += i % size * stride;
      i /= size;
    }
    stride *= size;
  }
  return (offset + i * static_cast<size_t>(blocking.strides[dimension])) * element;
}

}  // namespace nibu::internal
