// int8 kernels for AMX and AVX-512 VNNI. int8_product.h has the equation and the layout of weights.
//
// Both go through the weights once, block by block of 64 outputs, so that a block stays in the
// caches for all rows.
//
//   AMX   for each block of 64 outputs, each group of 32 rows, each half of the block's outputs:
//           sums [32, 32] = x [32, in] W [in, 32] in four tiles, 64 inputs a step (MultiplyTiles)
//         In each step, it also prefetches weights 64 KB ahead (Ahead), and turns a few rows of the
//         previous sums into floats (Pending).
//   VNNI  for each block of 64 outputs, each group of up to 6 rows:
//           sums [6, 64] in registers, 4 inputs a step (MultiplyRows)
//         In each step, it also prefetches a few lines of the next block (Stream).
#include "engine/ops/backend/int8_product.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/base/macros.h"

namespace nibu::internal {

#if defined(__x86_64__)

#define NIBU_AMX __attribute__((target("amx-int8,amx-tile,avx512f")))
#define NIBU_VNNI __attribute__((target("avx512f,avx512vnni")))
#define NIBU_VNNI_INLINE __attribute__((target("avx512f,avx512vnni"), always_inline))

namespace {

constexpr size_t kTile = 16;               // rows of a tile, and its columns of 4 bytes
constexpr size_t kPair = 2 * kTile;        // rows and outputs that AMX sums at a time
constexpr size_t kBlock = 64;              // outputs of a block; inputs of a step on AMX
constexpr size_t kStep = kBlock * kBlock;  // bytes of a block's weights in a step on AMX
constexpr size_t kLine = 64;               // bytes of a cache line
// AMX fetches weights so many bytes ahead. Twice or half as many made no difference.
constexpr size_t kAhead = size_t{64} << 10;

// The vectors that turn the sums of 16 outputs into floats.
struct Columns {
  __m512i zero_sums;
  __m512 scales;
  __m512 bias;
  __mmask16 relu;    // the outputs that are rectified: all or none
  bool is_finished;  // false: sums are stored as they are
};

__attribute__((target("avx512f"))) inline Columns LoadColumns(const Dequantization& all,
                                                              size_t first) {
  return {_mm512_loadu_si512(all.zero_sums + first), _mm512_loadu_ps(all.scales + first),
          all.bias != nullptr ? _mm512_loadu_ps(all.bias + first) : _mm512_setzero_ps(),
          static_cast<__mmask16>(all.activation == Activation::kRelu ? 0xffff : 0),
          FinishesInt8(all.activation)};
}

__attribute__((target("avx512f"))) inline void StoreSums(__m512i sums, const Columns& columns,
                                                         float row_scale, float* y) {
  if (!columns.is_finished) return _mm512_storeu_si512(y, sums);
  const __m512 scale = _mm512_mul_ps(columns.scales, _mm512_set1_ps(row_scale));
  // The intrinsics with masks are used because GCC 12 warns of undefined values in the others.
  const __m512 value =
      _mm512_fmadd_ps(_mm512_maskz_cvtepi32_ps(0xffff, _mm512_sub_epi32(sums, columns.zero_sums)),
                      scale, columns.bias);
  _mm512_storeu_ps(y, _mm512_mask_max_ps(value, columns.relu, value, _mm512_setzero_ps()));
}

// The operand of the instruction LDTILECFG, as Intel's manual describes it.
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

// Sums of the previous group of rows and outputs that are not in y yet. They are finished little by
// little between the products of the next group, where waiting for the stores costs less.
struct Pending {
  const int32_t* sums = nullptr;  // [rows, kPair]
  size_t rows = 0;
  Dequantization all{};
  size_t first = 0;  // of the outputs
  const float* row_scales = nullptr;
  float* y = nullptr;
  size_t stride = 0;
};

// Finishes the next rows of `pending`, `most` at most, and takes them off it.
NIBU_AMX inline void Finish(size_t most, Pending* pending) {
  const size_t rows = std::min(most, pending->rows);
  if (rows == 0) return;
  const float* const row_scales = pending->row_scales;
  const size_t stride = pending->stride;
  for (size_t c = 0; c < kPair; c += kTile) {
    const Columns columns = LoadColumns(pending->all, pending->first + c);
    const int32_t* sums = pending->sums + c;
    float* y = pending->y + c;
    for (size_t r = 0; r < rows; ++r, sums += kPair, y += stride) {
      StoreSums(_mm512_load_si512(sums), columns, row_scales[r], y);
    }
  }
  pending->sums += rows * kPair;
  pending->rows -= rows;
  pending->row_scales += rows;
  pending->y += rows * stride;
}

// The weights that a call of MultiplyTiles prefetches into L2. The calls for one block share out
// the weights kAhead bytes further on: in each step, a call fetches `bytes` of the kStep bytes that
// lie there.
struct Ahead {
  const int8_t* first = nullptr;
  size_t steps = 0;
  size_t bytes = 0;

