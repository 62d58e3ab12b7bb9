// Reads model, threads and search options for programs that use the engine directly.

#include "tools/cli/model_flags.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "models/random_model.h"
#include "tools/cli/flags.h"
#include "tools/text/model/model_parts.h"
#include "tools/text/model/model_paths.h"
#include "tools/text/options/engine_options.h"

namespace nibu::internal {

absl::StatusOr<std::vector<std::string>> ReadModelFlags(const std::string& model,
                                                        const ModelOptions& options) {
  auto paths = FindModels(model, options);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(paths.status()));
  return paths;
}

absl::StatusOr<std::string> ReadOneModelFlag(const std::string& model,
                                             const ModelOptions& options) {
  NIBU_ASSIGN_OR_RETURN(std::vector<std::string> paths, ReadModelFlags(model, options));
  if (paths.size() == 1) return std::move(paths[0]);
  return WrongUsage(
      "--model must be one model, not an ensemble (a comma within a path is written \\,)");
}

absl::StatusOr<OpenedModel> OpenModelOrShape(const std::string& path, bool is_shape,
                                             const ModelOptions& options) {
  if (!is_shape) {
    NIBU_RETURN_IF_ERROR(CheckModelExists(path));
    return OpenModel(path);
  }
  NIBU_ASSIGN_OR_RETURN(ModelConfig config, ReadModelShape(path));
  NIBU_ASSIGN_OR_RETURN(LayerAttention asked, LayerAttentionOf(options));
  if (!asked.encoder.empty()) config.encoder_attention = std::move(asked.encoder);
  if (!asked.cross.empty()) config.cross_attention = std::move(asked.cross);
  if (const absl::Status status = config.Validate(); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  }
  return OpenRandom(config, /*seed=*/1);
}

absl::StatusOr<TranslatorOptions> ReadTranslatorFlags(const SpeedOptions& speed,
                                                      const ModelOptions& model,
                                                      const Options& options) {
  TranslatorOptions made = MakeTranslatorOptions(speed);
  made.ensemble_weights = model.ensemble_weights;
  made.max_source_length = options.max_input_length;
  made.max_decoding_length = options.max_decoding_length.value_or(kDefaultMaxDecodingLength);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(made.Validate()));
  return made;
}

absl::StatusOr<DecodingOptions> ReadDecodingFlags(const Options& options, const ModelOptions& model,
                                                  const ModelDefaults& defaults) {
  NIBU_RETURN_IF_ERROR(UsageOfFlag(CheckOptions(options)));
  DecodingOptions decoding = MakeDecodingOptions(options, defaults);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(decoding.Validate()));
  if (!model.draft_model.empty() && decoding.beam_size != 1) {
    return WrongUsage("--draft_model needs --beam_size=1, not ", decoding.beam_size);
  }
  return decoding;
}

}  // namespace nibu::internal
