// Puts the vocabulary of a multilingual model together from the many files that may have it.
#include "models/formats/multilingual.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/containers/weights_file.h"
#include "models/files/file_bytes.h"
#include "models/formats/hugging_face.h"
#include "models/formats/hugging_face_defaults.h"
#include "models/vocabulary/added_tokens.h"
#include "models/vocabulary/vocabulary_file.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

constexpr char kMultilingualFiles[] =
    "a Hugging Face directory of M2M-100, NLLB or mBART has config.json, model.safetensors or "
    "pytorch_model.bin, sentencepiece.bpe.model, special_tokens_map.json or tokenizer.json, and "
    "M2M-100's has vocab.json";

// fairseq, where these models come from, counts positions from the id behind that of padding.
constexpr int kPositionOffset = 2;

// A vocabulary that is being put together. Ids may come in any order.
struct TokenTable {
  const int size;
  const std::string directory;
  std::map<int64_t, std::string> tokens = {};

  // Gives a token its id, perhaps for a second time. InvalidArgument: the id is outside of the
  // vocabulary, or another token has it.
  absl::Status Set(int64_t id, const std::string& token, absl::string_view file) {
    if (id < 0 || id >= size) {
      return Invalid(file, ": token \"", token, "\" has id ", id, ", expected 0 to ", size - 1,
                     ", as vocab_size of config.json says");
    }
    const std::string& known = tokens.try_emplace(id, token).first->second;
    if (known != token) {
      return Invalid(file, ": id ", id, " belongs to both \"", known, "\" and \"", token, "\"");
    }
    return absl::OkStatus();
  }

  // Returns the tokens by id. Ids without a token, of which there may be few, have an empty one.
  absl::StatusOr<std::vector<std::string>> List() const {
    constexpr size_t kMostUnused = 1024;  // vocabularies are padded to a round size
    if (static_cast<size_t>(size) - tokens.size() > kMostUnused) {
      return WrongVocabularySize(directory, tokens.size(), size, "config.json");
    }
    std::vector<std::string> list(static_cast<size_t>(size));
    for (const auto& [id, token] : tokens) list[static_cast<size_t>(id)] = token;
    return list;
  }
};

