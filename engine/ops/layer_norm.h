// Normalization, residual sums and gates.
#ifndef NIBU_ENGINE_OPS_LAYER_NORM_H_
#define NIBU_ENGINE_OPS_LAYER_NORM_H_

namespace nibu {

// out[r] = (z - m) / sqrt(mean((z - m)^2) + epsilon) * gamma + beta, with z = x[r], or x[r] + y[r]
// when y is not null; all [rows, dim]. out may be x or y. m = mean(z): Ba et al. 2016. beta null:
// m = beta = 0, the RMS norm of Zhang and Sennrich 2019.
void LayerNorm(const float* gamma, const float* beta, float epsilon, const float* x, const float* y,
               int rows, int dim, float* out);

// x[i] += y[i] for n elements.
void Add(const float* y, long n, float* x);

// x[i] *= y[i] for n elements.
void Multiply(const float* y, long n, float* x);

}  // namespace nibu

#endif  // NIBU_ENGINE_OPS_LAYER_NORM_H_
