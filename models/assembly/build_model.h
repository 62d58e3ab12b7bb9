// Assembles a model from a configuration, a source of tensors and a format's table of names. Every
// format goes through here: a new one brings a container reader and a NameTable, nothing else.
#ifndef NIBU_MODELS_ASSEMBLY_BUILD_MODEL_H_
#define NIBU_MODELS_ASSEMBLY_BUILD_MODEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "models/assembly/name_table.h"
#include "models/containers/tensor_source.h"

namespace nibu::internal {

// Of what no part of the model is made: copies must equal their originals, and nothing may be left
// but what `names` ignores. InvalidArgument naming the tensors.
absl::Status CheckLeftovers(const NameTable& names, TensorSource* source);

// The model, and a check that every tensor of the source was of use. InvalidArgument or NotFound
// naming tensor and file: missing, misshapen, wrongly typed, unused, not finite.
absl::StatusOr<std::shared_ptr<const Model>> BuildModel(const ModelConfig& config,
                                                        const NameTable& names,
                                                        ComputeType compute_type,
                                                        TensorSource* source);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_BUILD_MODEL_H_
