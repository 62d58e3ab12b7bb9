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

namespace nibu::internal {
namespace {

// Directory of the bundled English-German model: beside the installed programs
// (../share/nibu/models/en-de), or in the source tree this was built from.
std::string BundledModelPath() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed =
      program.parent_path().parent_path() / "share/nibu/models/en-de";
  if (!error && std::filesystem::is_directory(installed, error)) return installed.string();
  return NIBU_SOURCE_DIR "/models/pretrained/en-de";
}

// The paths that --model names: one that exists as it is written, or several with commas between
// them. "\," is a comma within a path.
std::vector<std::string> SplitPaths(const std::string& paths) {
  std::error_code error;
  if (std::filesystem::exists(paths, error)) return {paths};
  std::vector<std::string> split(1);
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i] == ',') {
      split.emplace_back();
      continue;
    }
    if (paths[i] == '\\' && i + 1 < paths.size() && paths[i + 1] == ',') ++i;
    split.back() += paths[i];
  }
  return split;
}

}  // namespace

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
  const auto text = MakeTextOptions(options, defaults);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(text.status()));
  if (!model.text.draft_model.empty() && text->decoding.beam_size != 1) {
    return WrongUsage("--draft_model needs --beam_size=1, not ", text->decoding.beam_size);
  }
  return text;
}

absl::Status CheckTextFlags(const Options& options) {
  for (const auto& [flag, is_asked] :
       {std::pair("split_sentences", options.split_sentences && WasGiven("split_sentences")),
        std::pair("protect", options.protect != "none" && WasGiven("protect")),
        std::pair("protect_pattern", !options.protect_pattern.empty())}) {
    if (options.tokenized && is_asked) {
      return WrongUsage("--", flag, " needs text, not the pieces of --tokenized; give one of them");
    }
  }
  return Refuse(
      {{(options.tokenized || !options.split_sentences) && !options.split_language.empty(),
        "--split_language means nothing without --split_sentences"}});
}

}  // namespace nibu::internal
