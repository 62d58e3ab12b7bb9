// Chooses the options and the files of a run.
#include "tools/marian/marian_setup.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/assembly/model_defaults.h"
#include "models/files/gzip.h"
#include "models/formats/marian_files.h"
#include "models/load_model.h"
#include "tools/cli/flags.h"
#include "tools/text/model/model_parts.h"
#include "tools/text/model/model_paths.h"

namespace nibu::internal {
namespace {

// Marian's names of the library's options.
constexpr std::pair<absl::string_view, absl::string_view> kNames[] = {
    {"beam_size", "beam-size"},
    {"num_hypotheses", "beam-size"},
    {"length_penalty", "normalize"},
    {"word_penalty", "word-penalty"},
    {"max_input_length", "max-length"},
    {"max_decoding_length", "max-length-factor"},
    {"sampling_topk", "output-sampling"},
    {"sampling_temperature", "output-sampling"},
    {"seed", "seed"},
    {"threads", "cpu-threads"},
    {"batch_size", "mini-batch"},
    {"ensemble_weights", "weights"},
    {"shortlist", "shortlist"},
    {"compute_type", "gemm-type"},
};

// Reads --output-sampling: full [TEMPERATURE] or topk K [TEMPERATURE].
absl::Status ReadSampling(const MarianOptions& options, Options* text) {
  const std::vector<std::string> values = options.List("output-sampling");
  if (values.empty() || values[0] == "false" || values[0] == "0") return absl::OkStatus();
  size_t next = 1;
  bool is_valid = true;
  if (values[0] == "topk") {
    text->sampling_topk = 10;  // Marian's default
    if (values.size() > next) {
      is_valid = absl::SimpleAtoi(values[next++], &text->sampling_topk) && text->sampling_topk > 0;
    }
  } else {
    is_valid = values[0] == "full" || values[0] == "true" || values[0] == "1";
    text->sampling_topk = 0;
  }
  if (is_valid && values.size() > next) {
    is_valid = absl::SimpleAtof(values[next++], &text->sampling_temperature);
  }
  if (is_valid && values.size() == next) return absl::OkStatus();
  return WrongUsage("--output-sampling must be full [TEMPERATURE] or topk K [TEMPERATURE]");
}

absl::StatusOr<Options> ReadSearch(const MarianOptions& options) {
  Options text;
  NIBU_RETURN_IF_ERROR(ReadSampling(options, &text));
  const bool n_best = options.IsOn("n-best");
  const int beam_size = options.Int("beam-size");
  const bool samples = text.sampling_topk != 1;
  text.beam_size = samples ? 1 : beam_size;
  text.num_hypotheses = n_best ? beam_size : 1;
  text.search_compat = SearchCompat::kMarian;
  text.length_penalty = static_cast<float>(options.Float("normalize"));
  text.word_penalty = static_cast<float>(options.Float("word-penalty"));
  // Marian counts the end token of a source. A translation may also be empty.
  text.max_input_length = std::max(1, options.Int("max-length") - 1);
  text.long_input = options.IsOn("max-length-crop") ? LongInput::kTruncate : LongInput::kSplit;
  text.min_decoding_length = 0;
  const double factor = options.Float("max-length-factor");
  if (!(factor > 0)) return WrongUsage("--max-length-factor must be above 0");
  const double longest = std::ceil(factor * (text.max_input_length + 1.0));
  text.max_decoding_length =
      static_cast<int>(std::min(longest, static_cast<double>(kDecodingLengths.most)));
  if (!absl::SimpleAtoi(options.Text("seed"), &text.seed)) {
    return WrongUsage("--seed must be a whole number, not \"", options.Text("seed"), "\"");
  }
  if (options.WasGiven("alignment")) text.alignment = AlignmentKind::kSoft;
  text.return_ends = true;
  // Greedy search for texts alone is the same without probabilities.
  text.return_scores = n_best || options.IsOn("word-scores") || beam_size > 1 || samples;
  return text;
}

absl::StatusOr<SpeedOptions> ReadSpeed(const MarianOptions& options) {
  SpeedOptions speed;
  speed.threads = options.Int("cpu-threads");
  if (const int words = options.Int("mini-batch-words"); words > 0) {
    speed.batch_size = words;
    speed.batch_type = BatchType::kTokens;
  } else if (options.Int("mini-batch") > 1) {  // Marian's default, 1, would only be slow
    speed.batch_size = options.Int("mini-batch");
  }
  for (const char* name : {"cpu-threads", "mini-batch", "mini-batch-words"}) {
    if (options.Int(name) < 0) return WrongUsage("--", name, " must be 0 or more");
  }
  return speed;
}

// Sets the shortlist: a text file with first, best and prune, or a binary one with a truth value.
absl::Status ReadShortlistOption(const MarianOptions& options, MarianFiles* files) {
  const std::vector<std::string> values = options.List("shortlist");
  if (values.empty() || values[0] == "false") return absl::OkStatus();
  files->shortlist = values[0];
  bool is_valid = values.size() <= 5;  // Marian may take a fifth one, to which it dumps the list
  if (values.size() > 1 && values[1] != "true" && values[1] != "false") {
    is_valid &= absl::SimpleAtoi(values[1], &files->limits.first) && files->limits.first >= 0;
    if (values.size() > 2) {
      is_valid &= absl::SimpleAtoi(values[2], &files->limits.best) && files->limits.best >= 0;
    }
    if (values.size() > 3) is_valid &= absl::SimpleAtof(values[3], &files->limits.threshold);
  }
  if (is_valid) return absl::OkStatus();
  return WrongUsage("--shortlist must be PATH [FIRST [BEST [PRUNE]]] or PATH [true|false]");
}

bool IsSpm(const std::string& path) { return absl::EndsWith(WithoutGz(path), kMarianPieces); }

// Returns the files of one of the models, or nullopt if it is of another format, which tells its
// files itself.
absl::StatusOr<std::optional<MarianFiles>> FilesOf(const MarianOptions& options,
                                                   const std::string& path) {
  MarianFiles files;
  files.vocabularies = options.List("vocabs");
  if (files.vocabularies.empty()) {
    NIBU_RETURN_IF_ERROR(CheckModelExists(path));
    const auto file = FileBytes::Open(path);
    if (!file.ok() || !IsMarianModel(**file)) return std::nullopt;
    NIBU_ASSIGN_OR_RETURN(const MarianFiles found, FindMarianFiles(path));
    files.vocabularies = found.vocabularies;
  }
  if (files.vocabularies.size() == 1) files.vocabularies.push_back(files.vocabularies[0]);
  if (files.vocabularies.size() != 2) {
    return WrongUsage("--vocabs must be two, those of source and target, not ",
                      files.vocabularies.size(), "; models of several sources are not supported");
  }
  if (IsSpm(files.vocabularies[0]) != IsSpm(files.vocabularies[1])) {
    return WrongUsage("--vocabs must be two .spm files or none: text and pieces do not mix");
  }
  files.model = path;
  files.allow_unknown = options.IsOn("allow-unk");
  NIBU_RETURN_IF_ERROR(ReadShortlistOption(options, &files));
  return files;
}

// Returns whether matrices are multiplied in int8: an option says so, or the model's are.
bool IsInt8(const MarianOptions& options, const TensorSource& model) {
  for (const char* name : {"optimize", "int8", "int8Alpha", "int8shift", "int8shiftAlpha",
                           "int8shiftAll", "int8shiftAlphaAll"}) {
    if (options.IsOn(name)) return true;
  }
  return absl::StrContains(options.Text("gemm-type"), "8") ||
         absl::StrContains(options.Text("gemm-precision"), "8") ||
         absl::c_any_of(model.Names(), [&](const std::string& name) {
           // The model's configuration is a list of bytes.
           const TensorView& view = model.Find(name)->view;
           return view.dtype == DType::kInt8 && view.shape.size() == 2;
         });
}

// Opens a model with the options that the library has from a model's files alone.
absl::StatusOr<OpenedModel> Open(const MarianOptions& options,
                                 const std::optional<MarianFiles>& files, const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened,
                        files.has_value() ? OpenModel(*files) : OpenModel(path));
  opened.defaults.max_length_factor = static_cast<float>(options.Float("max-length-factor"));
  return opened;
}

// Loads the model or ensemble, and says in what form it reads and writes text.
absl::Status LoadMarian(MarianCommand command, const MarianOptions& options, MarianSetup* setup) {
  const bool is_score = command == MarianCommand::kScore;
  const std::vector<std::string> paths = options.List(is_score ? "model" : "models");
  if (paths.empty()) {
    return WrongUsage("no model is given; name it with --model", is_score ? "" : "s",
                      ", or in a file of --config");
  }
  ModelOptions loading;
  float* const sum = &setup->weight_sum;
  *sum = static_cast<float>(paths.size());
  if (options.WasGiven("weights")) {
    for (const std::string& weight : options.List("weights")) {
      if (!absl::SimpleAtof(weight, &loading.ensemble_weights.emplace_back())) continue;
    }
    if (loading.ensemble_weights.size() != paths.size()) {
      return WrongUsage("--weights must be one for each of ", paths.size(), " models, not ",
                        loading.ensemble_weights.size());
    }
    *sum = std::accumulate(loading.ensemble_weights.begin(), loading.ensemble_weights.end(), 0.0f);
    if (!(*sum > 0)) return WrongUsage("--weights must be above 0");
    if (paths.size() == 1) loading.ensemble_weights.clear();  // it multiplies the scores alone
  }
  // (S - penalty * L) * sum is Marian's score, since S is the mean of what Marian adds up.
  if (setup->text.word_penalty.has_value()) *setup->text.word_penalty /= *sum;
  NIBU_ASSIGN_OR_RETURN(const auto files, FilesOf(options, paths[0]));
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened, Open(options, files, paths[0]));
  if (!files.has_value()) loading.shortlist = options.Text("shortlist");
  if (IsInt8(options, *opened.source)) {
    loading.compute_type = nibu::ComputeType::kInt8;
  } else if (files.has_value()) {
    loading.compute_type = nibu::ComputeType::kFloat32;
  }
  const ModelFacts facts = opened.facts;
  NIBU_ASSIGN_OR_RETURN(ModelParts parts,
                        LoadParts(std::move(opened), paths, loading,
                                  [&](const std::string& path) -> absl::StatusOr<OpenedModel> {
                                    NIBU_ASSIGN_OR_RETURN(auto others, FilesOf(options, path));
                                    // The first model's shortlist is the ensemble's.
                                    if (others.has_value()) others->shortlist.clear();
                                    return Open(options, others, path);
                                  }));
  for (size_t i = 0; paths.size() > 1 && i < paths.size(); ++i) {
    ModelParts member = {.loaded = parts.loaded, .coder = parts.coder};
    if (i > 0) member.loaded.model = parts.ensemble[i - 1];
    setup->members.push_back(ModelParts::MakeModel({paths[i]}, facts, std::move(member)));
  }
  const bool has_tokenizer = parts.coder.has_sentencepiece();
  setup->model = ModelParts::MakeModel(paths, facts, std::move(parts));
  bool is_pieces = !has_tokenizer;
  if (files.has_value()) {
    is_pieces = !IsSpm(files->vocabularies[0]);
  } else {
    setup->text.disable_unk = !is_score && !options.IsOn("allow-unk");
  }
  setup->writes_pieces = is_pieces || options.IsOn("no-spm-decode");
  setup->text.tokenized = is_pieces || options.IsOn("no-spm-encode");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MarianSetup> SetUpMarian(MarianCommand command, const MarianOptions& options) {
  MarianSetup setup;
  NIBU_ASSIGN_OR_RETURN(setup.speed, ReadSpeed(options));
  if (command == MarianCommand::kDecode) {
    NIBU_ASSIGN_OR_RETURN(setup.text, ReadSearch(options));
  } else {
    constexpr int kLongest = 1 << 14;
    setup.text.beam_size = 1;
    setup.text.length_penalty = static_cast<float>(options.Float("normalize"));
    setup.text.word_penalty = 0;
    setup.text.max_input_length = kLongest;
    setup.text.max_decoding_length = kLongest;
  }
  // A line is a sentence, and all of it is translated.
  setup.text.split_sentences = false;
  setup.text.protect = "none";
  NIBU_RETURN_IF_ERROR(MarianError(LoadMarian(command, options, &setup)));
  return setup;
}

absl::Status MarianError(const absl::Status& status) {
  const std::string option = OptionOfError(status);
  for (const auto& [name, marian] : kNames) {
    if (name == option && absl::StartsWith(status.message(), name)) {
      return WrongUsage("--", marian, status.message().substr(name.size()));
    }
  }
  return status;
}

}  // namespace nibu::internal
