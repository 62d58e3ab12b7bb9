// Reads packed weights back: Linear::Unpack all of them, OutputReader single outputs. In a part,
// element (k, n) lies at the offset of k plus that of n (OffsetOf). Weights of int4 are read as
// floats.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/core/status_macros.h"
#include "engine/ops/backend/packed_linear.h"
#include "engine/ops/linear.h"

namespace nibu::internal {
namespace {

DType StoredType(ComputeType type) {
  if (type == ComputeType::kInt8) return DType::kInt8;
  return type == ComputeType::kBFloat16 ? DType::kBFloat16 : DType::kFloat32;
}

std::vector<size_t> Offsets(const Blocking& part, size_t dimension, size_t element) {
  std::vector<size_t> offsets(static_cast<size_t>(part.dims[dimension]));
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = OffsetOf(part, dimension, i, element);
  return offsets;
}

// Copies a part's elements of so many bytes to `to` [out, in]. A tile of outputs is copied at a
// time, since the elements of some outputs lie side by side in every layout.
template <size_t kElement>
void CopyPart(const Blocking& part, const char* from, size_t in, char* to) {
  constexpr size_t kTile = 64;
  const std::vector<size_t> inputs = Offsets(part, 0, kElement);
  const std::vector<size_t> outputs = Offsets(part, 1, kElement);
  for (size_t first = 0; first < outputs.size(); first += kTile) {
    const size_t end = std::min(first + kTile, outputs.size());
    for (size_t k = 0; k < inputs.size(); ++k) {
      for (size_t n = first; n < end; ++n) {
        std::memcpy(to + (n * in + k) * kElement, from + inputs[k] + outputs[n], kElement);
      }
    }
  }
}

// Sets out[k] = scale * the element at from + offsets[k].
template <typename T>
void Gather(const char* from, absl::Span<const size_t> offsets, float scale, float* out) {
  for (size_t k = 0; k < offsets.size(); ++k) {
    T value;
    std::memcpy(&value, from + offsets[k], sizeof(value));
    float weight = 0;
    if constexpr (std::is_same_v<T, uint16_t>) {  // bfloat16 is the upper half of a float
      const uint32_t bits = uint32_t{value} << 16;
      std::memcpy(&weight, &bits, sizeof(weight));
    } else {
      weight = static_cast<float>(value);
    }
    out[k] = scale * weight;
  }
}

}  // namespace

absl::StatusOr<PlainLinear> Linear::Unpack(absl::string_view bytes) {
  NIBU_RETURN_IF_ERROR(CheckBlob(bytes));
  const auto& header = *reinterpret_cast<const PackedHeader*>(bytes.data());
  PlainLinear plain;
  plain.dtype = StoredType(header.type);
  plain.in = header.in;
  plain.out = header.out;
  plain.activation = header.activation;
  plain.activation_scale = header.activation_scale;
  const PackedOffsets offsets = OffsetsIn(header);
  const auto vector = [&](size_t offset) {
    const auto* const values = reinterpret_cast<const float*>(bytes.data() + offset);
    return std::vector<float>(values, values + (offset != 0 ? header.out : 0));
  };
  plain.bias = vector(offsets.bias);
  const std::vector<float> units = vector(offsets.scales);
  if (header.type == ComputeType::kInt8) plain.scales = units;
  for (float& scale : plain.scales) scale = FileScale(scale);
  const auto in = static_cast<size_t>(header.in);
  const size_t element = DTypeSize(plain.dtype);
  plain.values.resize(in * static_cast<size_t>(plain.out) * element);
  char* to = plain.values.data();
  if (header.type == ComputeType::kInt4) {
    const Int4Weights weights = Int4WeightsIn(const_cast<char*>(bytes.data()));
    for (size_t n = 0; n < weights.out; ++n) {
      GetInt4Output(weights, n, units[n], reinterpret_cast<float*>(to) + n * in);
    }
    return plain;
  }
  const char* from = bytes.data() + offsets.weights;
  const auto copy = element == 4 ? CopyPart<4> : element == 2 ? CopyPart<2> : CopyPart<1>;
  for (const Blocking& part : header.blockings()) {
    copy(part, from, in, to);
    from += RoomOf(part);
    to += static_cast<size_t>(part.dims[0]) * element;
  }
  return plain;
}

OutputReader::OutputReader(std::vector<Linear> blocks) : blocks_(std::move(blocks)) {
  ABSL_ASSERT(!blocks_.empty());
  const size_t element = DTypeSize(StoredType(blocks_[0].compute_type()));
  for (const auto& [block, offsets] :
       {std::pair(&blocks_.front(), &offsets_), {&blocks_.back(), &last_offsets_}}) {
    for (const Blocking& part : block->packed()->header().blockings()) {
      const std::vector<size_t> more = Offsets(part, 0, element);
      offsets->insert(offsets->end(), more.begin(), more.end());
    }
  }
}

int OutputReader::out() const {
  return static_cast<int>(blocks_.size() - 1) * blocks_[0].out() + blocks_.back().out();
}

void OutputReader::Read(int output, float scale, float* weights) const {
  ABSL_ASSERT(0 <= output && output < out());
  const auto at = static_cast<size_t>(output / blocks_[0].out());
  const auto n = static_cast<size_t>(output % blocks_[0].out());
  const Linear::Packed& block = *blocks_[at].packed();
  if (block.scales != nullptr) scale *= block.scales[n];
  if (block.spec.type == ComputeType::kInt4) {
    return GetInt4Output(Int4WeightsIn(block.blob), n, scale, weights);
  }
  const DType dtype = StoredType(block.spec.type);
  const auto gather = dtype == DType::kInt8       ? Gather<int8_t>
                      : dtype == DType::kBFloat16 ? Gather<uint16_t>
                                                  : Gather<float>;
  absl::Span<const size_t> offsets = at + 1 < blocks_.size() ? offsets_ : last_offsets_;
  const char* from = block.blob + OffsetsIn(block.header()).weights;
  for (const Blocking& part : block.header().blockings()) {
    const auto inputs = static_cast<size_t>(part.dims[0]);
    gather(from + OffsetOf(part, 1, n, DTypeSize(dtype)), offsets.first(inputs), scale, weights);
    from += RoomOf(part);
    offsets.remove_prefix(inputs);
    weights += inputs;
  }
}

}  // namespace nibu::internal
