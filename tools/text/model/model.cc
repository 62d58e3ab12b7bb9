// Loads models for the library's users, and collects the facts about them.

#include "nibu/model.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "models/load_model.h"
#include "tools/text/model/model_parts.h"
#include "tools/text/model/model_paths.h"

namespace nibu {
namespace {

using internal::ModelFacts;
using internal::ModelParts;
using internal::Vocabulary;

ComputeType Public(internal::ComputeType type) {
  switch (type) {
    case internal::ComputeType::kFloat32:
      return ComputeType::kFloat32;
    case internal::ComputeType::kBFloat16:
      return ComputeType::kBFloat16;
    case internal::ComputeType::kInt8:
      return ComputeType::kInt8;
    case internal::ComputeType::kInt4:
      break;
  }
  return ComputeType::kInt4;
}

Options DefaultsOf(const internal::ModelDefaults& model) {
  Options defaults;
  defaults.beam_size = model.beam_size;
  defaults.min_decoding_length = model.min_decoding_length;
  defaults.max_decoding_length = model.max_decoding_length;
  defaults.repetition_penalty = model.repetition_penalty;
  defaults.no_repeat_ngram_size = model.no_repeat_ngram_size;
  defaults.length_penalty = model.length_penalty;
  defaults.word_penalty = model.word_penalty;
  return defaults;
}

// Returns the facts that a model's files tell without their weights.
ModelInfo InfoOf(const std::vector<std::string>& paths, const std::string& format,
                 const ModelFacts& facts, const internal::ModelVocabulary& vocabulary) {
  const auto fact = [&](const char* name) {
    const auto found = facts.find(name);
    return found == facts.end() ? std::string() : found->second;
  };
  ModelInfo info;
  info.path = paths[0];
  info.ensemble.assign(paths.begin() + 1, paths.end());
  info.format = format;
  info.license = fact("license");
  info.languages = fact("languages");
  info.source_language = vocabulary.source_language;
  info.target_language = vocabulary.target_language;
  for (const auto& language : vocabulary.languages.languages) {
    info.source_languages.push_back(language.code);
  }
  info.target_languages = info.source_languages;
  for (const auto& language : vocabulary.language_tokens) {
    info.target_languages.push_back(language.code);
  }
  info.default_source_language = vocabulary.languages.default_source;
  info.default_target_language = vocabulary.languages.default_target;
  return info;
}

ModelInfo InfoOf(const std::vector<std::string>& paths, const ModelFacts& facts,
                 const ModelParts& parts) {
  const internal::LoadedModel& loaded = parts.loaded;
  ModelInfo info = InfoOf(paths, loaded.format, facts, loaded.vocabulary);
  const Vocabulary& source = parts.coder.source_vocabulary();
  for (const auto& language : loaded.vocabulary.language_tokens) {
    info.language_tokens.push_back(source.Token(language.token));
  }
  info.compute_type = Public(loaded.model->compute_type);
  info.weight_bytes = parts.weight_bytes();
  info.source_vocabulary_size = source.size();
  info.target_vocabulary_size = parts.coder.target_vocabulary().size();
  info.has_tokenizer = parts.coder.has_sentencepiece();
  info.has_shortlist = loaded.shortlist != nullptr;
  info.defaults = DefaultsOf(loaded.defaults);
  info.notes = parts.notes;
  return info;
}

// Finds and opens a model, or the first one of an ensemble.
absl::StatusOr<internal::OpenedModel> Open(const std::string& path, const ModelOptions& options,
                                           std::vector<std::string>* paths) {
  NIBU_ASSIGN_OR_RETURN(*paths, internal::FindModels(path, options));
  NIBU_RETURN_IF_ERROR(internal::CheckModelExists((*paths)[0]));
  return internal::OpenModel((*paths)[0]);
}

// Makes the facts about two models in a row from those about each.
ModelInfo PivotInfo(const ModelInfo& first, const ModelInfo& second) {
  ModelInfo info = first;
  info.pivot = second.path;
  info.license =
      first.license == second.license || second.license.empty()
          ? first.license
          : absl::StrCat(first.license, first.license.empty() ? "" : "; ", second.license);
  info.languages.clear();
  info.target_language = second.target_language;
  info.target_languages = second.target_languages;
  info.default_target_language = second.default_target_language;
  info.language_tokens.insert(info.language_tokens.end(), second.language_tokens.begin(),
                              second.language_tokens.end());
  info.weight_bytes += second.weight_bytes;
  info.target_vocabulary_size = second.target_vocabulary_size;
  info.defaults = second.defaults;
  info.notes.insert(info.notes.end(), second.notes.begin(), second.notes.end());
  return info;
}

absl::Status NeedsTokenizer(const ModelInfo& info) {
  absl::Status status = absl::FailedPreconditionError(
      absl::StrCat(info.path,
                   ": it has no tokenizer; give its SentencePiece models with the "
                   "option sentencepiece"));
  status.SetPayload(internal::kOptionPayload, absl::Cord("sentencepiece"));
  return status;
}

absl::StatusOr<std::vector<std::string>> Pieces(const Vocabulary& vocabulary,
                                                absl::Span<const int> ids) {
  std::vector<std::string> pieces;
  pieces.reserve(ids.size());
  for (const int id : ids) {
    if (id < 0 || id >= vocabulary.size()) {
      return absl::OutOfRangeError(
          absl::StrCat("the id ", id, " is not 0 to ", vocabulary.size() - 1));
    }
    pieces.push_back(vocabulary.Token(id));
  }
  return pieces;
}

}  // namespace

std::shared_ptr<const Model> internal::ModelParts::MakeModel(const std::vector<std::string>& paths,
                                                             const ModelFacts& facts,
                                                             ModelParts parts) {
  ModelInfo info = InfoOf(paths, facts, parts);
  auto shared = std::make_shared<const ModelParts>(std::move(parts));
  return std::shared_ptr<const nibu::Model>(
      new nibu::Model(std::move(info), std::move(shared), nullptr));
}

absl::StatusOr<std::shared_ptr<const Model>> Model::Load(const std::string& path,
                                                         const ModelOptions& options) try {
  std::vector<std::string> paths;
  NIBU_ASSIGN_OR_RETURN(internal::OpenedModel opened, Open(path, options, &paths));
  const ModelFacts facts = opened.facts;
  NIBU_ASSIGN_OR_RETURN(ModelParts parts, internal::LoadParts(std::move(opened), paths, options));
  auto model = ModelParts::MakeModel(paths, facts, std::move(parts));
  if (options.pivot.empty()) return model;
  // The second model has its own files. Only the compute type, and doing without shortlists, are
  // shared.
  ModelOptions second_options;
  second_options.compute_type = options.compute_type;
  if (options.shortlist == "none") second_options.shortlist = options.shortlist;
  auto second = Load(options.pivot, second_options);
  if (!second.ok()) return internal::WithOption("pivot", second.status());
  return Pivot(std::move(model), *std::move(second));
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<ModelInfo> Model::ReadInfo(const std::string& path) try {
  std::vector<std::string> paths;
  NIBU_ASSIGN_OR_RETURN(const internal::OpenedModel opened, Open(path, {}, &paths));
  return InfoOf(paths, opened.format, opened.facts, opened.vocabulary);
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<std::shared_ptr<const Model>> Model::Pivot(std::shared_ptr<const Model> first,
                                                          std::shared_ptr<const Model> second) try {
  for (const auto& model : {first, second}) {
    if (model == nullptr) return internal::Invalid("a model is missing; see Model::Load");
    if (model->pivot_ != nullptr) {
      return internal::InvalidOption("pivot", ": ", model->info().path,
                                     " is followed by another model already; there can be two");
    }
    if (!model->info().has_tokenizer) {
      return internal::InvalidOption("pivot", ": ", model->info().path,
                                     " has no tokenizer, which both of two models in a row need");
    }
  }
  return std::shared_ptr<const Model>(
      new Model(PivotInfo(first->info(), second->info()), first->parts_, second->parts_));
} catch (...) {
  return internal::StatusOfException();
}

Model::Model(ModelInfo info, Parts parts, Parts pivot)
    : info_(std::move(info)), parts_(std::move(parts)), pivot_(std::move(pivot)) {}
Model::~Model() = default;

const ModelInfo& Model::info() const { return info_; }

const internal::TextCoder& Model::target_coder() const {
  return (pivot_ != nullptr ? pivot_ : parts_)->coder;
}

absl::StatusOr<std::vector<std::string>> Model::Tokenize(absl::string_view source) const try {
  const internal::TextCoder& coder = parts_->coder;
  if (!coder.has_sentencepiece()) return NeedsTokenizer(info());
  const internal::TextCoder::Line line = coder.ParseLine(source, /*split=*/false);
  NIBU_ASSIGN_OR_RETURN(internal::EncodedText coded, coder.Encode(line, line.text));
  return std::move(coded.pieces);
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<std::vector<std::string>> Model::TokenizeTarget(absl::string_view target) const try {
  if (!target_coder().has_sentencepiece()) return NeedsTokenizer(info());
  return target_coder().TargetPieces(target);
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<std::string> Model::Detokenize(absl::Span<const std::string> target_pieces) const
    try {
  if (!target_coder().has_sentencepiece()) return NeedsTokenizer(info());
  return target_coder().Text(target_pieces, /*spans=*/nullptr);
} catch (...) {
  return internal::StatusOfException();
}

std::vector<int> Model::SourceIds(absl::Span<const std::string> pieces) const {
  return parts_->coder.Ids(pieces);
}

std::vector<int> Model::TargetIds(absl::Span<const std::string> pieces) const {
  return internal::IdsOf(target_coder().target_vocabulary(), pieces);
}

absl::StatusOr<std::vector<std::string>> Model::SourcePieces(absl::Span<const int> ids) const try {
  return Pieces(parts_->coder.source_vocabulary(), ids);
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<std::vector<std::string>> Model::TargetPieces(absl::Span<const int> ids) const try {
  return Pieces(target_coder().target_vocabulary(), ids);
} catch (...) {
  return internal::StatusOfException();
}

}  // namespace nibu
