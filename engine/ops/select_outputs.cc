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
// it is a sum is so for every blocked layout: each dimension's index is cut into an outer part and
// parts for the blocks, and each part has its stride.
struct Offsets {
  std::vector<size_t> in;
  std::vector<size_t> out;

  explicit Offsets(const dnnl_memory_desc_t& desc)
      : in(OfDimension(desc, 0)), out(OfDimension(desc, 1)) {}

 private:
  static std::vector<size_t> OfDimension(const dnnl_memory_desc_t& desc, int dimension) {
    const dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
    const size_t element =
        dnnl::memory::data_type_size(static_cast<dnnl::memory::data_type>(desc.data_type));
    std::vector<size_t> offsets(static_cast<size_t>(desc.dims[dimension]));
    for (size_t i = 0; i < offsets.size(); ++i) {
      size_t rest = i;
      size_t stride = 1;
      size_t offset = 0;
      for (int b = blocking.inner_nblks - 1; b >= 0; --b) {
        const auto size = static_cast<size_t>(blocking.inner_blks[b]);
        if (blocking.inner_idxs[b] == dimension) {
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

// Bytes of a column that lie side by side in both layouts: 4 (VNNI's groups), or an element.
size_t ChunkSize(const Offsets& a, const Offsets& b, size_t element) {
  const size_t group = 4 / element;
  bool grouped = a.in.size() % group == 0;
  for (size_t k = 0; grouped && k < a.in.size(); ++k) {
    const size_t within = k % group * element;
    grouped = a.in[k] == a.in[k - k % group] + within && b.in[k] == b.in[k - k % group] + within;
  }
  return grouped ? 4 : element;
}

template <size_t kChunk>
void CopyColumn(const Offsets& from, const Offsets& to, size_t step, const char* source,
                char* destination) {
  for (size_t k = 0; k < from.in.size(); k += step) {
    std::memcpy(destination + to.in[k], source + from.in[k], kChunk);
  }
}

}  // namespace

Linear Linear::Select(absl::Span<const Linear> blocks, absl::Span<const int> outputs) {
  const auto width = static_cast<size_t>(blocks[0].out());
  PackedHeader header = blocks[0].packed_->header();
  header.activation = Activation::kNone;
  header.out = RoundUpOutputs(outputs.size());
  auto packed = std::make_shared<Packed>(header, /*lasting=*/false);
  char* const weights = static_cast<char*>(packed->weights.get_data_handle());
  const dnnl::memory::desc layout = packed->weights.get_desc();
  const Offsets to(layout.data);
  if (!std::equal(layout.data.dims, layout.data.dims + 2, layout.data.padded_dims)) {
    std::memset(weights, 0, layout.get_size());
  }
  const size_t element = dnnl::memory::data_type_size(WeightType(header.type));

  const Packed* block = nullptr;
  size_t chunk = 0;
  std::unique_ptr<Offsets> from;
  for (size_t j = 0; j < static_cast<size_t>(header.out); ++j) {
    const auto output = static_cast<size_t>(outputs[std::min(j, outputs.size() - 1)]);
    const size_t n = output % width;
    const Packed* const holder = blocks[output / width].packed_.get();
    if (holder != block) {
      // All blocks but the last have the same layout.
      if (block == nullptr || holder->spec.out != block->spec.out) {
        from = std::make_unique<Offsets>(holder->weights.get_desc().data);
        chunk = ChunkSize(*from, to, element);
      }
      block = holder;
    }
    if (block->bias_data != nullptr) packed->bias_data[j] = block->bias_data[n];
    if (block->scales != nullptr) {
      packed->scales[j] = block->scales[n];
      packed->zero_sums[j] = block->zero_sums[n];
    }
    const char* source = static_cast<const char*>(block->weights.get_data_handle()) + from->out[n];
    char* destination = weights + to.out[j];
    if (chunk == 4) {
      CopyColumn<4>(*from, to, 4 / element, source, destination);
    } else if (element == 2) {
      CopyColumn<2>(*from, to, 1, source, destination);
    } else {
      CopyColumn<1>(*from, to, 1, source, destination);
    }
  }
  Linear linear;
  linear.packed_ = std::move(packed);
  return linear;
}

}  // namespace nibu
