// Completes an opened model with a user's files, and loads it with its draft model and ensemble.
#include "tools/text/text_model.h"
#include "engine/core/option_error.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/core/status_macros.h"
#include "models/assembly/layer_attention.h"
#include "models/assembly/mixer_text.h"
#include "models/files/file_bytes.h"
#include "models/files/gzip.h"
#include "models/vocabulary/shortlist_file.h"
#include "tokenizer/unicode/language_code.h"
#include "tools/text/model_paths.h"
#include "tools/text/nearest.h"
#include "tools/text/option_table.h"
#include "tools/text/text_options.h"

namespace nibu::internal {
namespace {

// Returns the token of a language. `option`: "src_lang" or "tgt_lang". `own`: the model's default,
// or empty.
absl::StatusOr<int> FindLanguage(const ModelLanguages& model, const char* option,
                                 const std::string& given, const std::string& own) {
  const std::string& code = given.empty() ? own : given;
  std::vector<std::string> codes;
  for (const auto& language : model.languages) {
    if (language.code == code) return language.token;
    codes.push_back(language.code);
  }
  const std::vector<std::string> same = SameLanguage(given, codes);
  if (same.size() == 1) return FindLanguage(model, option, same[0], own);
  if (!same.empty()) {
    return InvalidOption(option, "=", given, " may be ", absl::StrJoin(same, " or "),
                         " of this model; say which");
  }
  const std::string nearest = Nearest(given, codes);
  return InvalidOption(option,
                       given.empty() ? " is needed with this model"
                                     : absl::StrCat("=", given, " is not a language of this model"),
                       nearest.empty() ? "" : absl::StrCat(", did you mean ", nearest, "?"),
                       "; it has ", absl::StrJoin(codes, ", "));
}

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
  const std::vector<std::string> files = absl::StrSplit(option, ',');
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

absl::StatusOr<ModelSource> ReadModelSource(const std::string& path, const ModelOptions& options) {
  NIBU_ASSIGN_OR_RETURN(const std::vector<std::string> paths, PathsOf(path));
  NIBU_RETURN_IF_ERROR(CheckWeights(options.ensemble_weights, paths.size()));
  NIBU_RETURN_IF_ERROR(CheckValues(ModelOptionRows(), options));
  NIBU_ASSIGN_OR_RETURN(const ComputeType type, ChooseComputeType(options.compute_type));
  LayerAttention attention;
  NIBU_ASSIGN_OR_RETURN(attention.encoder,
                        ParseMixers(options.encoder_attention, "encoder_attention"));
  NIBU_ASSIGN_OR_RETURN(attention.cross, ParseMixers(options.cross_attention, "cross_attention"));
  return ModelSource{paths[0],
                     type,
                     {options.sentencepiece,
                      options.shortlist,
                      options.draft_model.empty() ? "" : FindModel(options.draft_model),
                      std::move(attention),
                      {paths.begin() + 1, paths.end()}}};
}

absl::Status ApplyOverrides(const TextModelOptions& options, OpenedModel* model) {
  if (!options.sentencepiece.empty()) {
    NIBU_RETURN_IF_ERROR(
        WithOption("sentencepiece", ReadSentencePieces(options.sentencepiece, &model->vocabulary)));
  }
  if (options.shortlist == "none") {
    model->shortlist = nullptr;
  } else if (!options.shortlist.empty()) {
    NIBU_RETURN_IF_ERROR(WithOption("shortlist", ReadGivenShortlist(options.shortlist, model)));
  }
  return ReplaceLayerAttention(options.attention, model);
}

absl::StatusOr<TextModel> LoadTextModel(OpenedModel opened, ComputeType compute_type,
                                        const TextModelOptions& options) try {
  const std::string path = opened.config_file;
  NIBU_RETURN_IF_ERROR(ApplyOverrides(options, &opened));
  TextModel model;
  NIBU_ASSIGN_OR_RETURN(model.loaded, LoadModel(std::move(opened), compute_type));
  if (!model.loaded.note.empty()) model.notes.push_back(model.loaded.note);
  const ModelVocabulary& vocabulary = model.loaded.vocabulary;
  std::vector<std::string> others = options.ensemble;
  if (!options.draft_model.empty()) others.push_back(options.draft_model);
  for (const std::string& other : others) {
    const bool is_draft = model.ensemble.size() == options.ensemble.size();  // it comes last
    const absl::Status exists = CheckModelExists(other);
    auto opened_other = exists.ok() ? LoadModel(other, compute_type) : exists;
    if (!opened_other.ok()) {
      return is_draft ? WithOption("draft_model", opened_other.status()) : opened_other.status();
    }
    LoadedModel& loaded = *opened_other;
    const ModelVocabulary& own = loaded.vocabulary;
    if (!SameTokens(own.source_tokens, vocabulary.source_tokens, !is_draft) ||
        !SameTokens(own.target_tokens, vocabulary.target_tokens, !is_draft) ||
        loaded.model->config.eos != model.loaded.model->config.eos) {
      absl::Status status =
          Invalid(other, ": has not the vocabulary of ", path, "; give a ",
                  is_draft ? "draft " : "", "model that was trained with the same");
      return is_draft ? WithOption("draft_model", std::move(status)) : status;
    }
    if (!loaded.note.empty()) model.notes.push_back(loaded.note);
    if (!is_draft && loaded.shortlist != nullptr && options.shortlist.empty()) {
      model.notes.push_back(
          absl::StrCat(other, ": its shortlist is not used, but that of the first model, ", path,
                       model.loaded.shortlist == nullptr ? ", which has none" : "",
                       "; --shortlist names one for all, or none"));
    }
    (is_draft ? model.draft : model.ensemble.emplace_back()) = std::move(loaded.model);
  }
  return model;
} catch (...) {
  return StatusOfException();
}

absl::StatusOr<std::optional<Frame>> ChooseLanguages(const ModelVocabulary& vocabulary,
                                                     const ModelConfig& config,
                                                     const std::string& src_lang,
                                                     const std::string& tgt_lang) {
  const ModelLanguages& model = vocabulary.languages;
  if (model.languages.empty()) {
    for (const auto& [option, given, own] :
         {std::tuple("src_lang", src_lang, vocabulary.source_language),
          {"tgt_lang", tgt_lang, vocabulary.target_language}}) {
      if (given.empty() || !SameLanguage(given, {own}).empty()) continue;
      return InvalidOption(option, "=", given, " is not for this model, which ",
                           own.empty() ? "has no languages to choose from" : "is for " + own,
                           vocabulary.language_tokens
                               ? "; one of several targets is chosen by its token in front of "
                                 "a line, as >>xx<< or <2xx>"
                               : "");
    }
    return std::nullopt;
  }
  NIBU_ASSIGN_OR_RETURN(const int source,
                        FindLanguage(model, "src_lang", src_lang, model.default_source));
  NIBU_ASSIGN_OR_RETURN(const int target,
                        FindLanguage(model, "tgt_lang", tgt_lang, model.default_target));
  Frame frame;
  frame.source_suffix = config.source_suffix;
  (model.source_in_front ? frame.source_prefix : frame.source_suffix).push_back(source);
  if (model.target_follows_start) frame.decoder_start.push_back(config.decoder_start);
  frame.decoder_start.push_back(target);
  return frame;
}

}  // namespace nibu::internal
