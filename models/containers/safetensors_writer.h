// Writer of safetensors files (safetensors.h describes the bytes).
#ifndef NIBU_MODELS_CONTAINERS_SAFETENSORS_WRITER_H_
#define NIBU_MODELS_CONTAINERS_SAFETENSORS_WRITER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/core/tensor.h"

namespace nibu {

// A tensor whose bytes are asked for when their turn comes.
struct TensorToWrite {
  std::string name;
  DType dtype = DType::kFloat32;  // a floating-point type
  Shape shape;
  std::function<absl::StatusOr<std::string>()> bytes;
};

// Writes the tensors in the given order to `path`, which must not be there, and to the disk.
absl::Status WriteSafetensors(const std::vector<TensorToWrite>& tensors, const std::string& path);

}  // namespace nibu

#endif  // NIBU_MODELS_CONTAINERS_SAFETENSORS_WRITER_H_
