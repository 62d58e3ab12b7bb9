// Completes an opened model with a user's files, and loads it with its draft model and ensemble.
#include "tools/text/model/model_parts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "models/assembly/mixer_text.h"
#include "models/files/file_bytes.h"
#include "models/files/gzip.h"
#include "models/vocabulary/shortlist_file.h"
#include "tokenizer/subwords/merges.h"
#include "tools/text/model/model_paths.h"
#include "tools/text/options/engine_options.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {
namespace {

// Returns whether two vocabularies are equal. `more`: the longer one may have more tokens.
bool SameTokens(const std::vector<std::string>& a, const std::vector<std::string>& b, bool more) {
  const size_t common = std::min(a.size(), b.size());
  return (more || a.size() == b.size()) &&
         std::equal(a.begin(), a.begin() + static_cast<long>(common), b.begin());
}

absl::StatusOr<std::vector<std::string>> PathsOf(const std::string& path) {
  if (path.empty()) {
    std::string bundled = BundledModelPath();
    if (!bundled.empty()) return std::vector<std::string>{std::move(bundled)};
    return absl::NotFoundError(
        "no model is given, and no share/nibu/models/en-de lies beside the program's folder; give "
        "the path of a model");
  }
  std::vector<std::string> paths = SplitPaths(path);
  if (std::count(paths.begin(), paths.end(), "") > 0) {
    return InvalidOption("model", "=", path,
                         " has a comma with no model beside it; a comma within a path is written "
                         "\\,");
  }
  for (std::string& each : paths) each = FindModel(each);
  return paths;
}

absl::Status CheckWeights(const std::vector<float>& weights, size_t models) {
  if (weights.empty()) return absl::OkStatus();
  if (models == 1) {
    return InvalidOption("ensemble_weights",
                         " means nothing with one model; give several, with commas between them");
  }
  if (weights.size() != models) {
    return InvalidOption("ensemble_weights", " must be one for each of ", models, " models, not ",
                         weights.size());
  }
  return absl::OkStatus();
}

absl::Status ReadSentencePieces(const std::string& option, ModelVocabulary* vocabulary) {
  const std::vector<std::string> files = SplitList(option);
  if (files.size() > 2 || files.front().empty() || files.back().empty()) {
    return InvalidOption("sentencepiece", " must be SOURCE.spm[,TARGET.spm], not \"", option, "\"");
  }
  NIBU_ASSIGN_OR_RETURN(const auto source, OpenInflated(files.front()));
  NIBU_ASSIGN_OR_RETURN(const auto target, OpenInflated(files.back()));
  vocabulary->source_sentencepiece = std::string(source->bytes());
  vocabulary->target_sentencepiece = std::string(target->bytes());
  return absl::OkStatus();
}

absl::Status ReadGivenShortlist(const std::string& path, OpenedModel* model) {
  NIBU_ASSIGN_OR_RETURN(const auto file, OpenInflated(path));
  NIBU_ASSIGN_OR_RETURN(model->shortlist, ReadShortlist(*file, model->vocabulary, {}));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LayerAttention> LayerAttentionOf(const ModelOptions& options) {
  LayerAttention attention;
  NIBU_ASSIGN_OR_RETURN(attention.encoder,
                        ParseMixers(options.encoder_attention, "encoder_attention"));
  NIBU_ASSIGN_OR_RETURN(attention.cross, ParseMixers(options.cross_attention, "cross_attention"));
  return attention;
}

absl::StatusOr<std::vector<std::string>> FindModels(const std::string& path,
                                                    const ModelOptions& options) {
  NIBU_ASSIGN_OR_RETURN(std::vector<std::string> paths, PathsOf(path));
  NIBU_RETURN_IF_ERROR(CheckWeights(options.ensemble_weights, paths.size()));
  NIBU_RETURN_IF_ERROR(CheckValues(ModelOptionRows(), options));
  NIBU_RETURN_IF_ERROR(ChooseComputeType(options.compute_type).status());
  NIBU_RETURN_IF_ERROR(LayerAttentionOf(options).status());
  return paths;
}

absl::Status ApplyOverrides(const ModelOptions& options, OpenedModel* model) {
  if (!options.sentencepiece.empty()) {
    NIBU_RETURN_IF_ERROR(
        WithOption("sentencepiece", ReadSentencePieces(options.sentencepiece, &model->vocabulary)));
  }
  if (options.shortlist == "none") {
    model->shortlist = nullptr;
  } else if (!options.shortlist.empty()) {
    NIBU_RETURN_IF_ERROR(WithOption("shortlist", ReadGivenShortlist(options.shortlist, model)));
  }
  if (options.languages_as_tokens) model->defaults.forced_bos.reset();
  if (options.languages_as_tokens && !model->vocabulary.languages.languages.empty()) {
    if (!model->vocabulary.languages.target_follows_start) {
      return absl::UnimplementedError(absl::StrCat(
          model->config_file, ": targets whose first token has to be given are not supported"));
    }
    model->vocabulary.languages = {};
    model->config.source_suffix.clear();
    model->config.suppressed.clear();
  }
  NIBU_ASSIGN_OR_RETURN(const LayerAttention attention, LayerAttentionOf(options));
  return ReplaceLayerAttention(attention, model);
}

size_t ModelParts::weight_bytes() const {
  size_t bytes = loaded.model->weight_bytes();
  for (const auto& other : ensemble) bytes += other->weight_bytes();
  return bytes + (draft != nullptr ? draft->weight_bytes() : 0);
}

absl::StatusOr<ModelParts> LoadParts(OpenedModel opened, const std::vector<std::string>& paths,
                                     const ModelOptions& options, const OpenFunction& open) try {
  const std::string path = opened.config_file;
  NIBU_RETURN_IF_ERROR(ApplyOverrides(options, &opened));
  NIBU_ASSIGN_OR_RETURN(const ComputeType compute_type,
                        ChooseComputeType(options.compute_type, &opened));
  ModelParts parts;
  NIBU_ASSIGN_OR_RETURN(parts.loaded, LoadModel(std::move(opened), compute_type));
  parts.notes = parts.loaded.notes;
  ModelVocabulary& vocabulary = parts.loaded.vocabulary;
  std::vector<std::string> others(paths.begin() + 1, paths.end());
  if (!options.draft_model.empty()) others.push_back(FindModel(options.draft_model));
  for (const std::string& other : others) {
    const bool is_draft = parts.ensemble.size() + 1 == paths.size();  // it comes last
    const auto load = [&]() -> absl::StatusOr<LoadedModel> {
      NIBU_RETURN_IF_ERROR(CheckModelExists(other));
      NIBU_ASSIGN_OR_RETURN(OpenedModel opened_other, open ? open(other) : OpenModel(other));
      return LoadModel(std::move(opened_other), compute_type);
    };
    auto loaded_other = load();
    if (!loaded_other.ok()) {
      return is_draft ? WithOption("draft_model", loaded_other.status()) : loaded_other.status();
    }
    LoadedModel& loaded = *loaded_other;
    const ModelVocabulary& own = loaded.vocabulary;
    if (!SameTokens(own.source_tokens, vocabulary.source_tokens, !is_draft) ||
        !SameTokens(own.target_tokens, vocabulary.target_tokens, !is_draft) ||
        loaded.model->config.eos != parts.loaded.model->config.eos) {
      absl::Status status =
          Invalid(other, ": has not the vocabulary of ", path, "; give a ",
                  is_draft ? "draft " : "", "model that was trained with the same");
      return is_draft ? WithOption("draft_model", std::move(status)) : status;
    }
    absl::c_copy(loaded.notes, std::back_inserter(parts.notes));
    if (!is_draft && loaded.shortlist != nullptr && options.shortlist.empty()) {
      parts.notes.push_back(
          absl::StrCat(other, ": its shortlist is not used, but that of the first model, ", path,
                       parts.loaded.shortlist == nullptr ? ", which has none" : "",
                       "; --shortlist names one for all, or none"));
    }
    (is_draft ? parts.draft : parts.ensemble.emplace_back()) = std::move(loaded.model);
  }
  const bool is_merges = SubwordMerges::IsMerges(vocabulary.source_sentencepiece);
  auto coder = TextCoder::Create(&vocabulary, parts.loaded.model->config);
  if (!coder.ok()) {
    // The error is about the given SentencePiece files, or else about the model's own.
    const bool is_given = !options.sentencepiece.empty() &&
                          absl::StartsWith(coder.status().message(), "SentencePiece");
    absl::Status status(
        coder.status().code(),
        absl::StrCat(is_given ? options.sentencepiece : paths[0], ": ", coder.status().message()));
    return is_given ? WithOption("sentencepiece", std::move(status)) : status;
  }
  if (is_merges) {
    parts.notes.push_back(absl::StrCat(
        paths[0], ": its subwords (subword-nmt) are those of text that Moses' tokenizer ",
        "has split, which nibu does not do; give such text, and detokenize the output"));
  }
  parts.coder = *std::move(coder);
  parts.ensemble_weights = options.ensemble_weights;
  return parts;
} catch (...) {
  return StatusOfException();
}

}  // namespace nibu::internal
