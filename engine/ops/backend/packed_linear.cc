// Packed weights: oneDNN's description of their matmuls, their layout, their blob and its views.
#include "engine/ops/backend/packed_linear.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/base/macros.h"
#include "engine/core/huge_heap.h"
#include "engine/core/huge_memory.h"
#include "engine/core/status_macros.h"
#include "engine/ops/backend/int8_product.h"
#include "engine/ops/backend/int8_rows.h"

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
  if (type == ComputeType::kInt4) return memory::data_type::s8;
  return type == ComputeType::kBFloat16 ? memory::data_type::bf16 : memory::data_type::f32;
}

memory::data_type WeightType(ComputeType type) {
  ABSL_ASSERT(type != ComputeType::kInt4);
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

constexpr uint32_t kMagic = 0x326b706e;  // "npk2"
constexpr int kPackRows = 64;            // the row count that the packed layout is chosen for

size_t RoundUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Returns the bytes of the weights of a blob of type kInt4.
size_t Int4Bytes(const PackedHeader& header) {
  return Int4Weights{nullptr, static_cast<size_t>(header.in), static_cast<size_t>(header.out)}
      .bytes();
}

MatmulSpec SpecOf(const PackedHeader& header) {
  const bool finishes = !HasInt8Inputs(header.type);
  return {header.type, header.in, header.out, finishes && header.has_bias != 0,
          finishes ? header.activation : Activation::kNone};
}

MatmulKind KindOf(const MatmulSpec& spec, bool blocked) {
  return {spec.type, spec.in, spec.out, blocked, CurrentIsa(), kOneDnnMajor};
}

// Returns the zero point of activations that zero sums are made for.
uint8_t ZeroPoint(ComputeType type) {
  return HasInt8Inputs(type) ? static_cast<uint8_t>(ActivationRange(type, CurrentIsa()).zero) : 0;
}

// Returns the value of one step of a quantized input, by a model's activation scale, which is made
// for 127 levels.
float StaticScale(const PackedHeader& header) {
  if (!HasInt8Inputs(header.type) || header.activation_scale == 0) return 0;
  const auto levels = static_cast<float>(ActivationRange(header.type, CurrentIsa()).levels);
  return 127.0f / (header.activation_scale * levels);
}

// Returns whether all elements of a part lie within its bytes. The last one lies at the sum of the
// largest offsets: those of both outer parts, and all of the innermost block.
bool IsSound(const Blocking& part, int64_t element) {
  constexpr int32_t kMostSize = 4096;
  if (part.blocks < 0 || part.blocks > Blocking::kMostBlocks) return false;
  int64_t inner[2] = {1, 1};
  for (int b = 0; b < part.blocks; ++b) {
    const int8_t d = part.block_dims[b];
    const int32_t size = part.block_sizes[b];
    if ((d != 0 && d != 1) || size < 1 || size > kMostSize) return false;
    inner[d] *= size;
  }
  int64_t room = part.bytes / element - inner[0] * inner[1];
  for (int d = 0; d < 2; ++d) {
    const int64_t outer = (part.dims[d] - 1) / inner[d];
    if (part.dims[d] < 1 || part.strides[d] < 0 || room < 0) return false;
    if (outer > 0 && part.strides[d] > room / outer) return false;
    room -= outer * part.strides[d];
  }
  return room >= 0;
}

}  // namespace

PackedOffsets OffsetsIn(const PackedHeader& header) {
  size_t next = sizeof(PackedHeader) + RoundUp(header.parts * sizeof(Blocking));
  const auto take = [&] {
    return std::exchange(next, next + RoundUp(static_cast<size_t>(header.out) * sizeof(float)));
  };
  PackedOffsets offsets;
  if (header.has_bias != 0) offsets.bias = take();
  if (HasInt8Inputs(header.type)) offsets.scales = take();
  if (header.type == ComputeType::kInt8) offsets.zero_sums = take();
  offsets.weights = next;
  return offsets;
}

Int4Weights Int4WeightsIn(char* blob) {
  const auto& header = *reinterpret_cast<const PackedHeader*>(blob);
  return {reinterpret_cast<Int4Group*>(blob + OffsetsIn(header).weights),
          static_cast<size_t>(header.in), static_cast<size_t>(header.out)};
}

