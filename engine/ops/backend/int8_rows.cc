// int8 products of few rows by AVX2. int8_rows.h has the equation.
#include "engine/ops/backend/int8_rows.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>

#include "absl/base/macros.h"

namespace nibu::internal {

#if defined(__x86_64__)

#define NIBU_AVX2 __attribute__((target("avx2")))

namespace {

constexpr size_t kInputs = 4;  // rows of W whose bytes are brought together

__m256i* At(int32_t* sums) { return reinterpret_cast<__m256i*>(sums); }

NIBU_AVX2 inline __m256i Load(const int8_t* weights) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
}

// Adds the products of four inputs: W's rows are w[0] to w[3], x has four bytes for each row. Two
// steps of interleaving bring the bytes of an output together. They work within halves of vectors,
// so that sums come out as outputs 0 to 3 and 16 to 19, 4 to 7 and 20 to 23, and so on; they stay
// so until SortSums.
template <size_t kRows>
NIBU_AVX2 void AddFour(const int8_t* const w[kInputs], size_t out, const int32_t x[kRows],
                       size_t ahead, int32_t* sums, size_t sums_stride) {
  const __m256i ones = _mm256_set1_epi16(1);
  for (size_t n = 0; n < out; n += kInt8RowOutputs) {
    for (size_t k = 0; k < kInputs; ++k) _mm_prefetch(w[k] + n + ahead, _MM_HINT_T0);
    const __m256i a = Load(w[0] + n);
    const __m256i b = Load(w[1] + n);
    const __m256i c = Load(w[2] + n);
    const __m256i d = Load(w[3] + n);
    const __m256i ab[] = {_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)};
    const __m256i cd[] = {_mm256_unpacklo_epi8(c, d), _mm256_unpackhi_epi8(c, d)};
    const __m256i fours[] = {
        _mm256_unpacklo_epi16(ab[0], cd[0]), _mm256_unpackhi_epi16(ab[0], cd[0]),
        _mm256_unpacklo_epi16(ab[1], cd[1]), _mm256_unpackhi_epi16(ab[1], cd[1])};
    for (size_t r = 0; r < kRows; ++r) {
      const __m256i inputs = _mm256_set1_epi32(x[r]);
      int32_t* const to = sums + r * sums_stride + n;
      for (size_t i = 0; i < 4; ++i) {
        const __m256i pairs = _mm256_maddubs_epi16(inputs, fours[i]);
        const __m256i sum = _mm256_loadu_si256(At(to + 8 * i));
        _mm256_storeu_si256(At(to + 8 * i), _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones)));
      }
    }
  }
}

// Puts the sums of 32 outputs in order.
NIBU_AVX2 void SortSums(int32_t* sums) {
  __m256i mixed[4];
  for (size_t i = 0; i < 4; ++i) mixed[i] = _mm256_loadu_si256(At(sums + 8 * i));
  _mm256_storeu_si256(At(sums), _mm256_permute2x128_si256(mixed[0], mixed[1], 0x20));
  _mm256_storeu_si256(At(sums + 8), _mm256_permute2x128_si256(mixed[2], mixed[3], 0x20));
  _mm256_storeu_si256(At(sums + 16), _mm256_permute2x128_si256(mixed[0], mixed[1], 0x31));
  _mm256_storeu_si256(At(sums + 24), _mm256_permute2x128_si256(mixed[2], mixed[3], 0x31));
}

// Where there are fewer than four inputs left, x is 0 for the others, and their weights are those
// of the last one.
template <size_t kRows>
NIBU_AVX2 void Multiply(const int8_t* weights, size_t stride, size_t in, size_t out,
                        const uint8_t* x, int32_t* sums, size_t sums_stride) {
  for (size_t r = 0; r < kRows; ++r) std::fill_n(sums + r * sums_stride, sums_stride, 0);
  for (size_t k = 0; k < in; k += kInputs) {
    const size_t count = std::min(kInputs, in - k);
    const int8_t* rows[kInputs];
    for (size_t i = 0; i < kInputs; ++i) rows[i] = weights + (k + std::min(i, count - 1)) * stride;
    int32_t inputs[kRows] = {};
    for (size_t r = 0; r < kRows; ++r) std::memcpy(&inputs[r], x + r * in + k, count);
    AddFour<kRows>(rows, out, inputs, kInputs * stride, sums, sums_stride);
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t n = 0; n < out; n += kInt8RowOutputs) SortSums(sums + r * sums_stride + n);
  }
}

}  // namespace

void MultiplyInt8Rows(const int8_t* weights, size_t stride, size_t in, size_t out, const uint8_t* x,
                      size_t rows, int32_t* sums, size_t sums_stride) {
  ABSL_ASSERT(0 < rows && rows <= kMostInt8Rows && HasInt8Rows(CurrentIsa()));
  const size_t room = (out + kInt8RowOutputs - 1) / kInt8RowOutputs * kInt8RowOutputs;
  ABSL_ASSERT(room <= stride && room <= sums_stride);
  constexpr decltype(&Multiply<1>) kMultiply[] = {Multiply<1>, Multiply<2>, Multiply<3>,
                                                  Multiply<4>};
  kMultiply[rows - 1](weights, stride, in, out, x, sums, sums_stride);
}

#else

void MultiplyInt8Rows(const int8_t*, size_t, size_t, size_t, const uint8_t*, size_t, int32_t*,
                      size_t) {}

#endif

}  // namespace nibu::internal
