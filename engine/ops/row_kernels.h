// The operations of layers on rows between matmuls: normalization, residual sums, gates,
// recurrence.
#ifndef NIBU_ENGINE_OPS_ROW_KERNELS_H_
#define NIBU_ENGINE_OPS_ROW_KERNELS_H_

#include <cstddef>

namespace nibu::internal {

// Normalizes rows:
//
//   out[r] = (z - m) / sqrt(mean((z - m)^2) + epsilon) * gamma + beta
//
// z = x[r] + y[r], or x[r] if y is null. x, y and out are [rows, dim]; out may be x or y. m =
// mean(z) is the layer norm of Ba et al. 2016. With a null beta, m = beta = 0: the RMS norm of
// Zhang and Sennrich 2019.
void LayerNorm(const float* gamma, const float* beta, float epsilon, const float* x, const float* y,
               int rows, int dim, float* out);

// Sets x[i] += y[i] for n elements.
void Add(const float* y, long n, float* x);

// Sets x[i] *= y[i] for n elements.
void Multiply(const float* y, long n, float* x);

// Computes one step of one row of the simpler simple recurrent unit (Kim et al. 2019):
//   f = sigmoid(gate_value[0..dim));  v = gate_value[dim..2 dim)
//   cell = f * previous + (1 - f) * v;  out = relu(cell)
// `cell` may be `previous`.
void SsruStep(const float* gate_value, size_t dim, const float* previous, float* cell, float* out);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_ROW_KERNELS_H_
