// Builds a model from a configuration, a source of tensors and a format's table of names. This code
// is the same for all formats.
#ifndef NIBU_MODELS_ASSEMBLY_BUILD_MODEL_H_
#define NIBU_MODELS_ASSEMBLY_BUILD_MODEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "models/assembly/name_table.h"
#include "models/containers/tensor_source.h"

namespace nibu::internal {

// Returns whether an embedding table, by the name of its tensor, is the output layer's matrix. It
// may be so by another name. Shared tensors (TensorSource::shared) are not read.
bool IsTiedToOutput(const std::string& table, const NameTable& names, const TensorSource& source);

// Checks the tensors that no part of the model is made of: copies must equal their originals, and
// no others may be left except those that `names` ignores. InvalidArgument naming the tensors.
absl::Status CheckLeftovers(const NameTable& names, TensorSource* source);

// Builds the model, and checks that every tensor of the source was used. NotFound naming tensor and
// file: a tensor is missing. InvalidArgument: one has another shape or type, NaN or infinite
// values, or no use.
absl::StatusOr<std::shared_ptr<const Model>> BuildModel(const ModelConfig& config,
                                                        const NameTable& names,
                                                        ComputeType compute_type,
                                                        TensorSource* source);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_BUILD_MODEL_H_
