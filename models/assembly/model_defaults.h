#ifndef NIBU_MODELS_ASSEMBLY_MODEL_DEFAULTS_H_
#define NIBU_MODELS_ASSEMBLY_MODEL_DEFAULTS_H_

#include "absl/status/statusor.h"
#include "models/assembly/opened_model.h"
#include "models/files/json.h"

namespace nibu::internal {

// Those of an object, under the names that they have here; the beam's size is `beam` there. A
// Hugging Face object, whose beam is "num_beams", has "max_length", which counts the decoder's
// start token, for max_decoding_length. InvalidArgument naming the one that is out of range.
absl::StatusOr<ModelDefaults> ReadModelDefaults(const ConfigFile& object, const char* beam);
nlohmann::ordered_json WriteModelDefaults(const ModelDefaults& defaults, const char* beam);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_MODEL_DEFAULTS_H_
