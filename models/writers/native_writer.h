// Writes the native format (native.h).
#ifndef NIBU_MODELS_WRITERS_NATIVE_WRITER_H_
#define NIBU_MODELS_WRITERS_NATIVE_WRITER_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "models/assembly/opened_model.h"
#include "models/assembly/tensor_plan.h"

namespace nibu::internal {

// The form of a written file.
struct NativeOptions {
  Quantization quantization;
  // If set, linears are also written packed for this CPU and this compute type.
  std::optional<ComputeType> packed;
};

// Writes the model to `path`. The file appears, or replaces another one, whole, after it has been
// read back and verified. One tensor is in memory at a time; with `packed`, so are all packed
// linears. If linears become int8, stored or packed, tensors of model.source are equalized first
// where it is necessary, and `note` is set to EqualizeForInt8's line for the user (null: nobody
// reads it). Errors are those of reading the model, and Unavailable: the file cannot be written.
absl::Status WriteNative(const OpenedModel& model, const NativeOptions& options,
                         const std::string& path, std::string* note = nullptr);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_WRITERS_NATIVE_WRITER_H_
