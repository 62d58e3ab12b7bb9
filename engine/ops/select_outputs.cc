// Linear::Select: copies columns from one packed layout into another.
#include <algorithm>
#include <cstring>
#include <dnnl.hpp>
#include <utility>
#include <vector>

#include "engine/ops/linear.h"
#include "engine/ops/packed_linear.h"

namespace nibu {
namespace {

// Numbers of outputs that matmuls are made for.
int RoundUpOutputs(size_t outputs) {
  const size_t step = outputs <= 1024 ? 64 : 256;
  return static_cast<int>((outputs + step - 1) / step * step);
}

// Where the elements of a packed matrix [in, out] lie: element (k, n) at in[k] + out[n] bytes. That
// it is a sum is so for every blocked layout: each part of an index has its stride.
struct Offsets {
  std::vector<size_t> in;
  std::vector<size_t> out;

  Offsets(const Blocking& blocking, size_t element)
      : in(OfDimension(blocking, 0, element)), out(OfDimension(blocking, 1, element)) {}

 private:
  static std::vector<size_t> OfDimension(const Blocking& blocking, size_t dimension,
                                         size_t element) {
    std::vector<size_t> offsets(static_cast<size_t>(blocking.dims[dimension]));
    for (size_t i = 0; i < offsets.size(); ++i) {
      size_t rest = i;
      size_t stride = 1;
      size_t offset = 0;
      for (size_t b = blocking.block_sizes.size(); b-- > 0;) {
        const auto size = static_cast<size_t>(blocking.block_sizes[b]);
        if (static_cast<size_t>(blocking.block_dims[b]) == dimension) {
          offset += rest % size * stride;
          rest /= size;
        }
        stride *= size;
      }
      offsets[i] = (offset + rest * static_cast<size_t>(blocking.strides[dimension])) * element;
    }
    return offsets;
  }
};

// Of each part of the weights.
std::vector<Offsets> OffsetsOf(const Linear::Packed& packed) {
  std::vector<Offsets> offsets;
  for (const dnnl::memory& part : packed.parts) {
    offsets.emplace_back(BlockingOf(part.get_desc()),
                         dnnl::memory::data_type_size(WeightType(packed.spec.type)));
  }
  return offsets;
}

// Copies columns from one layout into another.
class ColumnCopier {
 public:
  ColumnCopier(Offsets from, const Offsets& to, size_t element)
      : from_(std::move(from)), to_(to), element_(element), grouped_(IsGrouped()) {}

  void Copy(const char* source, size_t n, char* destination, size_t j) const {
    source += from_.out[n];
    destination += to_.out[j];
    if (grouped_) {
      CopyChunks<kGroup>(kGroup / element_, source, destination);
    } else if (element_ == 2) {
      CopyChunks<2>(1, source, destination);
    } else {
      CopyChunks<1>(1, source, destination);
    }
  }

 private:
  static constexpr size_t kGroup = 4;  // bytes: VNNI's groups

  // Whether groups of a column lie side by side in both layouts.
  bool IsGrouped() const {
    const size_t group = kGroup / element_;
    bool grouped = from_.in.size() % group == 0;
    for (size_t k = 0; grouped && k < from_.in.size(); ++k) {
      const size_t within = k % group * element_;
      grouped = from_.in[k] == from_.in[k - k % group] + within &&
                to_.in[k] == to_.in[k - k % group] + within;
    }
    return grouped;
  }

  template <size_t kChunk>
  void CopyChunks(size_t step, const char* source, char* destination) const {
    for (size_t k = 0; k < from_.in.size(); k += step) {
      std::memcpy(destination + to_.in[k], source + from_.in[k], kChunk);
    }
  }

  Offsets from_;
  const Offsets& to_;
  size_t element_;
  bool grouped_;
};

char* DataOf(const dnnl::memory& part) { return static_cast<char*>(part.get_data_handle()); }

}  // namespace

Linear Linear::Select(absl::Span<const Linear> blocks, absl::Span<const int> outputs) {
  const auto width = static_cast<size_t>(blocks[0].out());
  PackedHeader header = blocks[0].packed_->header();
  header.activation = Activation::kNone;
  header.out = RoundUpOutputs(outputs.size());
  auto packed = std::make_shared<Packed>(header, /*lasting=*/false);
  const std::vector<Offsets> to = OffsetsOf(*packed);
  for (const dnnl::memory& part : packed->parts) {
    const Blocking blocking = BlockingOf(part.get_desc());
    if (blocking.dims != blocking.padded_dims) {
      std::memset(DataOf(part), 0, part.get_desc().get_size());
    }
  }
  const size_t element = dnnl::memory::data_type_size(WeightType(header.type));

  const Packed* block = nullptr;
  std::vector<ColumnCopier> copiers;  // one for each part
  for (size_t j = 0; j < static_cast<size_t>(header.out); ++j) {
    const auto output = static_cast<size_t>(outputs[std::min(j, outputs.size() - 1)]);
    const size_t n = output % width;
    const Packed* const holder = blocks[output / width].packed_.get();
    if (holder != block) {
      // All blocks but the last have the same layout.
      if (block == nullptr || holder->spec.out != block->spec.out) {
        copiers.clear();
        std::vector<Offsets> from = OffsetsOf(*holder);
        for (size_t i = 0; i < from.size(); ++i) {
          copiers.emplace_back(std::move(from[i]), to[i], element);
        }
      }
      block = holder;
    }
    if (block->bias_data != nullptr) packed->bias_data[j] = block->bias_data[n];
    if (block->scales != nullptr) {
      packed->scales[j] = block->scales[n];
      packed->zero_sums[j] = block->zero_sums[n];
    }
    for (size_t i = 0; i < copiers.size(); ++i) {
      copiers[i].Copy(DataOf(block->parts[i]), n, DataOf(packed->parts[i]), j);
    }
  }
  Linear linear;
  linear.packed_ = std::move(packed);
  return linear;
}

}  // namespace nibu
