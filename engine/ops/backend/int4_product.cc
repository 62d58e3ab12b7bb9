// Rounds weights to 4 bits, and multiplies by them. int4_product.h has the equations and the
// layout.
//
// The kernels go through the weights once, block by block of 64 outputs, and for each block through
// the rows, up to kRowsAtOnce at a time; rows are shared out evenly to these groups. A group of 32
// inputs is unpacked in registers: a mask and a shift for each 64 bytes.
#include "engine/ops/backend/int4_product.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "absl/base/macros.h"

namespace nibu::internal {
namespace {

constexpr size_t kRowsAtOnce = 8;    // rows that share an unpacked group
constexpr size_t kAhead = 16 << 10;  // bytes: see FetchAhead

// An output's place in a group.
struct Place {
  Int4Group* group;
  size_t output;  // of the block

  uint8_t& scale() const { return group->scales[output]; }
  int8_t& least() const { return group->leasts[output]; }
  // The byte that holds the weights of inputs k and k + 16, for k < 16.
  uint8_t& byte(size_t k) const {
    return group->nibbles[output / 16][k / 4][output % 16 * 4 + k % 4];
  }
};

Place PlaceOf(const Int4Weights& weights, size_t output, size_t group) {
  return {weights.groups + output / kInt4Outputs * weights.groups_in_block() + group,
          output % kInt4Outputs};
}

// Values that lie on a line: least + scale * q.
struct Line {
  float scale = 0;
  float least = 0;
};

// The weights of a group, those of absent inputs too, which have the mean of the others: so they
// change neither the range of a group nor its best line much.
using Group = std::array<float, kInt4Inputs>;

// Returns the q of a value on a line. It is right for NaN, too.
int Round(float value, float inverse_scale, float least) {
  constexpr float kHalf = 0.5f;  // lround would be a call, and this is exact for so few levels
  const float level = std::max(0.0f, std::min(15.0f, (value - least) * inverse_scale));
  return static_cast<int>(level + kHalf);
}

float InverseOf(float scale) { return scale != 0 ? 1 / scale : 0; }

// Sets *line to the line that fits best to the weights at the q that they have on it, and returns
// the sum of the squares of the errors that they then have at the same q.
float Fit(const Group& w, Line* line) {
  const float inverse = InverseOf(line->scale);
  float sum_q = 0, sum_w = 0, sum_qq = 0, sum_qw = 0, sum_ww = 0;
  for (const float value : w) {
    const auto q = static_cast<float>(Round(value, inverse, line->least));
    sum_q += q;
    sum_w += value;
    sum_qq += q * q;
    sum_qw += q * value;
    sum_ww += value * value;
  }
  constexpr auto kCount = static_cast<float>(kInt4Inputs);
  const float spread = kCount * sum_qq - sum_q * sum_q;
  if (spread > 0) line->scale = (kCount * sum_qw - sum_q * sum_w) / spread;
  line->least = (sum_w - line->scale * sum_q) / kCount;
  return sum_ww - line->scale * sum_qw - line->least * sum_w;
}

// Returns the best line of a few: that of the range of the weights, and those of smaller ranges
// around its middle, which make the errors of the outermost weights larger and all others smaller.
Line FitBest(const Group& w) {
  const auto [least, most] = std::minmax_element(w.begin(), w.end());
  Line best;
  float best_error = INFINITY;
  for (const float part : {1.0f, 0.96f, 0.92f, 0.88f, 0.84f, 0.8f, 0.75f, 0.7f}) {
    Line line{part * (*most - *least) / 15, (*most + *least) / 2 - part * (*most - *least) / 2};
    const float error = Fit(w, &line);
    if (error >= best_error) continue;
    best_error = error;
    best = line;
  }
  return best;
}

}  // namespace

// 1. Find the best line of each group. 2. Choose the unit so that all scales and leasts have room.
// 3. Round them, and the weights to the lines that they then are.
float SetInt4Output(const Int4Weights& weights, size_t output, const float* w, size_t stride) {
  ABSL_ASSERT(output < weights.out);
  std::vector<Group> groups(weights.groups_in_block());
  std::vector<Line> lines;
  float unit = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    Group& group = groups[g];
    const size_t first = g * kInt4Inputs;
    const size_t count = std::min(kInt4Inputs, weights.in - first);
    float sum = 0;
    for (size_t k = 0; k < count; ++k) sum += group[k] = w[(first + k) * stride];
    std::fill(group.begin() + count, group.end(), sum / static_cast<float>(count));
    const Line line = lines.emplace_back(FitBest(group));
    unit = std::max({unit, line.scale / 255, std::abs(line.least) / (127 * kLeastStep)});
  }
  const float inverse = InverseOf(unit);
  for (size_t g = 0; g < groups.size(); ++g) {
    const Place place = PlaceOf(weights, output, g);
    const auto scale = std::lround(std::clamp(lines[g].scale * inverse, 0.0f, 255.0f));
    const auto least =
        std::lround(std::clamp(lines[g].least * inverse / kLeastStep, -127.0f, 127.0f));
    place.scale() = static_cast<uint8_t>(scale);
    place.least() = static_cast<int8_t>(least);
    const float step = InverseOf(unit * static_cast<float>(scale));
    const size_t count = std::min(kInt4Inputs, weights.in - g * kInt4Inputs);
    for (size_t k = 0; k < count; ++k) {
      const int q = Round(groups[g][k], step, unit * static_cast<float>(least * kLeastStep));
      place.byte(k % 16) |= static_cast<uint8_t>(k < 16 ? q : q << 4);
    }
  }
  return unit;
}

