// Writer of the native format (native.h).
#ifndef NIBU_MODELS_WRITERS_NATIVE_WRITER_H_
#define NIBU_MODELS_WRITERS_NATIVE_WRITER_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "models/assembly/opened_model.h"
#include "models/assembly/tensor_plan.h"

namespace nibu::internal {

struct NativeOptions {
  Quantization quantization;
  // The compute type whose linears are also written packed for this CPU. Empty: none.
  std::optional<ComputeType> packed;
};

// Writes the model to `path`, which appears (or is replaced) whole, after it has been read back and
// verified. Holds one tensor in memory at a time, and with `packed` the packed linears.
absl::Status WriteNative(const OpenedModel& model, const NativeOptions& options,
                         const std::string& path);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_WRITERS_NATIVE_WRITER_H_
