// Reads the fields encoder_attention and cross_attention, and puts other mechanisms into a model.
#include "models/assembly/layer_attention.h"

#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "models/assembly/mixer_text.h"
#include "models/assembly/name_table.h"

namespace nibu::internal {
namespace {

// Returns true if a layer's mixer decides whether there is such a weight.
bool IsOfMixer(absl::string_view weight, absl::string_view field) {
  if (field == kCrossAttention) {
    return absl::StartsWith(weight, "decoder.") && absl::StrContains(weight, ".mixer.");
  }
  return absl::StartsWith(weight, "encoder.") &&
         (absl::StrContains(weight, ".mixer.") || absl::StrContains(weight, ".self.") ||
          absl::StrContains(weight, ".grid."));
}

int64_t Elements(const TensorView& view) {
  return std::accumulate(view.shape.begin(), view.shape.end(), int64_t{1}, std::multiplies<>());
}
int64_t Elements(const WeightShape& shape) { return int64_t{1} * shape.rows * shape.columns; }

absl::Status Unfit(const OpenedModel& model, absl::string_view field, absl::string_view why) {
  return InvalidOption(field, " does not fit ", model.config_file, ": ", why);
}

// Puts `mixers` in place of `own`, a field of the model's configuration.
absl::Status Replace(absl::string_view field, std::vector<MixerSpec> mixers,
                     std::vector<MixerSpec>* own, OpenedModel* model) {
  const ModelConfig& config = model->config;
  NameTable& names = model->names;
  *own = std::move(mixers);
  if (const absl::Status status = config.Validate(); !status.ok()) {
    return Unfit(*model, field, status.message());
  }
  for (const auto& [weight, tensors] : names.tensors) {
    if (!IsOfMixer(weight, field)) continue;
    for (const auto* list : {&tensors.weights, &tensors.biases}) {
      names.ignored.insert(names.ignored.end(), list->begin(), list->end());
    }
  }
  for (const ListedWeight& weight : ListWeights(config)) {
    if (!IsOfMixer(weight.name, field)) continue;
    const StoredTensor* const tensor = model->source->Find(names.Tensor(weight.name));
    if (tensor != nullptr && (!absl::StrContains(weight.name, ".mixer.") ||
                              Elements(tensor->view) == Elements(weight))) {
      continue;
    }
    // "encoder.3.mixer.score", "encoder.3.grid.self.out"
    const std::vector<std::string> parts = absl::StrSplit(weight.name, absl::MaxSplits('.', 2));
    int layer = 0;
    if (!absl::SimpleAtoi(parts[1], &layer)) continue;
    const bool is_cross = field == kCrossAttention;
    const MixerSpec mixer = is_cross ? config.cross_mixer(layer) : config.encoder_mixer(layer);
    const absl::string_view lacks =
        tensor == nullptr ? "no weights" : "weights of another size than are needed";
    return Unfit(*model, field,
                 absl::StrCat("its ", parts[0], " layer ", layer, " has ", lacks, " for ", field,
                              " \"", mixer.ToText(), "\" (", tensor == nullptr ? "no \"" : "\"",
                              absl::StripPrefix(parts[2], "mixer."),
                              "\"); choose another one, or a model trained with it"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<MixerSpec>> ReadLayerAttention(const ConfigFile& config,
                                                          absl::string_view field) {
  NIBU_ASSIGN_OR_RETURN(const std::string text, config.String(std::string(field), ""));
  absl::StatusOr<std::vector<MixerSpec>> mixers = ParseMixers(text, field);
  if (!mixers.ok()) return Invalid(config.file(), ": ", mixers.status().message());
  return mixers;
}

absl::Status ReplaceLayerAttention(LayerAttention attention, OpenedModel* model) {
  ModelConfig& config = model->config;
  if (!attention.encoder.empty()) {
    NIBU_RETURN_IF_ERROR(
        Replace(kEncoderAttention, std::move(attention.encoder), &config.encoder_attention, model));
  }
  if (attention.cross.empty()) return absl::OkStatus();
  return Replace(kCrossAttention, std::move(attention.cross), &config.cross_attention, model);
}

}  // namespace nibu::internal
