// The recurrence of the simpler simple recurrent unit (Kim et al. 2019).
#ifndef NIBU_ENGINE_OPS_SSRU_H_
#define NIBU_ENGINE_OPS_SSRU_H_

#include <cstddef>

namespace nibu {

// One step of one row:  f = sigmoid(gate_value[0..dim));  v = gate_value[dim..2 dim)
//   cell = f * previous + (1 - f) * v;  out = relu(cell)
// `cell` may be `previous`.
void SsruStep(const float* gate_value, size_t dim, const float* previous, float* cell, float* out);

}  // namespace nibu

#endif  // NIBU_ENGINE_OPS_SSRU_H_
