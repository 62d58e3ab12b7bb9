#include "engine/attention/bfloat16_attention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/ops/quantize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/attention/bfloat16_attention.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/attention/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu {
namespace HWY_NAMESPACE {

// One query and a tile of n keys: scores [width] to exp(scores - maximum), 0 from n on. `maximum`
// and `sum` are those of the tiles so far. Returns what the output so far is to be multiplied by.
float SoftmaxTile(const float* bias, size_t n, size_t width, float* scores, float* maximum,
                  float* sum) {
  if (bias != nullptr) AddBias(bias, n, scores);
  const float most = Maximum(scores, n, *maximum);
  const float keep = std::exp(*maximum - most);  // 0 for the first tile
  *maximum = most;
  *sum = *sum * keep + Exponentials(scores, n, most);
  std::fill(scores + n, scores + width, 0.0f);
  return keep;
}

// out = out * keep + part
void Accumulate(const float* part, float keep, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = out[i] * keep + part[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu {
namespace {

HWY_EXPORT(SoftmaxTile);
HWY_EXPORT(Accumulate);

constexpr size_t kStep = 32;  // tiles are multiples of it
constexpr size_t kQueries = 64;
constexpr size_t kKeys = 256;

size_t RoundUp(size_t n) { return (n + kStep - 1) / kStep * kStep; }

// Rows of bfloat16, and of zeros to fill the last tile.
void Convert(const float* x, size_t stride, size_t rows, size_t dim, uint16_t* out) {
  for (size_t r = 0; r < rows; ++r) RoundToBFloat16(x + r * stride, dim, out + r * dim);
  std::fill(out + rows * dim, out + RoundUp(rows) * dim, uint16_t{0});
}

uint16_t* HalfFloats(Arena* arena, size_t n) {
  return reinterpret_cast<uint16_t*>(arena->Floats((n + 1) / 2));
}

// Scratch for a head of `positions` positions.
struct Tiles {
  Tiles(size_t positions, size_t dim, Arena* arena)
      : keys(HalfFloats(arena, RoundUp(positions) * dim)),
        values(HalfFloats(arena, RoundUp(positions) * dim)),
        queries(HalfFloats(arena, kQueries * dim)),
        weights(HalfFloats(arena, kQueries * kKeys)),
        scaled(arena->Floats(dim)),
        scores(arena->Floats(kQueries * kKeys)),
        part(arena->Floats(kQueries * dim)) {}
  uint16_t* keys;
  uint16_t* values;
  uint16_t* queries;
  uint16_t* weights;  // exp(scores)
  float* scaled;      // a query
  float* scores;
  float* part;  // of the output, from one tile of keys
};

// Queries first .. first + rows - 1 of a head, their rows at `out`.
void AttendTile(const Tiles& tiles, size_t first, size_t rows, size_t positions, size_t dim,
                const float* bias, MatmulContext* matmul, float* out, size_t out_stride) {
  const auto d = static_cast<int>(dim);
  const auto m = static_cast<int>(RoundUp(rows));
  float maximum[kQueries];
  float sum[kQueries] = {};
  std::fill_n(maximum, kQueries, -std::numeric_limits<float>::infinity());
  for (size_t r = 0; r < rows; ++r) std::fill_n(out + r * out_stride, dim, 0.0f);
  for (size_t start = 0; start < positions; start += kKeys) {
    const size_t n = std::min(kKeys, positions - start);
    const size_t width = RoundUp(n);
    matmul->Multiply(tiles.queries, tiles.keys + start * dim, /*transposed=*/true, m, d,
                     static_cast<int>(width), tiles.scores);
    float keep[kQueries];
    for (size_t r = 0; r < rows; ++r) {
      const float* biases = bias == nullptr ? nullptr : bias + start - (first + r);
      keep[r] = HWY_DYNAMIC_DISPATCH(SoftmaxTile)(biases, n, width, tiles.scores + r * width,
                                                  maximum + r, sum + r);
    }
    RoundToBFloat16(tiles.scores, rows * width, tiles.weights);
    matmul->Multiply(tiles.weights, tiles.values + start * dim, /*transposed=*/false, m,
                     static_cast<int>(width), d, tiles.part);
    for (size_t r = 0; r < rows; ++r) {
      HWY_DYNAMIC_DISPATCH(Accumulate)
      (tiles.part + r * dim, keep[r], dim, out + r * out_stride);
    }
  }
  for (size_t r = 0; r < rows; ++r) {
    const float inverse = 1.0f / sum[r];
    for (size_t i = 0; i < dim; ++i) out[r * out_stride + i] *= inverse;
  }
}

}  // namespace

void AttendInBFloat16(const AttentionShape& shape, const float* q, const float* k, const float* v,
                      size_t stride, int positions, const DistanceBias& bias, MatmulContext* matmul,
                      Arena* arena, float* out, size_t out_stride) {
  const auto n = static_cast<size_t>(positions);
  const auto dim = static_cast<size_t>(shape.head_dim);
  const float scale = shape.Scale();
  const Arena::Mark mark = arena->mark();
  const Tiles tiles(n, dim, arena);
  for (size_t h = 0; h < static_cast<size_t>(shape.heads); ++h) {
    const size_t column = h * dim;
    Convert(k + column, stride, n, dim, tiles.keys);
    Convert(v + column, stride, n, dim, tiles.values);
    const float* biases = bias.values == nullptr ? nullptr : bias.values + h * bias.stride;
    for (size_t first = 0; first < n; first += kQueries) {
      const size_t rows = std::min(kQueries, n - first);
      for (size_t r = 0; r < rows; ++r) {
        const float* query = q + (first + r) * stride + column;
        for (size_t i = 0; i < dim; ++i) tiles.scaled[i] = query[i] * scale;
        RoundToBFloat16(tiles.scaled, dim, tiles.queries + r * dim);
      }
      AttendTile(tiles, first, rows, n, dim, biases, matmul, out + first * out_stride + column,
                 out_stride);
    }
  }
  arena->Rewind(mark);
}

}  // namespace nibu
#endif  // HWY_ONCE