// The layout that this CPU wants for the weights of a Linear, part by part. int4: it has no parts.
struct Linear::Packed::Layout {
  explicit Layout(const MatmulSpec& spec) {
    if (spec.type == ComputeType::kInt4) return;
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

  absl::InlinedVector<Blocking, 1> blockings() const {
    absl::InlinedVector<Blocking, 1> all;
    for (const memory::desc& part : descriptions) all.push_back(BlockingOf(part));
    return all;
  }

  absl::InlinedVector<memory::desc, 1> descriptions;  // of each part
  MatmulRule rule;
  bool blocked = false;  // brgemm kernels with blocked weights, else gemm
};

Linear::Packed::Packed(PackedHeader header, std::pmr::memory_resource* from)
    : spec(SpecOf(header)), is_lasting(from == nullptr) {
  const Layout layout(spec);
  const auto blockings = layout.blockings();
  header.magic = kMagic;
  header.zero = ZeroPoint(spec.type);
  header.parts = static_cast<uint32_t>(blockings.size());
  const size_t offset = OffsetsIn(header).weights;
  header.size = offset;
  for (const Blocking& part : blockings) header.size += RoomOf(part);
  if (spec.type == ComputeType::kInt4) header.size += Int4Bytes(header);
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
  const bool has_gaps =
      spec.type == ComputeType::kInt4 ||
      header.size - offset > elements * memory::data_type_size(WeightType(spec.type));
  std::memset(blob, 0, has_gaps ? header.size : offset);
  std::memcpy(blob, &header, sizeof(header));
  std::memcpy(blob + sizeof(header), blockings.data(), blockings.size() * sizeof(Blocking));
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

// Points the members to the blob's parts.
void Linear::Packed::SetViews(const Layout& layout) {
  ABSL_ASSERT(reinterpret_cast<uintptr_t>(blob) % 64 == 0);
  rule = layout.rule;
  static_scale = StaticScale(header());
  const PackedOffsets offsets = OffsetsIn(header());
  if (offsets.bias != 0) bias_data = reinterpret_cast<float*>(blob + offsets.bias);
  if (offsets.scales != 0) scales = reinterpret_cast<float*>(blob + offsets.scales);
  if (offsets.zero_sums != 0) zero_sums = reinterpret_cast<int32_t*>(blob + offsets.zero_sums);
  if (spec.type == ComputeType::kInt4) return;
  char* next = blob + offsets.weights;
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
  if (spec.type == ComputeType::kInt8 && HasInt8Rows(CurrentIsa()) && !layout.blocked) {
    int8_rows = static_cast<const int8_t*>(parts[0].get_data_handle());
  }
  if (spec.bias) {
    bias = memory({{1, spec.out}, memory::data_type::f32, memory::format_tag::ab}, CpuEngine(),
                  bias_data);
  }
}

// Everything is checked before it is believed, since the bytes may come from any file. An element
// takes at least a byte, so that nothing is asked for that is larger than the blob.
absl::Status CheckBlob(absl::string_view bytes) {
  const auto damaged = [] { return absl::InvalidArgumentError("a packed weight is damaged"); };
  PackedHeader header;
  if (bytes.size() < sizeof(header)) return absl::InvalidArgumentError("a packed weight is cut");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != kMagic || header.type > ComputeType::kInt4 ||
      header.activation > Activation::kSwish || header.in < 1 || header.out < 1 ||
      header.parts > bytes.size() / sizeof(Blocking) || header.size != bytes.size() ||
      OffsetsIn(header).weights > header.size || !(header.activation_scale >= 0)) {
    return damaged();
  }
  if (header.type == ComputeType::kInt4) {
    const bool fits =
        header.parts == 0 && header.size == OffsetsIn(header).weights + Int4Bytes(header);
    return fits ? absl::OkStatus() : damaged();
  }
  if (header.parts < 1 ||
      static_cast<uint64_t>(header.in) * static_cast<uint64_t>(header.out) > header.size) {
    return damaged();
  }
  const auto element = static_cast<int64_t>(memory::data_type_size(WeightType(header.type)));
  uint64_t left = header.size - OffsetsIn(header).weights;
  int64_t in = 0;
  for (size_t i = 0; i < header.parts; ++i) {
    Blocking part;
    std::memcpy(&part, bytes.data() + sizeof(header) + i * sizeof(part), sizeof(part));
    if (part.bytes < 0 || static_cast<uint64_t>(part.bytes) > left || part.dims[1] != header.out ||
        !IsSound(part, element)) {
      return damaged();
    }
    in += part.dims[0];
    left -= std::min<uint64_t>(left, RoomOf(part));
  }
  return in == header.in && left == 0 ? absl::OkStatus() : damaged();
}

absl::Status CheckPacked(absl::string_view bytes) {
  NIBU_RETURN_IF_ERROR(CheckBlob(bytes));
  const auto& header = *reinterpret_cast<const PackedHeader*>(bytes.data());
  if (header.zero == ZeroPoint(header.type) &&
      header.blockings() ==
          absl::MakeConstSpan(Linear::Packed::Layout(SpecOf(header)).blockings())) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError("packed for another CPU or oneDNN");
}

}  // namespace nibu::internal