// Adds the languages of the list "additional_special_tokens", in its order, from id `first` on.
absl::Status AddListedLanguages(int64_t first, TokenTable* table) {
  for (const char* name : {"special_tokens_map.json", "tokenizer_config.json"}) {
    NIBU_ASSIGN_OR_RETURN(const ConfigFile file,
                          ConfigFile::OpenOptional(absl::StrCat(table->directory, "/", name)));
    const Json* list = file.Find("additional_special_tokens");
    if (list == nullptr || list->empty()) continue;
    if (!list->is_array()) return file.Wrong("additional_special_tokens", "a list of tokens");
    for (const Json& token : *list) {
      const std::string* content = TokenContent(token);
      if (content == nullptr) return file.Wrong("additional_special_tokens", "a list of tokens");
      if (LanguageCode(*content).empty()) continue;
      NIBU_RETURN_IF_ERROR(table->Set(first++, *content, file.file()));
    }
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

// Adds the pieces, and returns the id behind the last one. Their ids are those of vocab.json if
// there is one, otherwise those of the SentencePiece model behind fairseq's special tokens.
absl::StatusOr<int> AddPieces(bool has_vocab_json, const FileBytes& sentencepiece,
                              TokenTable* table) {
  const char* const name = has_vocab_json ? "vocab.json" : kMultilingualSentencePiece;
  std::vector<std::string> tokens;
  if (has_vocab_json) {
    NIBU_ASSIGN_OR_RETURN(const auto file,
                          OpenRequiredFile(table->directory, name, kMultilingualFiles));
    NIBU_ASSIGN_OR_RETURN(const Json json, ParseJson(file->bytes(), file->path()));
    const int size =
        static_cast<int>(std::min(json.size(), static_cast<size_t>(std::max(table->size, 0))));
    NIBU_ASSIGN_OR_RETURN(tokens, TokensById(json, file->path(), size, "config.json"));
  } else {
    NIBU_ASSIGN_OR_RETURN(const std::vector<std::string> pieces,
                          ReadSentencePieces(sentencepiece.bytes(), sentencepiece.path()));
    const std::vector<std::string> first = {"<unk>", "<s>", "</s>"};
    if (pieces.size() <= first.size() || !std::equal(first.begin(), first.end(), pieces.begin())) {
      return Invalid(sentencepiece.path(), ": its first pieces are not <unk>, <s> and </s>");
    }
    tokens = {"<s>", "<pad>", "</s>", "<unk>"};
    tokens.insert(tokens.end(), pieces.begin() + 3, pieces.end());
  }
  const std::string path = absl::StrCat(table->directory, "/", name);
  for (size_t i = 0; i < tokens.size(); ++i) {
    NIBU_RETURN_IF_ERROR(table->Set(static_cast<int64_t>(i), tokens[i], path));
  }
  return static_cast<int>(tokens.size());
}

// Returns the language that a field of the tokenizer's configuration names; empty if it has none.
absl::StatusOr<std::string> DefaultLanguage(const ConfigFile& tokenizer, const char* key,
                                            const std::vector<ModelLanguages::Language>& known) {
  NIBU_ASSIGN_OR_RETURN(const std::string code, tokenizer.String(key, ""));
  for (const auto& language : known) {
    if (language.code == code) return code;
  }
  if (!code.empty()) return tokenizer.Wrong(key, "one of the model's languages");
  return code;
}

absl::StatusOr<HuggingFaceConfig> ReadConfig(const ConfigFile& config) {
  NIBU_ASSIGN_OR_RETURN(const std::string type, config.String("model_type", ""));
  const bool is_mbart = type == "mbart";
  // The values of fields that config.json leaves out, and of those that are the same in all models
  // of a type.
  const Json absent = {{"eos_token_id", 2},
                       {"pad_token_id", 1},
                       {"decoder_start_token_id", 2},
                       {"vocab_size", is_mbart ? 50265 : 128112},
                       {"activation_function", is_mbart ? "gelu" : "relu"},
                       {"scale_embedding", !is_mbart}};
  const Json fixed = {{"normalize_before", true},
                      {"add_final_layer_norm", true},
                      {"normalize_embedding", is_mbart},
                      {"static_position_embeddings", !is_mbart},
                      {"share_encoder_decoder_embeddings", true},
                      {"decoder_vocab_size", nullptr}};
  NIBU_ASSIGN_OR_RETURN(HuggingFaceConfig result,
                        ReadHuggingFaceConfig(config.With(absent, fixed)));
  result.model.position_kind =
      is_mbart ? PositionKind::kLearned : PositionKind::kSinusoidalHalfMinusOne;
  result.model.position_offset = kPositionOffset;
  return result;
}

// Reads the vocabulary, and sets the same fields of `model` as MultilingualVocabulary().
absl::StatusOr<ModelVocabulary> ReadVocabulary(const std::string& directory,
                                               const ConfigFile& config,
                                               std::optional<int> forced_target,
                                               ModelConfig* model) {
  NIBU_ASSIGN_OR_RETURN(
      const auto sentencepiece,
      OpenRequiredFile(directory, kMultilingualSentencePiece, kMultilingualFiles));
  MultilingualParts parts;
  NIBU_ASSIGN_OR_RETURN(parts.tokenizer,
                        ConfigFile::OpenOptional(directory + "/tokenizer_config.json"));
  const bool has_vocab_json = FileBytes::Open(absl::StrCat(directory, "/vocab.json")).ok();

  TokenTable table{model->vocab_source, directory};
  NIBU_ASSIGN_OR_RETURN(const int behind_pieces, AddPieces(has_vocab_json, *sentencepiece, &table));
  NIBU_ASSIGN_OR_RETURN(const auto added, ReadAddedTokens(directory));
  for (const ListedToken& token : added) {
    NIBU_RETURN_IF_ERROR(table.Set(token.rules.token, token.text, token.file));
  }
  const auto has_languages = [&] {
    return std::any_of(table.tokens.lower_bound(behind_pieces), table.tokens.end(),
                       [](const auto& entry) { return !LanguageCode(entry.second).empty(); });
  };
  if (!has_languages()) NIBU_RETURN_IF_ERROR(AddListedLanguages(behind_pieces, &table));
  if (!has_languages()) {
    return Invalid(directory, ": no language tokens in it; ", kMultilingualFiles);
  }
  NIBU_ASSIGN_OR_RETURN(parts.tokens, table.List());
  parts.first_language = behind_pieces;
  parts.sentencepiece = std::string(sentencepiece->bytes());
  parts.forced_target = forced_target;
  parts.is_mbart = model->position_kind == PositionKind::kLearned;
  NIBU_ASSIGN_OR_RETURN(const int suffix, ReadSourceEnd(parts.tokenizer, parts.tokens, model->eos));
  parts.language_starts = model->decoder_start != suffix;
  NIBU_ASSIGN_OR_RETURN(parts.tokenizer_class, config.String("tokenizer_class", ""));
  return MultilingualVocabulary(directory, std::move(parts), model);
}

}  // namespace

std::string LanguageCode(absl::string_view token) {
  if (token.size() > 4 && absl::StartsWith(token, "__") && absl::EndsWith(token, "__")) {
    return std::string(token.substr(2, token.size() - 4));
  }
  const auto is_word = [](absl::string_view word, size_t shortest, size_t longest) {
    return word.size() >= shortest && word.size() <= longest &&
           std::all_of(word.begin(), word.end(),
                       [](char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); });
  };
  const size_t middle = token.find('_');
  if (middle == absl::string_view::npos || !is_word(token.substr(0, middle), 2, 3) ||
      !is_word(token.substr(middle + 1), 2, 4)) {
    return "";
  }
  return std::string(token);
}

