// Reads and writes the decoding options that a model comes with.
#ifndef NIBU_MODELS_ASSEMBLY_MODEL_DEFAULTS_H_
#define NIBU_MODELS_ASSEMBLY_MODEL_DEFAULTS_H_

#include "absl/status/statusor.h"
#include "models/assembly/opened_model.h"
#include "models/files/json.h"

namespace nibu::internal {

// Reads the fields of a configuration that have the names of ModelDefaults' fields, except the
// beam's size, whose name is `beam`. If that is "num_beams", the configuration is Hugging Face's:
// max_decoding_length is "max_length" then, which counts the decoder's start token, too.
// InvalidArgument naming the field: it is out of range.
absl::StatusOr<ModelDefaults> ReadModelDefaults(const ConfigFile& object, const char* beam);
// Writes the fields that are set as ReadModelDefaults() reads them.
nlohmann::ordered_json WriteModelDefaults(const ModelDefaults& defaults, const char* beam);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_MODEL_DEFAULTS_H_
