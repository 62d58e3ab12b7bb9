// Writes the native format (native.h).
#ifndef NIBU_MODELS_WRITERS_NATIVE_WRITER_H_
#define NIBU_MODELS_WRITERS_NATIVE_WRITER_H_

#include <string>

#include "absl/status/status.h"
#include "models/assembly/opened_model.h"
#include "models/assembly/tensor_plan.h"

namespace nibu::internal {

// Writes the model to `path`. The file appears, or replaces another one, whole, after it has been
// read back and verified. With a quantization, linears are written packed for this CPU and this
// compute type, if it has kernels for it; all of them are in memory then. Otherwise they are
// written as tensors, of which one is in memory at a time. If linears become int8, tensors of
// model.source are equalized first where it is necessary, and `note` is set to EqualizeForInt8's
// line for the user (null: nobody reads it). Errors are those of reading the model, and
// Unavailable: the file cannot be written. REQUIRES: the model has no packed linears
// (UnpackLinears).
absl::Status WriteNative(const OpenedModel& model, Quantization quantization,
                         const std::string& path, std::string* note = nullptr);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_WRITERS_NATIVE_WRITER_H_
