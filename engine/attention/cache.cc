// Writes keys and values into the layouts of cache.h.
//
// A source, position by position: its row [k | v] is rounded or quantized head by head
// (StoreHeads); the key's elements go to the position's column in each head's block of 16
// positions (Scatter), and the value's stay a row. In int8 two neighbouring elements lie together,
// keys by their place in the head and values by their position (Interleave), since the kernels
// multiply pairs. A cell is a row [k | v] as it comes, with its scales behind it.
#include "engine/attention/cache.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/base/macros.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {
namespace {

size_t RoundUp(size_t n, size_t step) { return (n + step - 1) / step * step; }

size_t Heads(const AttentionShape& shape) { return static_cast<size_t>(shape.heads); }
size_t HeadDim(const AttentionShape& shape) { return static_cast<size_t>(shape.head_dim); }
size_t Dim(const AttentionShape& shape) { return Heads(shape) * HeadDim(shape); }

bool IsAligned(const void* memory) { return reinterpret_cast<uintptr_t>(memory) % 64 == 0; }

// out = x [heads, dim] in the cache's type; int8: also a scale for each head.
void StoreHeads(const float* x, size_t heads, size_t dim, CacheType type, void* out,
                float* scales) {
  const size_t n = heads * dim;
  if (type == CacheType::kFloat32) {
    std::memcpy(out, x, n * sizeof(float));
  } else if (type == CacheType::kBFloat16) {
    RoundToBFloat16(x, n, static_cast<uint16_t*>(out));
  } else {
    QuantizeRows(x, heads, dim, kSignedRange, /*static_scale=*/0, static_cast<uint8_t*>(out),
                 scales);
  }
}

// Copies one position's keys to their places in packed keys of `padded` positions.
template <typename T>
void Scatter(const AttentionShape& shape, const void* row, size_t position, size_t padded,
             void* packed) {
  constexpr size_t kPair = sizeof(T) == 1 ? 2 : 1;  // as PackedLayout says
  const auto* from = static_cast<const T*>(row);
  const size_t dim = HeadDim(shape);
  const size_t rows = (dim + kPair - 1) / kPair;  // of a block
  for (size_t h = 0; h < Heads(shape); ++h, from += dim) {
    T* column =
        static_cast<T*>(packed) +
        kPair * ((h * padded + position / kKeyBlock * kKeyBlock) * rows + position % kKeyBlock);
    size_t i = 0;
    for (; i + kPair <= dim; i += kPair) {
      std::memcpy(column + i * kKeyBlock, from + i, kPair * sizeof(T));
    }
    if (i < dim) column[i * kKeyBlock] = from[i];
  }
}

// out [n][2] = two rows [n], element by element.
void Interleave(const char* first, const char* second, size_t n, char* out) {
  for (size_t i = 0; i < n; ++i) {
    out[2 * i] = first[i];
    out[2 * i + 1] = second[i];
  }
}

// Offsets of a source's parts.
struct SourceLayout {
  SourceLayout(const AttentionShape& shape, size_t positions, CacheType type)
      : layout(type),
        padded(PaddedPositions(positions)),
        values(padded * Heads(shape) * layout.KeyBytes(HeadDim(shape))),
        key_scales(
            RoundUp(values + RoundUp(positions, layout.pair) * Dim(shape) * layout.element, 64)),
        value_scales(key_scales + Heads(shape) * padded * sizeof(float)),
        end(type == CacheType::kInt8 ? value_scales + Heads(shape) * padded * sizeof(float)
                                     : key_scales) {}
  PackedLayout layout;
  size_t padded;
  size_t values;
  size_t key_scales;
  size_t value_scales;
  size_t end;
};

}  // namespace

size_t PackedKeySize(const AttentionShape& shape, int positions) {
  return Dim(shape) * PaddedPositions(static_cast<size_t>(positions));
}

void PackKeys(const AttentionShape& shape, const float* keys, size_t stride, int positions,
              float* packed) {
  ABSL_ASSERT(IsAligned(packed));
  const auto n = static_cast<size_t>(positions);
  std::fill_n(packed, PackedKeySize(shape, positions), 0.0f);  // to fill up the last blocks
  for (size_t s = 0; s < n; ++s) {
    Scatter<float>(shape, keys + s * stride, s, PaddedPositions(n), packed);
  }
}

size_t SourceBytes(const AttentionShape& shape, int positions, CacheType type) {
  return SourceLayout(shape, static_cast<size_t>(positions), type).end;
}