void GetInt4Output(const Int4Weights& weights, size_t output, float unit, float* w) {
  ABSL_ASSERT(output < weights.out);
  for (size_t k = 0; k < weights.in; ++k) {
    const Place place = PlaceOf(weights, output, k / kInt4Inputs);
    const int q = place.byte(k % 16) >> (k % kInt4Inputs < 16 ? 0 : 4) & 15;
    w[k] = unit * static_cast<float>(place.scale() * q + place.least() * kLeastStep);
  }
}

void CopyInt4Output(const Int4Weights& from, size_t from_output, const Int4Weights& to,
                    size_t to_output) {
  ABSL_ASSERT(from.in == to.in && from_output < from.out && to_output < to.out);
  for (size_t g = 0; g < from.groups_in_block(); ++g) {
    const Place source = PlaceOf(from, from_output, g);
    const Place destination = PlaceOf(to, to_output, g);
    destination.scale() = source.scale();
    destination.least() = source.least();
    for (size_t k = 0; k < kInt4Inputs / 2; k += 4) {
      std::memcpy(&destination.byte(k), &source.byte(k), 4);
    }
  }
}

void SumInt4Inputs(const int8_t* x, size_t rows, size_t in, float* sums) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t left = in; left > 0;) {
      const size_t count = std::min(kInt4Inputs, left);
      *sums++ = static_cast<float>(std::accumulate(x, x + count, 0) * kLeastStep);
      x += count;
      left -= count;
    }
  }
}

