// Reads and writes safetensors files.
//
//   u64 n | n bytes of JSON | data                                              (little-endian)
//
// The JSON, blanks allowed at its end, is one object of name -> tensor:
//   "__metadata__": {string: string, ...}, optional
//   name: {"dtype": "F32" | "F16" | "BF16" | "I8" | "U8" | "I16" | "I32" | "I64" | ...,
//          "shape": [non-negative integers], row-major,
//          "data_offsets": [begin, end)} counted from the first byte of the data
// The tensors cover the data without holes or overlap; n is at most 100 MB (nibu: 32 MB).
// https://github.com/huggingface/safetensors#format
#ifndef NIBU_MODELS_CONTAINERS_SAFETENSORS_H_
#define NIBU_MODELS_CONTAINERS_SAFETENSORS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/core/tensor.h"
#include "models/containers/tensor_source.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

// Checks every rule above. InvalidArgument, in one line that names the file: it breaks a rule.
// Unimplemented: a tensor has a type that nibu does not read.
absl::StatusOr<TensorSource> ReadSafetensors(std::shared_ptr<const FileBytes> file);

// A tensor to be written. Its bytes are asked for only when they are written, so that one tensor
// is in memory at a time.
struct TensorToWrite {
  std::string name;
  DType dtype = DType::kFloat32;  // a floating-point type
  Shape shape;
  std::function<absl::StatusOr<std::string>()> bytes;
};

// Writes the tensors in the given order to a new file `path`, and returns when the disk has them.
// Unavailable: the file is there already, or cannot be written.
absl::Status WriteSafetensors(const std::vector<TensorToWrite>& tensors, const std::string& path);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_CONTAINERS_SAFETENSORS_H_
