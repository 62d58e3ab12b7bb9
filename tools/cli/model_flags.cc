// Reads model, threads and text options for programs that use the engine directly.

#include "tools/cli/model_flags.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/random_model.h"
#include "tools/cli/flags.h"
#include "tools/text/model_paths.h"

namespace nibu::internal {

absl::StatusOr<ModelFlags> ReadModelFlags(const std::string& model, const ModelOptions& options) {
  auto source = ReadModelSource(model, options);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(source.status()));
  return ModelFlags{std::move(source->path), false, source->compute_type,
                    std::move(source->options)};
}

absl::StatusOr<ModelFlags> ReadOneModelFlags(const std::string& model,
                                             const ModelOptions& options) {
  absl::StatusOr<ModelFlags> flags = ReadModelFlags(model, options);
  if (flags.ok() && !flags->text.ensemble.empty()) {
    return WrongUsage(
        "--model must be one model, not an ensemble (a comma within a path is written \\,)");
  }
  return flags;
}

absl::StatusOr<OpenedModel> Open(const ModelFlags& model) {
  if (!model.random_weights) {
    NIBU_RETURN_IF_ERROR(CheckModelExists(model.path));
    return OpenModel(model.path);
  }
  NIBU_ASSIGN_OR_RETURN(ModelConfig config, ReadModelShape(model.path));
  const LayerAttention& asked = model.text.attention;
  if (!asked.encoder.empty()) config.encoder_attention = asked.encoder;
  if (!asked.cross.empty()) config.cross_attention = asked.cross;
  if (const absl::Status status = config.Validate(); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(model.path, ": ", status.message()));
  }
  return OpenRandom(config, /*seed=*/1);
}

absl::StatusOr<TranslatorOptions> ReadTranslatorFlags(const SpeedOptions& speed,
                                                      const ModelOptions& model,
                                                      const Options& options) {
  TranslatorOptions made = MakeTranslatorOptions(speed);
  made.ensemble_weights = model.ensemble_weights;
  made.max_source_length = options.max_input_length;
  made.max_decoding_length = options.max_decoding_length.value_or(256);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(made.Validate()));
  return made;
}

absl::StatusOr<TextOptions> ReadTextFlags(const Options& options, const ModelFlags& model,
                                          const ModelDefaults& defaults) {
  auto text = MakeTextOptions(options, defaults);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(text.status()));
  if (!model.text.draft_model.empty() && text->decoding.beam_size != 1) {
    return WrongUsage("--draft_model needs --beam_size=1, not ", text->decoding.beam_size);
  }
  return text;
}

absl::StatusOr<TextModel> LoadForText(const ModelFlags& model, const Options& options,
                                      TextOptions* text) {
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened, Open(model));
  NIBU_ASSIGN_OR_RETURN(*text, ReadTextFlags(options, model, opened.defaults));
  absl::StatusOr<TextModel> loaded =
      LoadTextModel(std::move(opened), model.compute_type, model.text);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(loaded.status()));
  for (const std::string& note : loaded->notes) PrintWarning(note);
  text->decoding.shortlist = loaded->loaded.shortlist;
  if (!text->tokenized && loaded->loaded.vocabulary.source_sentencepiece.empty()) {
    return Invalid(model.path,
                   ": has no SentencePiece model; give it with --sentencepiece, or pieces "
                   "separated by spaces with --tokenized");
  }
  return loaded;
}

}  // namespace nibu::internal
