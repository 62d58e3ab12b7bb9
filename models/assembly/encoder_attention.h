// How encoder layers mix positions (engine/attention/mixer_spec.h), as files and callers say.
#ifndef NIBU_MODELS_ASSEMBLY_ENCODER_ATTENTION_H_
#define NIBU_MODELS_ASSEMBLY_ENCODER_ATTENTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "engine/attention/mixer_spec.h"
#include "models/assembly/opened_model.h"
#include "models/files/json.h"

namespace nibu::internal {

// The field "encoder_attention", a text as ParseMixers (mixer_text.h) reads it. Absent: none.
absl::StatusOr<std::vector<MixerSpec>> ReadEncoderAttention(const ConfigFile& config);

// Puts `mixers` in place of the model's own, whose weights are then of no use. InvalidArgument,
// beginning with "encoder_attention": they do not fit the model, or need weights that it does not
// have.
absl::Status ReplaceEncoderAttention(std::vector<MixerSpec> mixers, OpenedModel* model);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_ENCODER_ATTENTION_H_
