#include "engine/ops/amx.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>

namespace nibu {

#if defined(__x86_64__)

#define NIBU_AMX __attribute__((target("amx-int8,amx-tile,avx512f")))

namespace {

constexpr size_t kTile = 16;               // rows; outputs, of 4 bytes
constexpr size_t kPair = 2 * kTile;        // rows and outputs that are summed at a time
constexpr size_t kBlock = 64;              // outputs of the weights' blocks; inputs of a tile
constexpr size_t kStep = kBlock * kBlock;  // bytes of a block's weights for a tile's inputs
constexpr size_t kLine = 64;
// Bytes of weights that are on their way. Twice as many, or half of it, make no difference.
constexpr size_t kAhead = size_t{64} << 10;

// What LDTILECFG reads (Intel's manual).
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

// Sums that are still to be finished. Done little by little between tiles' products, the stores'
// waits cost less.
struct Pending {
  const int32_t* sums = nullptr;  // [rows, kPair]
  size_t rows = 0;
  Dequantization columns{};
  const float* row_scales = nullptr;
  float* y = nullptr;
  size_t stride = 0;
};

// The first rows of them, at most so many.
NIBU_AMX inline void Finish(size_t most, Pending* pending) {
  const size_t rows = std::min(most, pending->rows);
  if (rows == 0) return;
  const Dequantization columns = pending->columns;
  const size_t stride = pending->stride;
  for (size_t c = 0; c < kPair; c += kTile) {
    const int32_t* sums = pending->sums + c;
    float* y = pending->y + c;
    if (!FinishesOnAmx(columns.activation)) {
      for (size_t r = 0; r < rows; ++r, sums += kPair, y += stride) {
        _mm512_storeu_si512(y, _mm512_load_si512(sums));
      }
      continue;
    }
    const __m512i zero_sums = _mm512_loadu_si512(columns.zero_sums + c);
    const __m512 scales = _mm512_loadu_ps(columns.scales + c);
    const __m512 zero = _mm512_setzero_ps();
    const __m512 bias = columns.bias != nullptr ? _mm512_loadu_ps(columns.bias + c) : zero;
    for (size_t r = 0; r < rows; ++r, sums += kPair, y += stride) {
      const __m512i sum = _mm512_sub_epi32(_mm512_load_si512(sums), zero_sums);
      const __m512 scale = _mm512_mul_ps(scales, _mm512_set1_ps(pending->row_scales[r]));
      // With masks, as GCC 12 warns of what the other intrinsics are made of.
      __m512 value = _mm512_fmadd_ps(_mm512_maskz_cvtepi32_ps(0xffff, sum), scale, bias);
      if (columns.activation == Activation::kRelu) value = _mm512_maskz_max_ps(0xffff, value, zero);
      _mm512_storeu_ps(y, value);
    }
  }
  pending->sums += rows * kPair;
  pending->rows -= rows;
  pending->row_scales += rows;
  pending->y += rows * stride;
}

// The lines of weights that a pass fetches: in each of its `steps`, `bytes` of as many as the step
// reads.
struct Ahead {
  const int8_t* first = nullptr;
  size_t steps = 0;
  size_t bytes = 0;
};

// sums [16 kRowTiles, kPair] of kPair of a block's outputs.
template <int kRowTiles>
NIBU_AMX void MultiplyTiles(const uint8_t* x, size_t in, const int8_t* block, const Ahead& ahead,
                            Pending* pending, int32_t* sums) {
  const size_t steps = in / kBlock;
  const size_t share = (pending->rows + steps - 1) / steps;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (size_t step = 0; step < steps; ++step, x += kBlock, block += kStep) {
    _tile_loadd(4, x, in);
    _tile_loadd(6, block, 4 * kBlock);
    _tile_dpbusd(0, 4, 6);
    _tile_loadd(7, block + 4 * kTile, 4 * kBlock);
    _tile_dpbusd(1, 4, 7);
    if constexpr (kRowTiles == 2) {
      _tile_loadd(5, x + kTile * in, in);
      _tile_dpbusd(2, 5, 6);
      _tile_dpbusd(3, 5, 7);
    }
    if (step < ahead.steps) {
      const int8_t* line = ahead.first + step * kStep;
      for (const int8_t* end = line + ahead.bytes; line < end; line += kLine) {
        _mm_prefetch(line, _MM_HINT_T1);
      }
    }
    Finish(share, pending);
  }
  constexpr size_t kStride = kPair * sizeof(int32_t);
  _tile_stored(0, sums, kStride);
  _tile_stored(1, sums + kTile, kStride);
  if constexpr (kRowTiles == 2) {
    _tile_stored(2, sums + kTile * kPair, kStride);
    _tile_stored(3, sums + kTile * kPair + kTile, kStride);
  }
}

}  // namespace

NIBU_AMX void MultiplyOnAmx(const AmxWeights& weights, bool fetches, const uint8_t* x, size_t rows,
                            const Dequantization& dequantization, const float* row_scales,
                            float* y) {
  TileConfig config;
  std::fill_n(config.row_bytes, 8, uint16_t{4 * kTile});
  std::fill_n(config.rows, 8, uint8_t{kTile});
  // Only the first tiles may have fewer rows. Beyond `rows` others hold anything.
  for (const int tile : {0, 1, 4}) config.rows[tile] = static_cast<uint8_t>(std::min(rows, kTile));
  asm volatile("" : : "r"(&config) : "memory");  // GCC 12 sees only 8 bytes of it being read
  _tile_loadconfig(&config);
  const size_t in = weights.in;
  const size_t passes = (rows + kPair - 1) / kPair * 2;  // over a block
  const size_t lines = (kStep / kLine + passes - 1) / passes;
  const size_t block_bytes = in * kBlock;
  size_t left = in * weights.out;  // bytes of weights from here on
  alignas(64) int32_t sums[2][kPair * kPair];
  size_t turn = 0;
  Pending pending;
  const int8_t* block = weights.values;
  for (size_t n = 0; n < weights.out; n += kBlock, block += block_bytes, left -= block_bytes) {
    Ahead ahead{block + kAhead, 0, lines * kLine};
    if (fetches && left > kAhead) ahead.steps = (left - kAhead) / kStep;
    for (size_t first = 0; first < rows; first += kPair) {
      const auto multiply = rows - first > kTile ? MultiplyTiles<2> : MultiplyTiles<1>;
      for (size_t c = n; c < n + kBlock; c += kPair, turn ^= 1, ahead.first += ahead.bytes) {
        multiply(x + first * in, in, block + 4 * (c - n), ahead, &pending, sums[turn]);
        Finish(kPair, &pending);
        pending = {sums[turn],
                   std::min(rows - first, kPair),
                   {dequantization.scales + c, dequantization.zero_sums + c,
                    dequantization.bias == nullptr ? nullptr : dequantization.bias + c,
                    dequantization.activation},
                   row_scales + first,
                   y + first * weights.out + c,
                   weights.out};
      }
    }
  }
  Finish(kPair, &pending);
  _tile_release();
}

#else

void MultiplyOnAmx(const AmxWeights&, bool, const uint8_t*, size_t, const Dequantization&,
                   const float*, float*) {}

#endif

}  // namespace nibu