absl::StatusOr<ModelVocabulary> MultilingualVocabulary(const std::string& directory,
                                                       MultilingualParts parts,
                                                       ModelConfig* model) {
  ModelVocabulary vocabulary;
  ModelLanguages& languages = vocabulary.languages;
  vocabulary.source_tokens = std::move(parts.tokens);
  for (size_t i = 0; i < vocabulary.source_tokens.size(); ++i) {
    std::string& token = vocabulary.source_tokens[i];
    const int id = static_cast<int>(i);
    std::string code = id < parts.first_language ? "" : LanguageCode(token);
    // Tokens that are no text are never generated.
    const bool is_text =
        !token.empty() && code.empty() && token != "<s>" && token != "<pad>" && token != "<mask>";
    if (!is_text) model->suppressed.push_back(id);
    if (token.empty()) token = UnusedToken(i);
    if (code.empty()) continue;
    if (parts.forced_target == id) languages.default_target = code;
    languages.languages.push_back({std::move(code), id});
  }
  std::sort(languages.languages.begin(), languages.languages.end(),
            [](const auto& a, const auto& b) { return a.code < b.code; });
  vocabulary.target_tokens = vocabulary.source_tokens;
  vocabulary.source_sentencepiece = std::move(parts.sentencepiece);
  vocabulary.target_sentencepiece = vocabulary.source_sentencepiece;
  NIBU_ASSIGN_OR_RETURN(model->unk, FindToken(vocabulary.source_tokens, "<unk>", directory));
  model->unk_target = model->unk;
  const ConfigFile& tokenizer = parts.tokenizer;
  NIBU_ASSIGN_OR_RETURN(const int suffix,
                        ReadSourceEnd(tokenizer, vocabulary.source_tokens, model->eos));
  model->source_suffix = {suffix};
  NIBU_ASSIGN_OR_RETURN(languages.default_source,
                        DefaultLanguage(tokenizer, "src_lang", languages.languages));
  if (languages.default_target.empty()) {
    NIBU_ASSIGN_OR_RETURN(languages.default_target,
                          DefaultLanguage(tokenizer, "tgt_lang", languages.languages));
  }
  NIBU_ASSIGN_OR_RETURN(const bool legacy, tokenizer.Bool("legacy_behaviour", false));
  languages.source_in_front = !legacy;
  NIBU_ASSIGN_OR_RETURN(parts.tokenizer_class,
                        tokenizer.String("tokenizer_class", parts.tokenizer_class));
  if (parts.is_mbart &&
      (parts.tokenizer_class.empty() ? parts.language_starts
                                     : absl::StartsWith(parts.tokenizer_class, "MBartTokenizer"))) {
    languages.source_in_front = false;
    languages.target_follows_start = false;
  }
  return vocabulary;
}

absl::StatusOr<OpenedModel> OpenMultilingual(const std::string& directory,
                                             const ConfigFile& config) {
  NIBU_ASSIGN_OR_RETURN(HuggingFaceConfig read, ReadConfig(config));
  NIBU_ASSIGN_OR_RETURN(const std::optional<int> forced,
                        ReadTokenId("forced_bos_token_id", config));
  OpenedModel opened;
  NIBU_ASSIGN_OR_RETURN(opened.vocabulary, ReadVocabulary(directory, config, forced, &read.model));
  const bool is_mbart = read.model.position_kind == PositionKind::kLearned;
  const auto& language = opened.vocabulary.languages.languages[0];
  const bool is_nllb =
      language.code == opened.vocabulary.source_tokens[static_cast<size_t>(language.token)];
  opened.format = absl::StrCat("Hugging Face ", is_mbart ? "mBART" : is_nllb ? "NLLB" : "M2M-100");
  opened.config_file = config.file();
  NIBU_ASSIGN_OR_RETURN(opened.defaults,
                        ReadHuggingFaceDefaults(config, opened.vocabulary.languages, &read.model));
  NIBU_ASSIGN_OR_RETURN(*opened.source, OpenWeights(directory));
  opened.names = HuggingFaceNames(read, *opened.source);
  // Files of old versions have the computed positions and a version number as tensors.
  for (const char* stack : {"model.encoder", "model.decoder"}) {
    opened.names.ignored.push_back(absl::StrCat(stack, ".version"));
    if (!is_mbart) opened.names.ignored.push_back(absl::StrCat(stack, ".embed_positions.weights"));
  }
  opened.config = std::move(read.model);
  return opened;
}

}  // namespace nibu::internal
