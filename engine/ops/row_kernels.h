// What layers do with rows between matmuls: normalization, residual sums, gates, recurrence.
#ifndef NIBU_ENGINE_OPS_ROW_KERNELS_H_
#define NIBU_ENGINE_OPS_ROW_KERNELS_H_

#include <cstddef>

namespace nibu::internal {

// out[r] = (z - m) / sqrt(mean((z - m)^2) + epsilon) * gamma + beta, with z = x[r], or x[r] + y[r]
// when y is not null; all [rows, dim]. out may be x or y. m = mean(z): Ba et al. 2016. beta null:
// m = beta = 0, the RMS norm of Zhang and Sennrich 2019.
void LayerNorm(const float* gamma, const float* beta, float epsilon, const float* x, const float* y,
               int rows, int dim, float* out);

// x[i] += y[i] for n elements.
void Add(const float* y, long n, float* x);

// x[i] *= y[i] for n elements.
void Multiply(const float* y, long n, float* x);

// One step of one row of the simpler simple recurrent unit (Kim et al. 2019):
//   f = sigmoid(gate_value[0..dim));  v = gate_value[dim..2 dim)
//   cell = f * previous + (1 - f) * v;  out = relu(cell)
// `cell` may be `previous`.
void SsruStep(const float* gate_value, size_t dim, const float* previous, float* cell, float* out);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_ROW_KERNELS_H_
