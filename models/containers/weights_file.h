// Opens the weights of a Hugging Face directory in any of their forms.
#ifndef NIBU_MODELS_CONTAINERS_WEIGHTS_FILE_H_
#define NIBU_MODELS_CONTAINERS_WEIGHTS_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "models/containers/tensor_source.h"

namespace nibu::internal {

// Opens the first of these that the directory has:
//   model.safetensors, model.safetensors.index.json, pytorch_model.bin,
//   pytorch_model.bin.index.json
// An index is {"weight_map": {tensor: file in the same directory}, ...}. A file may have no tensors
// other than those for which the index names it; tied tensors of the index may be in no file. The
// format of a file (safetensors or PyTorch) is told by its content. NotFound: the directory has
// none of the four.
absl::StatusOr<TensorSource> OpenWeights(const std::string& directory);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_CONTAINERS_WEIGHTS_FILE_H_
