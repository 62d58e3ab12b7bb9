#include "tools/cli/model_flags.h"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/assembly/mixer_text.h"
#include "models/random_model.h"
#include "tools/cli/flags.h"
#include "tools/text/model_paths.h"

namespace nibu::internal {
absl::StatusOr<ModelFlags> ReadModelFlags(const std::string& model, const ModelOptions& options) {
  ModelFlags flags;
  const std::vector<std::string> paths = SplitPaths(model.empty() ? BundledModelPath() : model);
  if (std::count(paths.begin(), paths.end(), "") > 0) {
    return WrongUsage("--model=", model, " has a comma with no model beside it");
  }
  if (paths.size() == 1 && !options.ensemble_weights.empty()) {
    return WrongUsage(
        "--ensemble_weights means nothing with one model; give several in --model=A,B");
  }
  flags.path = paths[0];
  flags.text = {options.sentencepiece,
                options.shortlist,
                options.draft_model,
                {},
                {paths.begin() + 1, paths.end()}};
  const auto mixers = ParseMixers(options.encoder_attention);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(mixers.status()));
  flags.text.encoder_attention = *mixers;
  const auto type = ChooseComputeType(options.compute_type);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(type.status()));
  flags.compute_type = *type;
  return flags;
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
  if (!model.random_weights) return OpenModel(model.path);
  NIBU_ASSIGN_OR_RETURN(ModelConfig config, ReadModelShape(model.path));
  const std::vector<MixerSpec>& mixers = model.text.encoder_attention;
  if (!mixers.empty()) config.encoder_attention = mixers;
  if (const absl::Status status = config.Validate(); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(model.path, ": ", status.message()));
  }
  return OpenRandom(config, /*seed=*/1);
}

absl::StatusOr<TranslatorOptions> ReadTranslatorFlags(const SpeedOptions& speed,
                                                      const ModelOptions& model,
                                                      const Options& options) {
  TranslatorOptions made;
  made.threads = speed.threads;
  if (made.threads == 0) {
    // Of those this process may use.
    cpu_set_t cpus;
    made.threads = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  }
  made.batch_size = speed.batch_size;
  made.batch_type = static_cast<BatchType>(speed.batch_type);
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