  void Fetch(size_t step) const {
    if (step >= steps) return;
    const int8_t* line = first + step * kStep;
    for (const int8_t* end = line + bytes; line < end; line += kLine) {
      _mm_prefetch(line, _MM_HINT_T1);
    }
  }
};

// sums [16 kRowTiles, kPair] = x [16 kRowTiles, in] W [in, kPair]. `block`: the weights of the
// first of these outputs in their block. Tiles: x has 16 rows by 64 inputs, W 64 inputs by 16
// outputs (16 tile rows, each with four inputs of the 16 outputs), sums 16 rows by 16 outputs.
//
//   6, 7: 64 inputs of W for the first and the last 16 outputs
//   4: x, rows 0 .. 15      0, 1: their sums
//   5: x, rows 16 .. 31     2, 3: their sums
template <int kRowTiles>
NIBU_AMX void MultiplyTiles(const uint8_t* x, size_t in, const int8_t* block, const Ahead& ahead,
                            Pending* pending, int32_t* sums) {
  const size_t steps = in / kBlock;
  const size_t share = (pending->rows + steps - 1) / steps;  // pending rows to finish in a step
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
    ahead.Fetch(step);
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

// The sums of two calls of MultiplyTiles lie side by side in `sums`: those that are being computed,
// and those that are pending.
NIBU_AMX void MultiplyOnAmx(const Int8Weights& weights, bool fetches, const uint8_t* x, size_t rows,
                            const Dequantization& dequantization, const float* row_scales,
                            float* y) {
  TileConfig config;
  std::fill_n(config.row_bytes, 8, uint16_t{4 * kTile});
  std::fill_n(config.rows, 8, uint8_t{kTile});
  // Fewer than 16 rows make the tiles of the first rows smaller. Otherwise the last tiles also
  // compute padding rows, whose sums are not stored in y.
  for (const int tile : {0, 1, 4}) config.rows[tile] = static_cast<uint8_t>(std::min(rows, kTile));
  // Keep all of `config`: GCC 12 believes that only 8 bytes of it are read.
  asm volatile("" : : "r"(&config) : "memory");
  _tile_loadconfig(&config);
  const size_t in = weights.in;
  const size_t passes = (rows + kPair - 1) / kPair * 2;        // calls of MultiplyTiles for a block
  const size_t lines = (kStep / kLine + passes - 1) / passes;  // that each fetches in a step
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
        Finish(kPair, &pending);  // what the steps have left
        pending = {sums[turn],         std::min(rows - first, kPair), dequantization, c,
                   row_scales + first, y + first * weights.out + c,   weights.out};
      }
    }
  }
  Finish(kPair, &pending);
  _tile_release();
}

// The weights of the next block that a call of MultiplyRows prefetches into L2, a line or a few in
// each step. A CPU may drop prefetches that come in a burst and find no buffer left (Zen 5 does).
struct Stream {
  const int8_t* next;
  const int8_t* end;
  size_t each;  // bytes in a step

  void Advance() {
    if (next >= end) return;
    const int8_t* const last = next + each;
    for (; next < last; next += kLine) _mm_prefetch(next, _MM_HINT_T1);
  }
};

// The most rows that VNNI sums at a time: 6 x 4 vectors of sums, 4 of weights and one of inputs are
// 29 of the 32 registers.
constexpr size_t kVnniRows = 6;
constexpr size_t kVectors = kBlock / kTile;  // of 16 outputs, in a block
// The fewest rows with which VNNI prefetches weights.
constexpr size_t kLeastStreamRows = 4;
// The type of 16 sums. It is not __m512i, because GCC 12 keeps an array in memory, not in
// registers, if it has to convert its elements.
using SumVector = int32_t __attribute__((vector_size(64)));

// Calls f(0) ... f(n - 1) with constants: a loop that is always unrolled, so that arrays of vectors
// stay in registers.
template <size_t n, typename F>
NIBU_VNNI_INLINE inline void Each(F f) {
  [&]<size_t... i>(std::index_sequence<i...>) NIBU_VNNI_INLINE {
    (f(std::integral_constant<size_t, i>()), ...);
  }
  (std::make_index_sequence<n>());
}

