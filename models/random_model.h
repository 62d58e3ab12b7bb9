// Models of a given shape with random weights, to measure speed.
#ifndef NIBU_MODELS_RANDOM_MODEL_H_
#define NIBU_MODELS_RANDOM_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/model/weights.h"

namespace nibu {

// Reads a model shape (configs/*.json): the fields of ModelConfig by their names. Errors name the
// file and the field.
absl::StatusOr<ModelConfig> ReadModelShape(const std::string& path);

// The same weights for the same seed.
absl::StatusOr<std::shared_ptr<const Model>> RandomModel(const ModelConfig& config,
                                                         ComputeType compute_type, uint32_t seed);

}  // namespace nibu

#endif  // NIBU_MODELS_RANDOM_MODEL_H_
