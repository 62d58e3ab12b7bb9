#include "tools/decoding_flags.h"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/check_range.h"
#include "engine/core/status_macros.h"
#include "models/files/errors.h"
#include "models/random_model.h"
#include "tools/flags.h"

ABSL_DECLARE_FLAG(int, max_decoding_length);
ABSL_FLAG(std::string, model, "",
          "Directory or file of a model, in any supported format; several with commas between them "
          "are an ensemble. Empty: the bundled English-German model.");
ABSL_FLAG(std::string, ensemble_weights, "",
          "Of the models of an ensemble, whose log-probabilities are averaged: numbers above 0 "
          "with commas between them. Empty: equal ones.");
ABSL_FLAG(std::string, src_lang, "",
          "Language of the source, for models that have to be told; en, eng, en-US, eng_Latn, ...: "
          "in any common form.");
ABSL_FLAG(std::string, tgt_lang, "",
          "Language to translate into, for models that have to be told.");
ABSL_FLAG(std::string, sentencepiece, "",
          "SOURCE.spm[,TARGET.spm]: SentencePiece models for a model without them; one serves both "
          "sides.");
ABSL_FLAG(int, max_input_length, 1024,
          "Tokens of a sentence translated in one piece (never more than the model's positions).");
ABSL_FLAG(std::string, compute_type, "auto",
          "Type of the matrix products: float32, bfloat16, int8, or auto, the fastest on this CPU "
          "(int8 on any x86-64 since SSE4.1).");
ABSL_FLAG(std::string, draft_model, "",
          "A smaller model of the same vocabularies that guesses the next tokens, which the model "
          "then checks all at once: greedy search of few lines at a time gets faster, and what it "
          "finds stays the same. Needs --beam_size=1.");
ABSL_FLAG(std::string, shortlist, "",
          "Lexical shortlist (Marian's, or a vmap.txt) that narrows the output to tokens worth it "
          "for a line. Empty: the model's own, if it has one; none: all tokens.");
ABSL_FLAG(std::string, encoder_attention, "",
          "What the encoder's layers do in place of full attention: window:64, bigbird, lsh, "
          "mean:2, pool, ...; one for all layers, or one for each with semicolons between them. Of "
          "several models, in the first.");
ABSL_FLAG(int, threads, 0,
          "Sentences are shared out to this many threads, a single one of an int8 model too; 0: "
          "all cores.");
ABSL_FLAG(int, batch_size, 0, "What a thread decodes together; 0: chosen for speed.");
ABSL_FLAG(std::string, batch_type, "examples",
          "batch_size counts examples (sentences) or tokens (of the sources).");

namespace nibu {
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

}  // namespace

std::vector<std::string> SpeedFlags() {
  return {"compute_type", "draft_model", "shortlist", "threads", "batch_size", "batch_type"};
}

std::vector<std::pair<std::string, ComputeType>> ComputeTypes() {
  return {{"float32", ComputeType::kFloat32},
          {"bfloat16", ComputeType::kBFloat16},
          {"int8", ComputeType::kInt8}};
}

absl::StatusOr<ModelFlags> ReadModelFlags() {
  ModelFlags flags;
  flags.path = absl::GetFlag(FLAGS_model);
  if (flags.path.empty()) flags.path = BundledModelPath();
  // A path may have a comma, too.
  std::vector<std::string> paths = {flags.path};
  std::error_code error;
  if (!std::filesystem::exists(flags.path, error)) paths = absl::StrSplit(flags.path, ',');
  flags.path = paths[0];
  flags.text = {absl::GetFlag(FLAGS_sentencepiece),
                absl::GetFlag(FLAGS_shortlist),
                absl::GetFlag(FLAGS_draft_model),
                {},
                {paths.begin() + 1, paths.end()}};
  absl::StatusOr<std::vector<MixerSpec>> mixers =
      ParseMixers(absl::GetFlag(FLAGS_encoder_attention));
  if (!mixers.ok()) return NameFlag(mixers.status());
  flags.text.encoder_attention = *std::move(mixers);
  auto types = ComputeTypes();
  types.insert(types.begin(), {"auto", FastestComputeType()});
  NIBU_ASSIGN_OR_RETURN(flags.compute_type, Choose("compute_type", types));
  if (!IsSupported(flags.compute_type)) {
    return Invalid("--compute_type=bfloat16 needs AVX-512, this CPU has ", InstructionSet());
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

TextOptions ReadTextFlags() {
  TextOptions options;
  options.src_lang = absl::GetFlag(FLAGS_src_lang);
  options.tgt_lang = absl::GetFlag(FLAGS_tgt_lang);
  options.max_input_length = absl::GetFlag(FLAGS_max_input_length);
  return options;
}

absl::Status NameFlag(const absl::Status& status) {
  const absl::string_view message = status.message();
  const std::string name(message.substr(0, message.find_first_of(" =:")));
  if (!absl::IsInvalidArgument(status) || !absl::FindCommandLineFlag(name)) return status;
  return absl::Status(status.code(), absl::StrCat("--", message));
}

absl::Status UsageOfFlag(const absl::Status& status) {
  absl::Status named = NameFlag(status);
  return named == status ? status : UsageError(std::move(named));
}

absl::StatusOr<TranslatorOptions> ReadTranslatorFlags() {
  TranslatorOptions options;
  options.threads = absl::GetFlag(FLAGS_threads);
  if (options.threads == 0) {
    // Of those this process may use.
    cpu_set_t cpus;
    options.threads = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  }
  options.batch_size = absl::GetFlag(FLAGS_batch_size);
  NIBU_ASSIGN_OR_RETURN(options.batch_type,
                        Choose<BatchType>("batch_type", {{"examples", BatchType::kExamples},
                                                         {"tokens", BatchType::kTokens}}));
  const std::string weights = absl::GetFlag(FLAGS_ensemble_weights);
  for (const absl::string_view weight : absl::StrSplit(weights, ',')) {
    if (weights.empty()) break;
    if (!absl::SimpleAtof(weight, &options.ensemble_weights.emplace_back())) {
      return Invalid("--ensemble_weights must be numbers, not \"", weight, "\"");
    }
  }
  options.max_source_length = absl::GetFlag(FLAGS_max_input_length);
  NIBU_RETURN_IF_ERROR(NameFlag(CheckRange("max_input_length", options.max_source_length, 1)));
  options.max_decoding_length = std::max(1, absl::GetFlag(FLAGS_max_decoding_length));
  NIBU_RETURN_IF_ERROR(NameFlag(options.Validate()));
  return options;
}

}  // namespace nibu
