#include <algorithm>
#include <cstdint>

#include "engine/attention/kernels.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {
namespace {

// Products are multiples of it in all three dimensions, filled up with zeros: AMX's kernels
// multiply pairs of inputs, also the one behind the last, and what lies there times 0 may be no
// number.
constexpr size_t kStep = 32;
constexpr size_t kQueries = 64;
constexpr size_t kKeys = 256;

size_t RoundUp(size_t n) { return (n + kStep - 1) / kStep * kStep; }

// Rows of bfloat16, and zeros behind and below them.
void Convert(const float* x, size_t stride, size_t rows, size_t dim, uint16_t* out) {
  const size_t width = RoundUp(dim);
  for (size_t r = 0; r < rows; ++r, out += width) {
    RoundToBFloat16(x + r * stride, dim, out);
    std::fill(out + dim, out + width, uint16_t{0});
  }
  std::fill_n(out, (RoundUp(rows) - rows) * width, uint16_t{0});
}

uint16_t* BFloat16s(Arena* arena, size_t n) {
  return reinterpret_cast<uint16_t*>(arena->Floats((n + 1) / 2));
}

// Scratch for a head of `positions` positions, and `dim` columns with those that fill it up.
struct Tiles {
  Tiles(size_t positions, size_t dim, Arena* arena)
      : keys(BFloat16s(arena, RoundUp(positions) * dim)),
        values(BFloat16s(arena, RoundUp(positions) * dim)),
        queries(BFloat16s(arena, kQueries * dim)),
        weights(BFloat16s(arena, kQueries * kKeys)),
        scaled(arena->Floats(kQueries * dim)),
        scores(arena->Floats(kQueries * kKeys)),
        part(arena->Floats(kQueries * dim)) {}
  uint16_t* keys;
  uint16_t* values;
  uint16_t* queries;
  uint16_t* weights;  // exp(scores)
  float* scaled;      // queries
  float* scores;
  float* part;  // of the output, from one tile of keys
};

// One head of queries first .. first + rows - 1.
void AttendTile(const Tiles& tiles, const AttentionSpec& spec, const Queries& queries, size_t h,
                size_t first, size_t rows, size_t positions, Matmul* matmul,
                const AttentionOutput& output) {
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const size_t columns = RoundUp(dim);
  const auto d = static_cast<int>(columns);
  const auto m = static_cast<int>(RoundUp(rows));
  RunningSoftmax softmax[kQueries];
  float* const out = output.rows + first * output.stride + h * dim;
  for (size_t r = 0; r < rows; ++r) {
    std::fill_n(out + r * output.stride, dim, 0.0f);
    softmax[r].weights = output.WeightsOf(h, first + r, queries, positions);
  }
  for (size_t start = 0; start < positions; start += kKeys) {
    const size_t n = std::min(kKeys, positions - start);
    const size_t width = RoundUp(n);
    matmul->MultiplyBFloat16(tiles.queries, tiles.keys + start * columns, /*transposed=*/true, m, d,
                             static_cast<int>(width), tiles.scores);
    float keep[kQueries];
    for (size_t r = 0; r < rows; ++r) {
      const float* bias = spec.bias.Of(h, static_cast<size_t>(queries.first) + first + r, start);
      float* const scores = tiles.scores + r * width;
      keep[r] = AddToSoftmax(bias, n, scores, &softmax[r]);
      std::fill(scores + n, scores + width, 0.0f);
    }
    RoundToBFloat16(tiles.scores, RoundUp(rows) * width, tiles.weights);
    matmul->MultiplyBFloat16(tiles.weights, tiles.values + start * columns, /*transposed=*/false, m,
                             static_cast<int>(width), d, tiles.part);
    for (size_t r = 0; r < rows; ++r) {
      Accumulate(tiles.part + r * columns, keep[r], dim, out + r * output.stride);
    }
  }
  for (size_t r = 0; r < rows; ++r) {
    const float inverse = softmax[r].Finish();
    for (size_t i = 0; i < dim; ++i) out[r * output.stride + i] *= inverse;
  }
}

}  // namespace

void AttendInBFloat16(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                      const AttentionOutput& output, Matmul* matmul, Arena* arena) {
  const auto positions = static_cast<size_t>(memory.positions);
  const auto count = static_cast<size_t>(queries.count);
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const float scale = spec.shape.Scale();
  const Tiles tiles(positions, RoundUp(dim), arena);
  for (size_t h = 0; h < static_cast<size_t>(spec.shape.heads); ++h) {
    const size_t column = h * dim;
    Convert(memory.keys + column, memory.stride, positions, dim, tiles.keys);
    Convert(memory.values + column, memory.stride, positions, dim, tiles.values);
    for (size_t first = 0; first < count; first += kQueries) {
      const size_t rows = std::min(kQueries, count - first);
      for (size_t r = 0; r < rows; ++r) {
        const float* query = queries.rows + (first + r) * queries.stride + column;
        for (size_t i = 0; i < dim; ++i) tiles.scaled[r * dim + i] = query[i] * scale;
      }
      Convert(tiles.scaled, dim, rows, dim, tiles.queries);
      AttendTile(tiles, spec, queries, h, first, rows, positions, matmul, output);
    }
  }
}

}  // namespace nibu::internal