namespace {

// Sets y [kRows, kInt4Outputs] for a block. `groups`: so many groups of the block.
using BlockKernel = void (*)(const Int4Group* block, size_t groups, const int8_t* x, size_t in,
                             const float* sums, float* y);

// The plain form of the kernels, for one row.
void MultiplyPlainly(const Int4Group* block, size_t groups, const int8_t* x, size_t,
                     const float* sums, float* y) {
  std::fill_n(y, kInt4Outputs, 0.0f);
  for (size_t g = 0; g < groups; ++g, x += kInt4Inputs) {
    for (size_t n = 0; n < kInt4Outputs; ++n) {
      const Place place{const_cast<Int4Group*>(block + g), n};
      int sum = 0;
      for (size_t k = 0; k < kInt4Inputs / 2; ++k) {
        const uint8_t two = place.byte(k);
        sum += x[k] * (two & 15) + x[k + kInt4Inputs / 2] * (two >> 4);
      }
      y[n] = std::fma(static_cast<float>(sum), static_cast<float>(place.scale()), y[n]);
      y[n] = std::fma(static_cast<float>(place.least()), sums[g], y[n]);
    }
  }
}

#if defined(__x86_64__)

#define NIBU_VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define NIBU_VNNI_INLINE __attribute__((target("avx512f,avx512bw,avx512vnni"), always_inline))
#define NIBU_AVX2 __attribute__((target("avx2,fma")))
#define NIBU_AVX2_INLINE __attribute__((target("avx2,fma"), always_inline))

int32_t FourAt(const int8_t* x) {
  int32_t four;
  std::memcpy(&four, x, sizeof(four));
  return four;
}

// Fetches the line of weights that will be read kAhead bytes after this one, a line for each that
// is read. With 8 KB, or with all lines of a group at once, most of the gain was gone: so the
// compiler may not move anything across it.
inline void FetchAhead(const void* line) {
  _mm_prefetch(static_cast<const char*>(line) + kAhead, _MM_HINT_T1);
  asm volatile("" : : : "memory");
}

// The forms of the conversions with masks are used, because GCC 12 warns of undefined values in the
// others.
NIBU_VNNI inline __m512 ToFloats(__m512i v) { return _mm512_maskz_cvtepi32_ps(0xffff, v); }

// Up to four rows have the sums of all 64 outputs in registers; more rows those of 32 at a time.
template <size_t kRows>
NIBU_VNNI void MultiplyWithVnni(const Int4Group* block, size_t groups, const int8_t* x, size_t in,
                                const float* sums, float* y) {
  // Not __m512, because GCC 12 keeps arrays of it in memory if it has to convert their elements.
  using Floats = float __attribute__((vector_size(64)));
  constexpr size_t kVectors = kRows > 4 ? 2 : 4;  // of 16 outputs
  const __m512i low = _mm512_set1_epi8(15);
  const auto load = [](const void* sixteen) NIBU_VNNI_INLINE {
    return _mm_load_si128(static_cast<const __m128i*>(sixteen));
  };
  for (size_t first = 0; first < 4; first += kVectors) {
    Floats all[kRows][kVectors] = {};
    for (size_t g = 0; g < groups; ++g) {
      const int8_t* const inputs = x + g * kInt4Inputs;
#pragma GCC unroll 4
      for (size_t c = 0; c < kVectors; ++c) {
        const size_t n = (first + c) * 16;
        __m512i sum[kRows] = {};
#pragma GCC unroll 4
        for (size_t j = 0; j < 4; ++j) {
          const uint8_t* const line = block[g].nibbles[first + c][j];
          FetchAhead(line);
          const __m512i both = _mm512_load_si512(line);
          const __m512i lower = _mm512_and_si512(both, low);
          const __m512i upper = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
#pragma GCC unroll 8
          for (size_t r = 0; r < kRows; ++r) {
            const int8_t* const four = inputs + r * in + 4 * j;
            sum[r] = _mm512_dpbusd_epi32(sum[r], lower, _mm512_set1_epi32(FourAt(four)));
            sum[r] = _mm512_dpbusd_epi32(sum[r], upper, _mm512_set1_epi32(FourAt(four + 16)));
          }
        }
        if (n % 32 == 0) FetchAhead(block[g].scales + 2 * n);  // 64 bytes each: scales, leasts
        const __m512 scale =
            ToFloats(_mm512_maskz_cvtepu8_epi32(0xffff, load(block[g].scales + n)));
        const __m512 least =
            ToFloats(_mm512_maskz_cvtepi8_epi32(0xffff, load(block[g].leasts + n)));
#pragma GCC unroll 8
        for (size_t r = 0; r < kRows; ++r) {
          const __m512 value =
              _mm512_fmadd_ps(ToFloats(sum[r]), scale, reinterpret_cast<__m512>(all[r][c]));
          all[r][c] = reinterpret_cast<Floats>(
              _mm512_fmadd_ps(least, _mm512_set1_ps(sums[r * groups + g]), value));
        }
      }
    }
    for (size_t r = 0; r < kRows; ++r) {
      std::memcpy(y + r * kInt4Outputs + first * 16, all[r], sizeof(all[r]));
    }
  }
}

// Sums of pairs of products are at most 15 * 127 * 2, so that eight of them fit into 16 bits.
template <size_t kRows>
NIBU_AVX2 void MultiplyWithAvx2(const Int4Group* block, size_t groups, const int8_t* x, size_t in,
                                const float* sums, float* y) {
  std::fill_n(y, kRows * kInt4Outputs, 0.0f);
  const __m256i low = _mm256_set1_epi8(15);
  const auto load = [](const void* eight) NIBU_AVX2_INLINE {
    return _mm_loadl_epi64(static_cast<const __m128i*>(eight));
  };
  for (size_t g = 0; g < groups; ++g, x += kInt4Inputs) {
    for (size_t n = 0; n < kInt4Outputs; n += 8) {
      __m256i sum[kRows] = {};
#pragma GCC unroll 4
      for (size_t j = 0; j < 4; ++j) {
        const uint8_t* const line = block[g].nibbles[n / 16][j] + n % 16 * 4;
        if (n % 16 == 0) FetchAhead(line);
        const __m256i both = _mm256_load_si256(reinterpret_cast<const __m256i*>(line));
        const __m256i lower = _mm256_and_si256(both, low);
        const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(both, 4), low);
#pragma GCC unroll 8
        for (size_t r = 0; r < kRows; ++r) {
          const int8_t* const four = x + r * in + 4 * j;
          sum[r] = _mm256_add_epi16(sum[r],
                                    _mm256_maddubs_epi16(lower, _mm256_set1_epi32(FourAt(four))));
          sum[r] = _mm256_add_epi16(
              sum[r], _mm256_maddubs_epi16(upper, _mm256_set1_epi32(FourAt(four + 16))));
        }
      }
      if (n % 32 == 0) FetchAhead(block[g].scales + 2 * n);  // 64 bytes each: scales, leasts
      const __m256 scale = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(load(block[g].scales + n)));
      const __m256 least = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load(block[g].leasts + n)));
