// Packed weights: oneDNN's description of their matmuls, their layout, their blob and its views.
#include "engine/ops/backend/packed_linear.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/base/macros.h"
#include "engine/core/huge_heap.h"
#include "engine/core/huge_memory.h"
#include "engine/ops/backend/int8_product.h"

namespace nibu::internal {

using dnnl::memory;

namespace {

// oneDNN's name and parameter of each Activation, in the order of that enum.
struct Eltwise {
  dnnl::algorithm algorithm;
  float alpha;
};
constexpr Eltwise kEltwise[] = {{dnnl::algorithm::undef, 0.0f},
                                {dnnl::algorithm::eltwise_relu, 0.0f},
                                {dnnl::algorithm::eltwise_gelu_erf, 0.0f},
                                {dnnl::algorithm::eltwise_gelu_tanh, 0.0f},
                                {dnnl::algorithm::eltwise_swish, 1.702f},
                                {dnnl::algorithm::eltwise_swish, 1.0f}};

}  // namespace

memory::data_type SourceType(ComputeType type) {
  if (type == ComputeType::kInt8) return memory::data_type::u8;
  return type == ComputeType::kBFloat16 ? memory::data_type::bf16 : memory::data_type::f32;
}

memory::data_type WeightType(ComputeType type) {
  return type == ComputeType::kInt8 ? memory::data_type::s8 : SourceType(type);
}

dnnl::matmul::primitive_desc DescribeMatmul(const MatmulSpec& spec, int rows,
                                            const memory::desc& weights) {
  const auto ab = memory::format_tag::ab;
  auto y_type = memory::data_type::f32;
  if (spec.bfloat16_output) y_type = memory::data_type::bf16;
  if (spec.type == ComputeType::kInt8) y_type = memory::data_type::s32;
  const memory::desc x({rows, spec.in}, SourceType(spec.type), ab);
  const memory::desc y({rows, spec.out}, y_type, ab);
  const memory::desc b({1, spec.out}, memory::data_type::f32, ab);
  dnnl::post_ops post_ops;
  if (spec.adds) post_ops.append_sum(1.0f);
  if (spec.activation != Activation::kNone) {
    const auto& [algorithm, alpha] = kEltwise[static_cast<size_t>(spec.activation)];
    AppendActivation(algorithm, alpha, &post_ops);
  }
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(post_ops);
  return DescribeMatmul(x, weights, spec.bias ? b : memory::desc(), y, attributes);
}

namespace {

constexpr uint32_t kMagic = 0x6b70626e;  // "nbpk"
constexpr int kPackRows = 64;            // the row count that the packed layout is chosen for

size_t RoundUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

MatmulSpec SpecOf(const PackedHeader& header) {
  const bool int8 = header.type == ComputeType::kInt8;
  return {header.type, header.in, header.out, !int8 && header.has_bias != 0,
          int8 ? Activation::kNone : header.activation};
}

MatmulKind KindOf(const MatmulSpec& spec, bool blocked) {
  return {spec.type, spec.in, spec.out, blocked, CurrentIsa(), kOneDnnMajor};
}

// Returns the offset of the weights in a blob: header and vectors stand before them.
size_t WeightsOffset(const PackedHeader& header) {
  const size_t vector = RoundUp(static_cast<size_t>(header.out) * sizeof(float));
  const int vectors = (header.has_bias != 0 ? 1 : 0) + (header.type == ComputeType::kInt8 ? 2 : 0);
  return sizeof(PackedHeader) + static_cast<size_t>(vectors) * vector;
}

}  // namespace

// The layout that this CPU wants for the weights of a Linear, part by part.
struct Linear::Packed::Layout {
  explicit Layout(const MatmulSpec& spec) {
    const int part_inputs = RuleFor(KindOf(spec, /*blocked=*/true)).part_inputs;
    MatmulSpec part = spec;
    for (int first = 0; first < spec.in; first += part_inputs) {
      part.in = std::min(part_inputs, spec.in - first);
      Add(part);
    }
    rule = RuleFor(KindOf(spec, blocked));  // part_inputs is the same for both
  }

  // Adds the layout of a part: oneDNN's own choice if it has a brgemm kernel (one of its kernels
  // for blocked weights) for it. Its gemm kernels read plain rows of outputs; these lie an odd
  // number of cache lines apart, since a power of two would put a column's values into the same few
  // sets of the cache, which made products up to four times slower.
  void Add(const MatmulSpec& part) {
    const memory::dims dims = {part.in, part.out};
    const auto type = WeightType(part.type);
    const auto preferred = DescribeMatmul(part, kPackRows, {dims, type, memory::format_tag::any});
    blocked = std::strncmp(preferred.impl_info_str(), "brg", 3) == 0;
    const memory::dim line = 64 / static_cast<memory::dim>(memory::data_type_size(type));
    const memory::dim stride = ((part.out + line - 1) / line | 1) * line;
    descriptions.push_back(blocked ? preferred.weights_desc()
                                   : memory::desc(dims, type, memory::dims{stride, 1}));
  }