void StoreSource(const AttentionShape& shape, const float* keys_values, int positions,
                 CacheType type, void* memory) {
  ABSL_ASSERT(IsAligned(memory));
  const auto n = static_cast<size_t>(positions);
  const SourceLayout layout(shape, n, type);
  const size_t dim = Dim(shape);
  char* const bytes = static_cast<char*>(memory);
  auto* key_scales = reinterpret_cast<float*>(bytes + layout.key_scales);
  auto* value_scales = reinterpret_cast<float*>(bytes + layout.value_scales);
  std::memset(bytes, 0, layout.values);  // to fill up the last blocks, and the scales
  std::memset(bytes + layout.key_scales, 0, layout.end - layout.key_scales);
  const auto scatter = type == CacheType::kFloat32    ? Scatter<float>
                       : type == CacheType::kBFloat16 ? Scatter<uint16_t>
                                                      : Scatter<int8_t>;
  const size_t element = ElementSize(type);
  std::vector<char> row(dim * element);
  std::vector<char> values(layout.layout.pair * dim);  // int8: of a pair of positions
  std::vector<float> scales(2 * Heads(shape));
  for (size_t s = 0; s < n; ++s, keys_values += 2 * dim) {
    StoreHeads(keys_values, Heads(shape), HeadDim(shape), type, row.data(), scales.data());
    scatter(shape, row.data(), s, layout.padded, memory);
    char* const to = bytes + layout.values + s * dim * element;
    char* const own = type == CacheType::kInt8 ? values.data() + s % 2 * dim : to;
    StoreHeads(keys_values + dim, Heads(shape), HeadDim(shape), type, own,
               scales.data() + Heads(shape));
    if (type != CacheType::kInt8) continue;
    if (s % 2 == 0 && s + 1 == n) std::fill_n(own + dim, dim, char{0});
    if (s % 2 == 1 || s + 1 == n) {
      Interleave(values.data(), values.data() + dim, dim, to - s % 2 * dim);
    }
    for (size_t h = 0; h < Heads(shape); ++h) {
      key_scales[h * layout.padded + s] = scales[h];
      value_scales[h * layout.padded + s] = scales[Heads(shape) + h];
    }
  }
}

KeysValues ViewSource(const AttentionShape& shape, int positions, CacheType type,
                      const void* memory) {
  ABSL_ASSERT(IsAligned(memory));
  const SourceLayout layout(shape, static_cast<size_t>(positions), type);
  const char* const bytes = static_cast<const char*>(memory);
  KeysValues view;
  view.type = type;
  view.keys = bytes;
  view.values = bytes + layout.values;
  view.value_stride = Dim(shape);
  view.positions = positions;
  view.head_stride = layout.padded;
  if (type == CacheType::kInt8) {
    view.key_scales = reinterpret_cast<const float*>(bytes + layout.key_scales);
    view.value_scales = reinterpret_cast<const float*>(bytes + layout.value_scales);
    view.scale_stride = layout.padded;
  }
  return view;
}

KeysValues SliceSource(const AttentionShape& shape, const KeysValues& source, int begin, int end) {
  ABSL_ASSERT(0 <= begin && begin < end && end <= source.positions);
  ABSL_ASSERT(begin % kKeyBlock == 0 && (end % kKeyBlock == 0 || end == source.positions));
  const PackedLayout layout(source.type);
  const auto first = static_cast<size_t>(begin);
  KeysValues slice = source;
  slice.keys = static_cast<const char*>(source.keys) + first * layout.KeyBytes(HeadDim(shape));
  slice.values =
      static_cast<const char*>(source.values) + first * source.value_stride * layout.element;
  slice.positions = end - begin;
  if (source.key_scales != nullptr) {
    slice.key_scales += first;
    slice.value_scales += first;
  }
  return slice;
}

void UnpackSource(const AttentionShape& shape, const KeysValues& source, float* rows) {
  ABSL_ASSERT(source.type == CacheType::kFloat32);
  const auto* const keys = static_cast<const float*>(source.keys);
  const auto* const values = static_cast<const float*>(source.values);
  const size_t dim = HeadDim(shape);
  for (size_t s = 0; s < static_cast<size_t>(source.positions); ++s, rows += 2 * Dim(shape)) {
    for (size_t c = 0; c < Dim(shape); ++c) {
      const size_t block = (c / dim * source.head_stride + s / kKeyBlock * kKeyBlock) * dim;
      rows[c] = keys[block + c % dim * kKeyBlock + s % kKeyBlock];
    }
    std::copy_n(values + s * source.value_stride, Dim(shape), rows + Dim(shape));
  }
}

size_t CellBytes(const AttentionShape& shape, CacheType type) {
  if (type != CacheType::kInt8) return RoundUp(2 * Dim(shape) * ElementSize(type), 64);
  return RoundUp(CellScales(shape) + 2 * Heads(shape) * sizeof(float), 64);
}

void StoreCell(const AttentionShape& shape, const float* keys_values, CacheType type, void* cell) {
  StoreHeads(keys_values, 2 * Heads(shape), HeadDim(shape), type, cell,
             reinterpret_cast<float*>(static_cast<char*>(cell) + CellScales(shape)));
}

Prefetcher::Prefetcher(const AttentionShape& shape, const KeysValues& memory)
    : source_(const_cast<void*>(memory.keys)),
      cells_(&source_, 1),
      lines_(SourceBytes(shape, memory.positions, memory.type) / 64),
      step_(lines_ / (2 * Heads(shape)) + 1) {}

Prefetcher::Prefetcher(const AttentionShape& shape, const CellHistory& history,
                       absl::Span<void* const> near)
    : cells_(history.cells),
      near_(near),
      offset_(history.offset),
      lines_(CellBytes(shape, history.type) / 64),
      step_(cells_.size() * lines_ / (2 * Heads(shape)) + 1) {}

void Prefetcher::Advance() {
  for (size_t n = 0; n < step_ && cell_ < cells_.size(); ++n) {
    if (cell_ < near_.size() && near_[cell_] == cells_[cell_]) {
      ++cell_;
      continue;
    }
    const char* const cell = static_cast<const char*>(cells_[cell_]) + offset_;
    __builtin_prefetch(cell + 64 * line_, /*rw=*/0, /*locality=*/2);
    if (++line_ < lines_) continue;
    line_ = 0;
    ++cell_;
  }
}

}  // namespace nibu::internal
