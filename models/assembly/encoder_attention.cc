#include "models/assembly/encoder_attention.h"
#include "engine/core/option_error.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/assembly/mixer_text.h"
#include "models/assembly/name_table.h"

namespace nibu::internal {
namespace {

// Whether a layer's mixer decides if there is such a weight.
bool IsOfMixer(absl::string_view weight) {
  return absl::StartsWith(weight, "encoder.") &&
         (absl::StrContains(weight, ".mixer.") || absl::StrContains(weight, ".self."));
}

absl::Status Unfit(const OpenedModel& model, absl::string_view why) {
  return InvalidOption("encoder_attention", " does not fit ", model.config_file, ": ", why);
}

}  // namespace

absl::StatusOr<std::vector<MixerSpec>> ReadEncoderAttention(const ConfigFile& config) {
  NIBU_ASSIGN_OR_RETURN(const std::string text, config.String("encoder_attention", ""));
  absl::StatusOr<std::vector<MixerSpec>> mixers = ParseMixers(text);
  if (!mixers.ok()) return Invalid(config.file(), ": ", mixers.status().message());
  return mixers;
}

absl::Status ReplaceEncoderAttention(std::vector<MixerSpec> mixers, OpenedModel* model) {
  ModelConfig& config = model->config;
  NameTable& names = model->names;
  config.encoder_attention = std::move(mixers);
  if (const absl::Status status = config.Validate(); !status.ok()) {
    return Unfit(*model, status.message());
  }
  for (const auto& [weight, tensors] : names.tensors) {
    if (!IsOfMixer(weight)) continue;
    for (const auto* list : {&tensors.weights, &tensors.biases}) {
      names.ignored.insert(names.ignored.end(), list->begin(), list->end());
    }
  }
  for (const ListedWeight& weight : ListWeights(config)) {
    if (!IsOfMixer(weight.name) || model->source->Has(names.Tensor(weight.name))) continue;
    const std::vector<std::string> parts = absl::StrSplit(weight.name, '.');
    int layer = 0;
    if (!absl::SimpleAtoi(parts[1], &layer)) continue;
    return Unfit(*model, absl::StrCat("its encoder layer ", layer,
                                      " has no weights for encoder_attention \"",
                                      config.mixer(layer).ToText(), "\" (no \"", parts[3],
                                      "\"); choose another one, or a model trained with it"));
  }
  return absl::OkStatus();
}

}  // namespace nibu::internal
