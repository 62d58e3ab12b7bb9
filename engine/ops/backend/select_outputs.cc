// Linear::Select makes a small map of chosen outputs, as shortlists need it: it copies their
// columns from the packed weights of a large map into a packed weight of its own.
#include <algorithm>
#include <cstring>
#include <dnnl.hpp>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "engine/ops/backend/packed_linear.h"
#include "engine/ops/linear.h"

namespace nibu::internal {
namespace {

// Rounds a number of outputs up to one that matmuls are made for, so that few primitives are
// needed.
int RoundUpOutputs(size_t outputs) {
  const size_t step = outputs <= 1024 ? 64 : 256;
  return static_cast<int>((outputs + step - 1) / step * step);
}

// Copies columns from one layout into another. In either, element (k, n) lies at the offset of k
// plus that of n (OffsetOf), so the offsets of all k are worked out once, for all columns. Elements
// of which four bytes lie side by side in both layouts, as kernels with VNNI want them, are copied
// together.
class ColumnCopier {
 public:
  ColumnCopier(const Blocking& from, const Blocking& to, size_t element)
      : from_(from), to_(to), element_(element), chunk_(element) {
    constexpr size_t kGroup = 4;  // bytes: VNNI's groups
    const size_t group = kGroup / element;
    const auto inputs = static_cast<size_t>(from_.dims[0]);
    bool grouped = inputs % group == 0;  // a column's groups are contiguous in both layouts
    for (size_t k = 0; k < inputs; ++k) {
      offsets_.emplace_back(OffsetOf(from_, 0, k, element), OffsetOf(to_, 0, k, element));
      const auto& [first_from, first_to] = offsets_[k - k % group];
      const size_t within = k % group * element;
      grouped = grouped && offsets_[k] == std::pair(first_from + within, first_to + within);
    }
    if (!grouped) return;
    chunk_ = kGroup;
    for (size_t k = 0; k < inputs; k += group) offsets_[k / group] = offsets_[k];
    offsets_.resize(inputs / group);
  }

  // Copies column n of `source` to column j of `destination`. `next`: the column of `source` that
  // will be copied next, which is prefetched meanwhile.
  void Copy(const char* source, size_t n, size_t next, char* destination, size_t j) const {
    const char* const ahead = source + OffsetOf(from_, 1, next, element_);
    source += OffsetOf(from_, 1, n, element_);
    destination += OffsetOf(to_, 1, j, element_);
    if (chunk_ == 4) return CopyChunks<4>(source, ahead, destination);
    if (chunk_ == 2) return CopyChunks<2>(source, ahead, destination);
    CopyChunks<1>(source, ahead, destination);
  }

 private:
  template <size_t kChunk>
  void CopyChunks(const char* source, const char* ahead, char* destination) const {
    for (const auto& [from, to] : offsets_) {
      __builtin_prefetch(ahead + from);
      std::memcpy(destination + to, source + from, kChunk);
    }
  }

  Blocking from_;
  Blocking to_;
  size_t element_;                                  // bytes
  size_t chunk_;                                    // bytes that are copied together
  std::vector<std::pair<size_t, size_t>> offsets_;  // of a column's chunks, in both layouts
};

char* DataOf(const dnnl::memory& part) { return static_cast<char*>(part.get_data_handle()); }

}  // namespace

// Output i of the map that the blocks make together is output i % width of block i / width. The
// outputs by which the new map is rounded up repeat the last chosen one.
Linear Linear::Select(absl::Span<const Linear> blocks, absl::Span<const int> outputs,
                      std::pmr::memory_resource* memory) {
  ABSL_ASSERT(!blocks.empty() && !outputs.empty());
  ABSL_ASSERT(absl::c_all_of(outputs, [last = blocks.size() - 1, &blocks](int output) {
    const int full = static_cast<int>(last) * blocks[0].out();
    return 0 <= output && output < full + blocks[last].out();
  }));
  const auto width = static_cast<size_t>(blocks[0].out());
  PackedHeader header = blocks[0].packed_->header();
  header.activation = Activation::kNone;
  header.out = RoundUpOutputs(outputs.size());
  auto packed = std::make_shared<Packed>(header, memory);
  const bool is_int4 = header.type == ComputeType::kInt4;
  const size_t element = is_int4 ? 0 : dnnl::memory::data_type_size(WeightType(header.type));
  // The copiers for the parts of a block, by the number of its outputs: all blocks but the last
  // have the same layout.
  std::map<int, std::vector<ColumnCopier>> all_copiers;
  for (size_t j = 0; j < static_cast<size_t>(header.out); ++j) {
    const auto output = static_cast<size_t>(outputs[std::min(j, outputs.size() - 1)]);
    const auto after = static_cast<size_t>(outputs[std::min(j + 1, outputs.size() - 1)]);
    const size_t n = output % width;
    const size_t next = after / width == output / width ? after % width : n;
    const Packed& block = *blocks[output / width].packed_;
    if (is_int4) CopyInt4Output(Int4WeightsIn(block.blob), n, Int4WeightsIn(packed->blob), j);
    std::vector<ColumnCopier>& copiers = all_copiers[block.spec.out];
    for (size_t i = copiers.size(); i < block.parts.size(); ++i) {
      copiers.emplace_back(block.header().blockings()[i], packed->header().blockings()[i], element);
    }
    if (block.bias_data != nullptr) packed->bias_data[j] = block.bias_data[n];
    if (block.scales != nullptr) packed->scales[j] = block.scales[n];
    if (block.zero_sums != nullptr) packed->zero_sums[j] = block.zero_sums[n];
    for (size_t i = 0; i < copiers.size(); ++i) {
      copiers[i].Copy(DataOf(block.parts[i]), n, next, DataOf(packed->parts[i]), j);
    }
  }
  Linear linear;
  linear.packed_ = std::move(packed);
  return linear;
}

}  // namespace nibu::internal
