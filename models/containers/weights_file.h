// The weights of a Hugging Face directory, in whichever of their forms they are there.
#ifndef NIBU_MODELS_CONTAINERS_WEIGHTS_FILE_H_
#define NIBU_MODELS_CONTAINERS_WEIGHTS_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "models/containers/tensor_source.h"

namespace nibu::internal {

// The first of these that the directory has:
//   model.safetensors, model.safetensors.index.json, pytorch_model.bin,
//   pytorch_model.bin.index.json
// An index is {"weight_map": {tensor: file in the same directory}, ...}; every tensor must be in
// the file that the index names, and no other may be there. What a file holds (safetensors,
// PyTorch) is told by its content. NotFound when there is none of the four.
absl::StatusOr<TensorSource> OpenWeights(const std::string& directory);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_CONTAINERS_WEIGHTS_FILE_H_
