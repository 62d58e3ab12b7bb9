// Makes models of a given shape with random weights, to measure speed.
#ifndef NIBU_MODELS_RANDOM_MODEL_H_
#define NIBU_MODELS_RANDOM_MODEL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "engine/model/config.h"
#include "models/assembly/opened_model.h"

namespace nibu::internal {

// Reads a model shape (configs/*.json): the fields of ModelConfig by their names. Errors name the
// file and the field.
absl::StatusOr<ModelConfig> ReadModelShape(const std::string& path);

// Returns a model with random bfloat16 weights, the same ones for the same seed, and made-up
// tokens. Source, target and output layer share a table if the vocabularies have the same size.
// REQUIRES: config.Validate() is OK.
absl::StatusOr<OpenedModel> OpenRandom(const ModelConfig& config, uint32_t seed);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_RANDOM_MODEL_H_
