#include "engine/ops/backend/int8_product.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace nibu::internal {

#if defined(__x86_64__)

#define NIBU_AMX __attribute__((target("amx-int8,amx-tile,avx512f")))
#define NIBU_VNNI __attribute__((target("avx512f,avx512vnni")))
#define NIBU_VNNI_INLINE __attribute__((target("avx512f,avx512vnni"), always_inline))

namespace {

constexpr size_t kTile = 16;               // rows; outputs, of 4 bytes
constexpr size_t kPair = 2 * kTile;        // rows and outputs that are summed at a time
constexpr size_t kBlock = 64;              // outputs of the weights' blocks; inputs of a tile
constexpr size_t kStep = kBlock * kBlock;  // bytes of a block's weights for a tile's inputs
constexpr size_t kLine = 64;
// Bytes of weights that are on their way. Twice as many, or half of it, make no difference.
constexpr size_t kAhead = size_t{64} << 10;

// 16 sums and what finishes those of their outputs.
struct Columns {
  __m512i zero_sums;
  __m512 scales;
  __m512 bias;
  __mmask16 relu;  // which are rectified: all or none
  bool is_finished;
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
  // With masks, as GCC 12 warns of what the other intrinsics are made of.
  const __m512 value =
      _mm512_fmadd_ps(_mm512_maskz_cvtepi32_ps(0xffff, _mm512_sub_epi32(sums, columns.zero_sums)),
                      scale, columns.bias);
  _mm512_storeu_ps(y, _mm512_mask_max_ps(value, columns.relu, value, _mm512_setzero_ps()));
}

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
  Dequantization all{};
  size_t first = 0;  // of the outputs
  const float* row_scales = nullptr;
  float* y = nullptr;
  size_t stride = 0;
};

// The first rows of them, at most so many.
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

// The lines of weights that a pass fetches: in each of its `steps`, `bytes` of as many as the step
// reads.
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

NIBU_AMX void MultiplyOnAmx(const Int8Weights& weights, bool fetches, const uint8_t* x, size_t rows,
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
        pending = {sums[turn],         std::min(rows - first, kPair), dequantization, c,
                   row_scales + first, y + first * weights.out + c,   weights.out};
      }
    }
  }
  Finish(kPair, &pending);
  _tile_release();
}

// Weights that are asked for while a pass multiplies by others, a line or a few at a time: of a
// burst that finds no buffer left, a CPU may drop the rest (Zen 5 does).
struct Stream {
  const int8_t* next;
  const int8_t* end;
  size_t each;  // bytes

  void Advance() {
    if (next >= end) return;
    const int8_t* const last = next + each;
    for (; next < last; next += kLine) _mm_prefetch(next, _MM_HINT_T1);
  }
};

// Rows that are summed at a time with VNNI: all registers but those of weights and inputs.
constexpr size_t kVnniRows = 6;
constexpr size_t kVectors = kBlock / kTile;  // of a block's outputs
// From so many rows on products fetch weights themselves.
constexpr size_t kLeastStreamRows = 4;
// Not __m512i: GCC 12 keeps arrays of what it has to convert in memory.
using SumVector = int32_t __attribute__((vector_size(64)));

// Calls f(0) ... f(n - 1) with constants.
template <size_t n, typename F>
NIBU_VNNI_INLINE inline void Each(F f) {
  [&]<size_t... i>(std::index_sequence<i...>) NIBU_VNNI_INLINE {
    (f(std::integral_constant<size_t, i>()), ...);
  }
  (std::make_index_sequence<n>());
}

// y [kRows, kBlock] of a block's outputs, `first` and the next.
template <size_t kRows>
NIBU_VNNI void MultiplyRows(const uint8_t* x, size_t in, const int8_t* block, Stream ahead,
                            const Dequantization& dequantization, size_t first,
                            const float* row_scales, float* y, size_t stride) {
  SumVector sums[kRows][kVectors];
  Each<kRows>([&](auto r) NIBU_VNNI_INLINE {
    Each<kVectors>([&](auto c) NIBU_VNNI_INLINE { sums[r][c] = SumVector{}; });
  });
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

void MultiplyWithVnni(const Int8Weights& weights, bool fetches, const uint8_t* x, size_t rows,
                      const Dequantization& dequantization, const float* row_scales, float* y) {
  constexpr decltype(&MultiplyRows<1>) kMultiply[] = {MultiplyRows<1>, MultiplyRows<2>,
                                                      MultiplyRows<3>, MultiplyRows<4>,
                                                      MultiplyRows<5>, MultiplyRows<6>};
  const size_t passes = (rows + kVnniRows - 1) / kVnniRows;  // over a block
  const size_t block_bytes = weights.in * kBlock;
  // Fewer rows wait for weights whatever is done, and the hardware follows those by itself.
  const bool streams = fetches && rows >= kLeastStreamRows;
  // A pass's share of the next block, and that of each of its steps, which read kVectors lines.
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
  const auto multiply = isa == Isa::kAmx ? MultiplyOnAmx : MultiplyWithVnni;
  multiply(weights, fetches, x, rows, dequantization, row_scales, y);
}

#else

void MultiplyInt8(Isa, const Int8Weights&, bool, const uint8_t*, size_t, const Dequantization&,
                  const float*, float*) {}

#endif

}  // namespace nibu::internal
