// Loads models for the library's users, and tells what is known of them.

#include "nibu/model.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/check_range.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "models/assembly/mixer_text.h"
#include "models/load_model.h"
#include "tokenizer/subwords/language_token.h"
#include "tools/text/model_parts.h"
#include "tools/text/model_paths.h"
#include "tools/text/text_options.h"

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
      break;
  }
  return ComputeType::kInt8;
}

Options DefaultsOf(const internal::ModelDefaults& model) {
  Options defaults;
  defaults.beam_size = model.beam_size;
  defaults.max_decoding_length = model.max_decoding_length;
  defaults.no_repeat_ngram_size = model.no_repeat_ngram_size;
  defaults.length_penalty = model.length_penalty;
  defaults.word_penalty = model.word_penalty;
  return defaults;
}

// The tokens that TextCoder::Understand takes from the front of a line.
std::vector<std::string> LanguageTokens(const Vocabulary& vocabulary) {
  std::vector<std::string> tokens;
  for (int id = 0; id < vocabulary.size(); ++id) {
    absl::string_view token = vocabulary.Token(id);
    if (internal::TakeLanguageToken(vocabulary, &token) == vocabulary.Token(id) && token.empty()) {
      tokens.push_back(vocabulary.Token(id));
    }
  }
  return tokens;
}

ModelInfo InfoOf(const internal::ModelSource& from, const ModelFacts& facts,
                 const ModelParts& parts) {
  const auto fact = [&](const char* name) {
    const auto found = facts.find(name);
    return found == facts.end() ? std::string() : found->second;
  };
  const internal::LoadedModel& loaded = parts.model.loaded;
  ModelInfo info;
  info.path = from.path;
  info.ensemble = from.options.ensemble;
  info.format = loaded.format;
  info.license = fact("license");
  info.languages = fact("languages");
  info.source_language = loaded.vocabulary.source_language;
  info.target_language = loaded.vocabulary.target_language;
  for (const auto& language : loaded.vocabulary.languages.languages) {
    info.source_languages.push_back(language.code);
  }
  info.target_languages = info.source_languages;
  info.default_source_language = loaded.vocabulary.languages.default_source;
  info.default_target_language = loaded.vocabulary.languages.default_target;
  const Vocabulary& source = parts.coder.source_vocabulary();
  if (loaded.vocabulary.language_tokens) info.language_tokens = LanguageTokens(source);
  info.compute_type = Public(loaded.model->compute_type);
  info.weight_bytes = loaded.model->weight_bytes();
  for (const auto& other : parts.model.ensemble) info.weight_bytes += other->weight_bytes();
  if (parts.model.draft != nullptr) info.weight_bytes += parts.model.draft->weight_bytes();
  info.source_vocabulary_size = source.size();
  info.target_vocabulary_size = parts.coder.target_vocabulary().size();
  info.has_tokenizer = parts.coder.has_sentencepiece();
  info.has_shortlist = loaded.shortlist != nullptr;
  info.defaults = DefaultsOf(loaded.defaults);
  info.notes = parts.model.notes;
  return info;
}

absl::StatusOr<std::unique_ptr<const ModelParts>> LoadParts(const std::string& path,
                                                            const ModelOptions& options) {
  NIBU_ASSIGN_OR_RETURN(const internal::ModelSource source,
                        internal::ReadModelSource(path, options));
  NIBU_ASSIGN_OR_RETURN(internal::OpenedModel opened, internal::OpenModel(source.path));
  const ModelFacts facts = opened.facts;
  NIBU_ASSIGN_OR_RETURN(
      internal::TextModel model,
      internal::LoadTextModel(std::move(opened), source.compute_type, source.options));
  auto coder = internal::TextCoder::Create(model.loaded.vocabulary, model.loaded.model->config);
  if (!coder.ok()) {
    const bool is_given = !options.sentencepiece.empty() &&
                          absl::StartsWith(coder.status().message(), "SentencePiece");
    return absl::Status(coder.status().code(),
                        absl::StrCat(is_given ? options.sentencepiece : source.path, ": ",
                                     coder.status().message()));
  }
  model.loaded.vocabulary.ForgetTokens();
  auto parts = std::make_unique<ModelParts>(
      ModelParts{std::move(model), *std::move(coder), options.ensemble_weights, {}});
  parts->info = InfoOf(source, facts, *parts);
  return parts;
}

absl::Status NeedsTokenizer(const ModelInfo& info) {
  absl::Status status = absl::FailedPreconditionError(
      absl::StrCat(info.path,
                   ": it has no tokenizer; give its SentencePiece models with the "
                   "option sentencepiece"));
  status.SetPayload(internal::kOptionPayload, absl::Cord("sentencepiece"));
  return status;
}

std::vector<int> Ids(const Vocabulary& vocabulary, absl::Span<const std::string> pieces) {
  std::vector<int> ids;
  ids.reserve(pieces.size());
  for (const std::string& piece : pieces) ids.push_back(vocabulary.Id(piece));
  return ids;
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

absl::StatusOr<std::shared_ptr<const Model>> Model::Load(const std::string& path,
                                                         const ModelOptions& options) try {
  NIBU_ASSIGN_OR_RETURN(auto parts, LoadParts(path, options));
  return std::shared_ptr<const Model>(new Model(std::move(parts)));
} catch (...) {
  return internal::StatusOfException();
}

Model::Model(std::unique_ptr<const ModelParts> parts) : parts_(std::move(parts)) {}
Model::~Model() = default;

const ModelInfo& Model::info() const { return parts_->info; }

absl::StatusOr<std::vector<std::string>> Model::Tokenize(absl::string_view source) const try {
  const internal::TextCoder& coder = parts_->coder;
  if (!coder.has_sentencepiece()) return NeedsTokenizer(info());
  const internal::TextCoder::Line line = coder.Understand(source, /*split=*/false);
  NIBU_ASSIGN_OR_RETURN(internal::CodedText coded, coder.Code(line, line.text));
  return std::move(coded.pieces);
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<std::vector<std::string>> Model::TokenizeTarget(absl::string_view target) const try {
  if (!parts_->coder.has_sentencepiece()) return NeedsTokenizer(info());
  return parts_->coder.TargetPieces(target);
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<std::string> Model::Detokenize(absl::Span<const std::string> target_pieces) const
    try {
  if (!parts_->coder.has_sentencepiece()) return NeedsTokenizer(info());
  return parts_->coder.Text(target_pieces, /*spans=*/nullptr);
} catch (...) {
  return internal::StatusOfException();
}

std::vector<int> Model::SourceIds(absl::Span<const std::string> pieces) const {
  return Ids(parts_->coder.source_vocabulary(), pieces);
}

std::vector<int> Model::TargetIds(absl::Span<const std::string> pieces) const {
  return Ids(parts_->coder.target_vocabulary(), pieces);
}

absl::StatusOr<std::vector<std::string>> Model::SourcePieces(absl::Span<const int> ids) const {
  return Pieces(parts_->coder.source_vocabulary(), ids);
}

absl::StatusOr<std::vector<std::string>> Model::TargetPieces(absl::Span<const int> ids) const {
  return Pieces(parts_->coder.target_vocabulary(), ids);
}

}  // namespace nibu
