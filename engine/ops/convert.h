// Element type conversions at load time.
#ifndef NIBU_ENGINE_OPS_CONVERT_H_
#define NIBU_ENGINE_OPS_CONVERT_H_

#include <cstddef>

#include "engine/core/tensor.h"

namespace nibu::internal {

// Sets out[i] = from[i] as float. `from` may be unaligned.
void ConvertToFloat(DType dtype, const void* from, size_t n, float* out);

// Returns whether there is no NaN and no infinity among x[0..n).
bool AllFinite(const float* x, size_t n);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_CONVERT_H_
