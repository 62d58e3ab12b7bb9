// Writes and reads a ModelConfig as JSON: an object with its fields by their names. Enumerations
// are words, as in configs/*.json: "activation": "relu", "norm_order": "post", ...
#ifndef NIBU_MODELS_NATIVE_MODEL_CONFIG_JSON_H_
#define NIBU_MODELS_NATIVE_MODEL_CONFIG_JSON_H_

#include "absl/status/status.h"
#include "engine/model/config.h"
#include "models/files/json.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {

// Returns an object with all fields.
nlohmann::json ConfigToJson(const ModelConfig& config);

// Sets the fields that `json` has. InvalidArgument naming file and field: it has another type, an
// unknown word, or is no field of ModelConfig. ModelConfig::Validate() checks the values.
absl::Status ConfigFromJson(const ConfigFile& json, ModelConfig* config);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_NATIVE_MODEL_CONFIG_JSON_H_