  size_t size() const {
    size_t sum = 0;
    for (const memory::desc& part : descriptions) sum += RoundUp(part.get_size());
    return sum;
  }

  // Returns a hash (FNV-1a) of what decides how the blob's bytes are understood: the order of the
  // weights, and the zero point of activations, which is a factor of the zero sums.
  uint64_t Code() const {
    uint64_t hash = 14695981039346656037u;
    const auto add = [&hash](int64_t value) {
      for (int i = 0; i < 8; ++i) {
        hash = (hash ^ (static_cast<uint64_t>(value) >> 8 * i & 0xff)) * 1099511628211u;
      }
    };
    add(blocked ? 1 : 0);
    add(ActivationRange(CurrentIsa()).zero);
    for (const memory::desc& part : descriptions) {
      const Blocking blocking = BlockingOf(part);
      // The size may be more than that of the elements: oneDNN may append compensation sums.
      add(static_cast<int64_t>(part.get_size()));
      for (const auto* values : {&blocking.dims, &blocking.padded_dims, &blocking.strides,
                                 &blocking.block_sizes, &blocking.block_dims}) {
        for (const int64_t value : *values) add(value);
      }
    }
    return hash;
  }

  absl::InlinedVector<memory::desc, 1> descriptions;  // of each part
  MatmulRule rule;
  bool blocked = false;  // brgemm kernels with blocked weights, else gemm
};

Linear::Packed::Packed(PackedHeader header, std::pmr::memory_resource* from)
    : spec(SpecOf(header)), is_lasting(from == nullptr) {
  const Layout layout(spec);
  const size_t offset = WeightsOffset(header);
  header.magic = kMagic;
  header.weights_offset = static_cast<uint32_t>(offset);
  header.size = offset + layout.size();
  header.layout = layout.Code();
  if (from == nullptr) {
    const std::shared_ptr<char> memory = AllocateHuge(header.size);
    blob = memory.get();
    owner = memory;
  } else {
    MemoryPiece memory = TakePiece(from, header.size);
    blob = memory.get();
    owner = std::move(memory);
  }
  const auto elements = static_cast<size_t>(spec.in) * static_cast<size_t>(spec.out);
  const bool has_gaps = layout.size() > elements * memory::data_type_size(WeightType(spec.type));
  std::memset(blob, 0, has_gaps ? header.size : offset);
  std::memcpy(blob, &header, sizeof(header));
  SetViews(layout);
}

Linear::Packed::Packed(char* bytes, std::shared_ptr<const void> keep)
    : owner(std::move(keep)), blob(bytes) {
  ABSL_ASSERT(CheckPacked({bytes, static_cast<size_t>(header().size)}).ok());
  spec = SpecOf(header());
  SetViews(Layout(spec));
}

MatmulSpec Linear::Packed::PartSpec(size_t part) const {
  MatmulSpec result = spec;
  const int first = static_cast<int>(part) * rule.part_inputs;
  result.in = std::min(rule.part_inputs, spec.in - first);
  result.adds = part > 0;
  result.bias = spec.bias && part == 0;
  if (part + 1 < parts.size()) result.activation = Activation::kNone;
  return result;
}

// Walks over the blob in the order of its parts and points the members to them.
void Linear::Packed::SetViews(const Layout& layout) {
  ABSL_ASSERT(reinterpret_cast<uintptr_t>(blob) % 64 == 0);
  rule = layout.rule;
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
  for (const memory::desc& part : layout.descriptions) {
    parts.emplace_back(part, CpuEngine(), next);
    next += RoundUp(part.get_size());
  }
  const memory::desc blocks({spec.in, spec.out}, WeightType(spec.type),
                            memory::format_tag::BA16a64b4a);
  if (spec.type == ComputeType::kInt8 && HasInt8Product(CurrentIsa()) && spec.in % 64 == 0 &&
      spec.out % 64 == 0 && layout.descriptions[0] == blocks) {
    int8_weights = static_cast<const int8_t*>(parts[0].get_data_handle());
  }
  if (spec.bias) {
    bias = memory({{1, spec.out}, memory::data_type::f32, memory::format_tag::ab}, CpuEngine(),
                  bias_data);
  }
}

// The header is checked before it is believed, since the bytes may come from any file.
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
  // oneDNN is asked only for sizes that the blob can have: an element takes at least a byte.
  const auto elements = static_cast<uint64_t>(header.in) * static_cast<uint64_t>(header.out);
  if (elements > header.size) return absl::InvalidArgumentError("a packed weight is damaged");
  const Linear::Packed::Layout layout(SpecOf(header));
  if (header.layout != layout.Code() || header.size != header.weights_offset + layout.size()) {
    return absl::FailedPreconditionError("packed for another CPU or oneDNN");
  }
  return absl::OkStatus();
}

}  // namespace nibu::internal
