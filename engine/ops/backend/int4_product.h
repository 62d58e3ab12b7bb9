// Weights of 4 bits and their matmuls. The weights of an output n are
//
//   W[k][n] = (scale[n][g] q[k][n] + kLeastStep least[n][g]) unit[n]        g = k / 32
//
//   q in 0 .. 15, scale u8, least s8, unit float32
//   y[r][n] = sum over g of (scale[n][g] * (sum over k in g of x[r][k] q[k][n])
//                            + kLeastStep least[n][g] * (sum over k in g of x[r][k]))
//
//   x [rows, in] s8; y [rows, out] float32, still to be multiplied by unit (see Dequantization)
//
// Four bits with one scale for a whole output, or for groups of 64 inputs, or without a least
// value, cost more than 0.5 BLEU beside int8; groups of 32 with a least value cost less
// (engine/PERFORMANCE.md, Large models). llama.cpp's Q4_K halves the cost of scales in the same
// way, by 6 bits for each and a unit for 256 weights. Here a weight takes 4.5 bits.
//
// Such weights save memory and, with few rows, time, which is that of reading the weights. Many
// rows take longer than with int8, since weights are unpacked once for every few rows.
#ifndef NIBU_ENGINE_OPS_BACKEND_INT4_PRODUCT_H_
#define NIBU_ENGINE_OPS_BACKEND_INT4_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "engine/ops/cpu.h"

namespace nibu::internal {

constexpr size_t kInt4Inputs = 32;   // of a group
constexpr size_t kInt4Outputs = 64;  // of a block

constexpr int kLeastStep = 16;  // so that leasts reach below half of the largest range

// The weights of a group of inputs for a block of outputs. Inputs and outputs beyond those of the
// map have zeros everywhere. It is the same on every CPU.
struct Int4Group {
  uint8_t scales[kInt4Outputs];
  int8_t leasts[kInt4Outputs];
  // q[k][n] is in nibbles[n / 16][k % 16 / 4][n % 16 * 4 + k % 4], in the lower four bits if k <
  // 16, else in the upper ones. So the bytes of a vector of AVX-512, and of half of one, are four
  // inputs of several outputs, as the instructions multiply and add four bytes at a time.
  uint8_t nibbles[4][4][64];
};
static_assert(sizeof(Int4Group) == 1152);

// The groups of all inputs for the first block of outputs, for the second one, and so on.
struct Int4Weights {
  Int4Group* groups;  // 64-byte aligned
  size_t in;
  size_t out;

  size_t groups_in_block() const { return (in + kInt4Inputs - 1) / kInt4Inputs; }
  size_t blocks() const { return (out + kInt4Outputs - 1) / kInt4Outputs; }
  size_t bytes() const { return blocks() * groups_in_block() * sizeof(Int4Group); }
};

// Sets the weights of an output to w[0], w[stride], ..., rounded, and returns its unit. REQUIRES:
// the output's weights are still 0.
float SetInt4Output(const Int4Weights& weights, size_t output, const float* w, size_t stride);
// Sets w [in] = unit * the weights of an output.
void GetInt4Output(const Int4Weights& weights, size_t output, float unit, float* w);
// Sets the weights of output `to_output` of `to`, which has as many inputs, to those of an output,
// whose unit they keep.
void CopyInt4Output(const Int4Weights& from, size_t from_output, const Int4Weights& to,
                    size_t to_output);

// Sets sums [rows, groups_in_block()] to kLeastStep times the sums of x over each group.
void SumInt4Inputs(const int8_t* x, size_t rows, size_t in, float* sums);
// Sets y [rows, out] for the blocks [first, last) of outputs. There are kernels for AVX-512 VNNI
// and for AVX2; others are plain loops. All take sums in the same order, so that a row has the same
// bits on every CPU and beside any other rows. Thread-safe. REQUIRES: kInt4Inputs bytes can be read
// behind x; `sums` is SumInt4Inputs' result; this CPU has the instructions of `isa`.
void MultiplyInt4(Isa isa, const Int4Weights& weights, size_t first, size_t last, const int8_t* x,
                  const float* sums, size_t rows, float* y);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_INT4_PRODUCT_H_
