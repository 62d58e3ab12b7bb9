// Turns packed linears of a .nibu file into tensors again.
#ifndef NIBU_MODELS_NATIVE_UNPACK_H_
#define NIBU_MODELS_NATIVE_UNPACK_H_

#include "absl/status/status.h"
#include "models/assembly/opened_model.h"

namespace nibu::internal {

// Replaces the packed linears of an opened model by tensors in memory, for writers, and for other
// compute types. InvalidArgument: one is damaged.
absl::Status UnpackLinears(OpenedModel* model);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_NATIVE_UNPACK_H_