// Computes y [kRows, kBlock] for a block of weights, whose first output is `first`. `y` points to
// that output; its rows are `stride` apart.
template <size_t kRows>
NIBU_VNNI void MultiplyRows(const uint8_t* x, size_t in, const int8_t* block, Stream ahead,
                            const Dequantization& dequantization, size_t first,
                            const float* row_scales, float* y, size_t stride) {
  SumVector sums[kRows][kVectors];
  Each<kRows>([&](auto r) NIBU_VNNI_INLINE {
    Each<kVectors>([&](auto c) NIBU_VNNI_INLINE { sums[r][c] = SumVector{}; });
  });
  // Each step multiplies four inputs of all rows by the weights of four inputs and 64 outputs.
  for (const uint8_t* const end = x + in; x < end; x += 4, block += 4 * kBlock) {
    ahead.Advance();
    __m512i weights[kVectors];
    Each<kVectors>([&](auto c)
                       NIBU_VNNI_INLINE { weights[c] = _mm512_load_si512(block + c * 4 * kTile); });
    Each<kRows>([&](auto r) NIBU_VNNI_INLINE {
      int32_t four = 0;
      std::memcpy(&four, x + r * in, sizeof(four));
      const __m512i inputs = _mm512_set1_epi32(four);
      Each<kVectors>([&](auto c) NIBU_VNNI_INLINE {
        sums[r][c] = reinterpret_cast<SumVector>(
            _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums[r][c]), inputs, weights[c]));
      });
    });
  }
  Each<kVectors>([&](auto c) NIBU_VNNI_INLINE {
    const Columns columns = LoadColumns(dequantization, first + c * kTile);
    Each<kRows>([&](auto r) NIBU_VNNI_INLINE {
      StoreSums(reinterpret_cast<__m512i>(sums[r][c]), columns, row_scales[r],
                y + r * stride + c * kTile);
    });
  });
}

// Rows are shared out evenly to the groups: 8 rows are two groups of 4, not of 6 and 2.
void MultiplyWithVnni(const Int8Weights& weights, bool fetches, const uint8_t* x, size_t rows,
                      const Dequantization& dequantization, const float* row_scales, float* y) {
  constexpr decltype(&MultiplyRows<1>) kMultiply[] = {MultiplyRows<1>, MultiplyRows<2>,
                                                      MultiplyRows<3>, MultiplyRows<4>,
                                                      MultiplyRows<5>, MultiplyRows<6>};
  const size_t passes = (rows + kVnniRows - 1) / kVnniRows;  // groups of rows, over each block
  const size_t block_bytes = weights.in * kBlock;
  // With fewer rows, products wait for memory whatever is done, and the hardware's prefetcher
  // follows the weights by itself.
  const bool streams = fetches && rows >= kLeastStreamRows;
  // The bytes of the next block that a pass fetches, and that each of its steps fetches. A step
  // reads kVectors lines, so the steps of all passes together fetch the whole next block.
  const size_t share = (block_bytes / kLine + passes - 1) / passes * kLine;
  const size_t each = (kVectors + passes - 1) / passes * kLine;
  for (size_t n = 0; n < weights.out; n += kBlock) {
    const int8_t* const block = weights.values + n * weights.in;
    const int8_t* next = block + block_bytes;
    const int8_t* const end = streams && n + kBlock < weights.out ? next + block_bytes : next;
    size_t row = 0;
    for (size_t left = passes; left > 0; --left, next += share) {
      const size_t count = (rows - row + left - 1) / left;
      kMultiply[count - 1](x + row * weights.in, weights.in, block,
                           {next, std::min(next + share, end), each}, dequantization, n,
                           row_scales + row, y + row * weights.out + n, weights.out);
      row += count;
    }
  }
}

}  // namespace

void MultiplyInt8(Isa isa, const Int8Weights& weights, bool fetches, const uint8_t* x, size_t rows,
                  const Dequantization& dequantization, const float* row_scales, float* y) {
  ABSL_ASSERT(rows > 0);
  ABSL_ASSERT(reinterpret_cast<uintptr_t>(weights.values) % 64 == 0);
  ABSL_ASSERT(weights.in % 64 == 0 && weights.out % 64 == 0);
  ABSL_ASSERT(HasInt8Product(isa) && isa <= CurrentIsa());
  // A pass of VNNI over the weights reads them faster than tiles do, which have room for 16 rows:
  // on a core with AMX, products of up to 6 rows take 0.77 to 0.92 of the time. Two passes take
  // longer.
  const auto multiply = isa == Isa::kAmx && rows > kVnniRows ? MultiplyOnAmx : MultiplyWithVnni;
  multiply(weights, fetches, x, rows, dequantization, row_scales, y);
}

#else

void MultiplyInt8(Isa, const Int8Weights&, bool, const uint8_t*, size_t, const Dequantization&,
                  const float*, float*) {}

#endif

}  // namespace nibu::internal