#pragma GCC unroll 8
      for (size_t r = 0; r < kRows; ++r) {
        float* const out = y + r * kInt4Outputs + n;
        const __m256i pairs = _mm256_madd_epi16(sum[r], _mm256_set1_epi16(1));
        const __m256 value =
            _mm256_fmadd_ps(_mm256_cvtepi32_ps(pairs), scale, _mm256_loadu_ps(out));
        _mm256_storeu_ps(out, _mm256_fmadd_ps(least, _mm256_set1_ps(sums[r * groups + g]), value));
      }
    }
  }
}

constexpr BlockKernel kVnniKernels[] = {
    MultiplyWithVnni<1>, MultiplyWithVnni<2>, MultiplyWithVnni<3>, MultiplyWithVnni<4>,
    MultiplyWithVnni<5>, MultiplyWithVnni<6>, MultiplyWithVnni<7>, MultiplyWithVnni<8>};
constexpr BlockKernel kAvx2Kernels[] = {
    MultiplyWithAvx2<1>, MultiplyWithAvx2<2>, MultiplyWithAvx2<3>, MultiplyWithAvx2<4>,
    MultiplyWithAvx2<5>, MultiplyWithAvx2<6>, MultiplyWithAvx2<7>, MultiplyWithAvx2<8>};

#endif

}  // namespace

void MultiplyInt4(Isa isa, const Int4Weights& weights, size_t first, size_t last, const int8_t* x,
                  const float* sums, size_t rows, float* y) {
  ABSL_ASSERT(reinterpret_cast<uintptr_t>(weights.groups) % 64 == 0);
  ABSL_ASSERT(isa <= CurrentIsa() && last <= weights.blocks());
  const BlockKernel* kernels = nullptr;
#if defined(__x86_64__)
  if (isa >= Isa::kAvx2) kernels = isa >= Isa::kAvx512Vnni ? kVnniKernels : kAvx2Kernels;
#endif
  const size_t groups = weights.groups_in_block();
  const size_t most = kernels == nullptr ? 1 : kRowsAtOnce;
  alignas(64) float results[kRowsAtOnce * kInt4Outputs];
  for (size_t b = first; b < last; ++b) {
    const Int4Group* const block = weights.groups + b * groups;
    const size_t outputs = std::min(kInt4Outputs, weights.out - b * kInt4Outputs);
    size_t row = 0;
    for (size_t left = (rows + most - 1) / most; left > 0; --left) {
      const size_t count = (rows - row + left - 1) / left;
      const BlockKernel multiply = kernels == nullptr ? MultiplyPlainly : kernels[count - 1];
      multiply(block, groups, x + row * weights.in, weights.in, sums + row * groups, results);
      for (size_t r = 0; r < count; ++r) {
        std::copy_n(results + r * kInt4Outputs, outputs,
                    y + (row + r) * weights.out + b * kInt4Outputs);
      }
      row += count;
    }
  }
}

}  // namespace nibu::internal
