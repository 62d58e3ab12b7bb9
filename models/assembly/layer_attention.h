// How the layers of a model attend (engine/attention/mixer_spec.h), as files and callers say: the
// fields "encoder_attention" and "cross_attention".
#ifndef NIBU_MODELS_ASSEMBLY_LAYER_ATTENTION_H_
#define NIBU_MODELS_ASSEMBLY_LAYER_ATTENTION_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/attention/mixer_spec.h"
#include "models/assembly/opened_model.h"
#include "models/files/json.h"

namespace nibu::internal {

// Reads one of the two fields, a text as ParseMixers (mixer_text.h) takes it. Absent: none.
absl::StatusOr<std::vector<MixerSpec>> ReadLayerAttention(const ConfigFile& config,
                                                          absl::string_view field);

// How the two kinds of layers shall attend; empty: as the model says.
struct LayerAttention {
  std::vector<MixerSpec> encoder;
  std::vector<MixerSpec> cross;
};

// Puts what is given in place of the model's own, whose weights are then of no use.
// InvalidArgument, beginning with the field's name: it does not fit the model, or needs weights
// that the model does not have.
absl::Status ReplaceLayerAttention(LayerAttention attention, OpenedModel* model);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_LAYER_ATTENTION_H_
