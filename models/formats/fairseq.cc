// Reads a checkpoint's options, renames its tensors, and reads its dictionaries.
#include "models/formats/fairseq.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/directory.h"
#include "models/formats/checkpoint.h"
#include "models/formats/multilingual.h"
#include "models/vocabulary/vocabulary_file.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

constexpr char kMultilingualTask[] = "translation_multi_simple_epoch";

constexpr int kPad = 1;
constexpr int kEos = 2;
constexpr int kUnk = 3;
// fairseq counts positions from the id behind that of padding.
constexpr int kFairseqPositionOffset = kPad + 1;

// Checks an option that encoder and decoder have each, and that must be the same for both.
absl::Status CheckSame(const ConfigFile& options, const std::string& name) {
  const Json* encoder = options.Find("encoder_" + name);
  const Json* decoder = options.Find("decoder_" + name);
  if (encoder == nullptr || decoder == nullptr || *encoder == *decoder) return absl::OkStatus();
  return NotSupported(options.file(), ": encoder_", name, " is ", QuotedJson(*encoder),
                      " and decoder_", name, " ", QuotedJson(*decoder),
                      "; nibu reads models in which they are the same");
}

constexpr std::pair<absl::string_view, Activation> kFairseqActivations[] = {
    {"relu", Activation::kRelu},
    {"gelu", Activation::kGelu},
    {"gelu_fast", Activation::kGeluTanh},
    {"gelu_accurate", Activation::kGeluTanh},
    {"swish", Activation::kSwish}};

// Returns the first, second or last third of the rows of a tensor.
absl::StatusOr<StoredTensor> Third(const StoredTensor& tensor, int third, const std::string& name,
                                   const std::string& file) {
  StoredTensor part = tensor;
  if (part.transposed || part.view.shape.empty() || part.view.shape[0] % 3 != 0) {
    return Invalid(file, ": tensor \"", name, "\" has shape ", ShapeString(part.view.shape),
                   ", expected a first size that 3 divides");
  }
  part.view.shape[0] /= 3;
  part.view.data =
      static_cast<const char*>(part.view.data) + static_cast<size_t>(third) * part.view.bytes();
  return part;
}

// Returns the tensors under the names of today's fairseq. Older checkpoints have one tensor for q,
// k and v together, and number their norms.
absl::StatusOr<TensorSource> Renamed(const TensorSource& source) {
  TensorSource result(source.description());
  for (const std::string& name : source.Names()) {
    const StoredTensor& tensor = *source.Find(name);
    bool fused = false;
    for (const char* kind : {"weight", "bias"}) {
      absl::string_view prefix = name;
      if (!absl::ConsumeSuffix(&prefix, absl::StrCat(".in_proj_", kind))) continue;
      fused = true;
      for (int i = 0; i < 3; ++i) {
        NIBU_ASSIGN_OR_RETURN(StoredTensor part, Third(tensor, i, name, source.description()));
        NIBU_RETURN_IF_ERROR(result.Add(
            absl::StrCat(prefix, ".", std::string(1, "qkv"[i]), "_proj.", kind), std::move(part)));
      }
    }
    if (fused) continue;
    const bool in_decoder = absl::StartsWith(name, "decoder.");
    const char* second = in_decoder ? ".encoder_attn_layer_norm." : ".final_layer_norm.";
    const char* third = in_decoder ? ".final_layer_norm." : ".layer_norms.2.";
    NIBU_RETURN_IF_ERROR(
        result.Add(absl::StrReplaceAll(name, {{".layer_norms.0.", ".self_attn_layer_norm."},
                                              {".layer_norms.1.", second},
                                              {".layer_norms.2.", third}}),
                   tensor));
  }
  return result;
}

// Returns the names of the weights; for tied ones, those that `source` has.
NameTable Names(const FairseqConfig& config, const TensorSource& source) {
  NameTable table;
  AddHuggingFaceNames(config.model, "", &table);
  std::string output = "decoder.output_projection.weight";
  if (!config.tied_output && !source.Has(output) && source.Has("decoder.embed_out")) {
    output = "decoder.embed_out";
  }
  AddTiedNames(config, {"encoder.embed_tokens.weight"}, "decoder.embed_tokens.weight", output,
               source, &table);
  for (const char* stack : {"encoder", "decoder"}) {
    for (const char* name :
         {".version", ".embed_positions._float_tensor", ".embed_positions.weights"}) {
      table.ignored.push_back(absl::StrCat(stack, name));
    }
  }
  return table;
}

absl::Status ReadMultilingualTask(const ConfigFile& options, FairseqConfig* config) {
  config->is_multilingual = true;
  for (const auto& [key, found, expected] :
       {std::tuple("encoder_langtok", options.String("encoder_langtok", ""), "src"),
        {"lang_tok_style", options.String("lang_tok_style", "multilingual"), "multilingual"}}) {
    NIBU_RETURN_IF_ERROR(found.status());
    if (*found != expected) return options.Wrong(key, absl::StrCat("\"", expected, "\""));
  }
  NIBU_ASSIGN_OR_RETURN(const bool with_target, options.Bool("decoder_langtok", false));
  if (!with_target) return options.Wrong("decoder_langtok", "true");
  for (const char* key : {"lang_tok_replacing_bos_eos", "source_dict", "target_dict"}) {
    if (!options.IsOff(key)) return options.Wrong(key, "off");
  }
  const Json* specs = options.Find("langtoks_specs");
  if (specs != nullptr && *specs != Json({"main"}) && *specs != "main") {
    return options.Wrong("langtoks_specs", "[\"main\"]");
  }
  if (const Json* langs = options.Find("langs"); langs != nullptr) {
    if (!langs->is_array()) return options.Wrong("langs", "a list of languages");
    for (const Json& language : *langs) {
      if (!language.is_string()) return options.Wrong("langs", "a list of languages");
      config->languages.push_back(language.get<std::string>());
    }
  }
  NIBU_ASSIGN_OR_RETURN(config->dictionary, options.String("fixed_dictionary", ""));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> Dictionary(const std::string& directory,
                                                    const std::string& language) {
  const std::string name = absl::StrCat("dict.", language, ".txt");
  NIBU_ASSIGN_OR_RETURN(
      const auto file,
      OpenRequiredFile(directory, name,
                       "a fairseq checkpoint has its dictionaries, dict.XX.txt, beside it"));
  return ReadFairseqDictionary(file->bytes(), file->path());
}

absl::Status ReadVocabulary(const std::string& directory, const FairseqConfig& config,
                            ModelVocabulary* vocabulary) {
  vocabulary->source_language = config.source_language;
  vocabulary->target_language = config.target_language;
  NIBU_ASSIGN_OR_RETURN(vocabulary->source_tokens, Dictionary(directory, config.source_language));
  NIBU_ASSIGN_OR_RETURN(vocabulary->target_tokens, Dictionary(directory, config.target_language));
  NIBU_RETURN_IF_ERROR(ReadSentencePieceFiles(directory, vocabulary));
  for (const char* name : {"bpecodes", "bpe.codes", "code"}) {
    if (!vocabulary->source_sentencepiece.empty()) break;
    NIBU_RETURN_IF_ERROR(TakeSentencePieces(directory, name, name, vocabulary).status());
  }
  return absl::OkStatus();
}

// Returns the path of the one dictionary of a multilingual model: the one that the options name,
// the one that is published with M2M-100, or that of any language, since they are all the same.
absl::StatusOr<std::string> CommonDictionary(const std::string& directory,
                                             const std::string& named) {
  NIBU_ASSIGN_OR_RETURN(const auto files, FilesIn(directory, {".txt"}));
  const std::string name = named.substr(named.rfind('/') + 1);  // npos + 1 is 0
  for (const char* beginning :
       {name.empty() ? "model_dict." : name.c_str(), "model_dict.", "dict."}) {
    for (const std::string& path : files) {
      if (NameBeginsWith(path, {beginning})) return path;
    }
  }
  return absl::NotFoundError(
      absl::StrCat(directory, ": no dictionary (model_dict.*.txt or dict.*.txt) in it; ",
                   "a multilingual fairseq checkpoint has its dictionary and its SentencePiece "
                   "model beside it"));
}

// Reads the vocabulary of a multilingual model, whose languages are those of the tokens "__xx__".
// They are in the dictionary, or behind its words in the order of the training's languages.
absl::Status ReadMultilingualVocabulary(const std::string& directory, int rows,
                                        FairseqConfig* config, ModelVocabulary* vocabulary) {
  NIBU_ASSIGN_OR_RETURN(const std::string path, CommonDictionary(directory, config->dictionary));
  NIBU_ASSIGN_OR_RETURN(const auto file, FileBytes::Open(path));
  MultilingualParts parts;
  NIBU_ASSIGN_OR_RETURN(parts.tokens, ReadFairseqDictionary(file->bytes(), path));
  for (const std::string& language : config->languages) {
    std::string token = absl::StrCat("__", language, "__");
    if (!absl::c_linear_search(parts.tokens, token)) parts.tokens.push_back(std::move(token));
  }
  if (parts.tokens.size() != static_cast<size_t>(rows)) {
    return WrongVocabularySize(path, parts.tokens.size(), rows, "the model");
  }
  const auto first = absl::c_find_if(parts.tokens, [](const std::string& token) {
    const std::string code = absl::StartsWith(token, "__") ? LanguageCode(token) : "";
    return code.size() >= 2 && absl::ascii_isalpha(static_cast<unsigned char>(code[0]));
  });
  if (first == parts.tokens.end()) {
    return Invalid(path, ": no language tokens (__xx__) in it; give the dictionary of the model");
  }
  parts.first_language = static_cast<int>(first - parts.tokens.begin());
  ModelVocabulary pieces;
  NIBU_RETURN_IF_ERROR(ReadSentencePieceFiles(directory, &pieces));
  parts.sentencepiece = std::move(pieces.source_sentencepiece);
  NIBU_ASSIGN_OR_RETURN(*vocabulary,
                        MultilingualVocabulary(directory, std::move(parts), &config->model));
  config->model.unk = config->model.unk_target = kUnk;  // even if "<unk>" is overwritten
  return absl::OkStatus();
}

}  // namespace

bool IsFairseq(const TorchFile& torch) {
  const PickleValue& root = torch.root();
  if (root.kind != PickleValue::Kind::kDict) return false;
  const auto has = [&](absl::string_view key) { return torch.pickle().Find(root, key) != nullptr; };
  return has("model") && (has("args") || has("cfg"));
}

ConfigFile FairseqOptions(const TorchFile& torch) {
  const Pickle& pickle = torch.pickle();
  const PickleValue& root = torch.root();
  Json options = Json::object();
  if (const PickleValue* cfg = pickle.Find(root, "cfg");
      cfg != nullptr && cfg->kind == PickleValue::Kind::kDict) {
    // In each part, "_name" is the name of the task or of the architecture.
    for (const auto& [part, name] : {std::pair("task", "task"), std::pair("model", "arch")}) {
      Json entries = CheckpointOptions(pickle, pickle.Find(*cfg, part));
      if (entries.contains("_name")) options.emplace(name, entries["_name"]);
      options.update(entries);
    }
  }
  options.update(CheckpointOptions(pickle, pickle.Find(root, "args")));
  return *ConfigFile::From(std::move(options), torch.file().path());
}

absl::StatusOr<FairseqConfig> ReadFairseqConfig(const ConfigFile& options) {
  NIBU_ASSIGN_OR_RETURN(const std::string arch, options.String("arch", "transformer"));
  if (!absl::StartsWith(arch, "transformer") || absl::StartsWith(arch, "transformer_lm")) {
    return options.Wrong("arch", "one of fairseq's \"transformer\" translation models");
  }
  NIBU_ASSIGN_OR_RETURN(const std::string task, options.String("task", "translation"));
  const bool multilingual = task == kMultilingualTask;
  if (task != "translation" && !multilingual) {
    return options.Wrong("task", absl::StrCat("\"translation\" or \"", kMultilingualTask, "\""));
  }
  // These options stand for variants that nibu does not have.
  for (const char* key : {"adaptive_input", "adaptive_softmax_cutoff", "base_layers", "char_inputs",
                          "cross_self_attention", "decoder_layers_to_keep",
                          "encoder_layers_to_keep", "merge_src_tgt_embed", "no_cross_attention",
                          "no_token_positional_embeddings", "quant_noise_pq"}) {
    if (!options.IsOff(key)) {
      return NotSupported(options.file(), ": trained with \"", key,
                          "\"; nibu reads fairseq's transformer models without it");
    }
  }
  for (const char* name : {"embed_dim", "normalize_before", "learned_pos"}) {
    NIBU_RETURN_IF_ERROR(CheckSame(options, name));
  }
  FairseqConfig config;
  ModelConfig& model = config.model;
  NIBU_ASSIGN_OR_RETURN(model.d_model, options.Int("encoder_embed_dim", 512));
  for (const char* key : {"decoder_input_dim", "decoder_output_dim"}) {
    NIBU_ASSIGN_OR_RETURN(const int dim, options.Int(key, model.d_model));
    if (dim != model.d_model) return options.Wrong(key, absl::StrCat(model.d_model));
  }
  NIBU_ASSIGN_OR_RETURN(model.heads_encoder, options.Int("encoder_attention_heads", 8));
  NIBU_ASSIGN_OR_RETURN(model.heads_decoder, options.Int("decoder_attention_heads", 8));
  NIBU_ASSIGN_OR_RETURN(model.ffn_encoder, options.Int("encoder_ffn_embed_dim", 2048));
  NIBU_ASSIGN_OR_RETURN(model.ffn_decoder, options.Int("decoder_ffn_embed_dim", model.ffn_encoder));
  NIBU_ASSIGN_OR_RETURN(model.layers_encoder, options.Int("encoder_layers", 6));
  NIBU_ASSIGN_OR_RETURN(model.layers_decoder, options.Int("decoder_layers", 6));
  NIBU_ASSIGN_OR_RETURN(model.activation,
                        options.OneOf<Activation>("activation_fn", "relu", kFairseqActivations));
  NIBU_ASSIGN_OR_RETURN(const bool pre_norm, options.Bool("encoder_normalize_before", false));
  model.norm_order = pre_norm ? NormOrder::kPre : NormOrder::kPost;
  NIBU_ASSIGN_OR_RETURN(model.embedding_norm, options.Bool("layernorm_embedding", false));
  NIBU_ASSIGN_OR_RETURN(const bool unscaled, options.Bool("no_scale_embedding", false));
  if (!unscaled) model.embedding_scale = std::sqrt(static_cast<float>(std::max(model.d_model, 1)));

  NIBU_ASSIGN_OR_RETURN(const bool learned, options.Bool("encoder_learned_pos", false));
  model.position_kind = learned ? PositionKind::kLearned : PositionKind::kSinusoidalHalfMinusOne;
  model.position_offset = kFairseqPositionOffset;
  NIBU_ASSIGN_OR_RETURN(const int older, options.Int("max_positions", 1024));
  NIBU_ASSIGN_OR_RETURN(const int source, options.Int("max_source_positions", older));
  NIBU_ASSIGN_OR_RETURN(const int target, options.Int("max_target_positions", older));
  if (learned && source != target) {
    return options.Wrong("max_target_positions",
                         absl::StrCat("max_source_positions, ", source, ", of learned positions"));
  }
  model.max_positions = std::min(source, target);
  NIBU_ASSIGN_OR_RETURN(config.shared_embeddings, options.Bool("share_all_embeddings", false));
  NIBU_ASSIGN_OR_RETURN(config.tied_output,
                        options.Bool("share_decoder_input_output_embed", false));
  config.tied_output = config.tied_output || config.shared_embeddings;

  model.eos = kEos;
  model.unk = kUnk;
  model.unk_target = kUnk;
  model.decoder_start = kEos;
  model.source_suffix = {kEos};
  model.suppressed = {kPad};
  if (multilingual) {
    NIBU_RETURN_IF_ERROR(ReadMultilingualTask(options, &config));
    return config;
  }
  for (const auto& [key, language] : {std::pair("source_lang", &config.source_language),
                                      std::pair("target_lang", &config.target_language)}) {
    NIBU_ASSIGN_OR_RETURN(*language, options.String(key, ""));
    if (language->empty() || absl::StrContains(*language, "/")) {
      return options.Wrong(key, "the XX of a dict.XX.txt");
    }
  }
  return config;
}

absl::StatusOr<std::vector<std::string>> ReadFairseqDictionary(absl::string_view text,
                                                               const std::string& file) {
  std::vector<std::string> tokens = {"<s>", "<pad>", "</s>", "<unk>"};
  const auto specials = static_cast<int>(tokens.size());
  std::map<std::string, int> ids;
  for (int id = 0; id < specials; ++id) ids[tokens[static_cast<size_t>(id)]] = id;
  int number = 0;
  absl::ConsumeSuffix(&text, "\n");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripTrailingAsciiWhitespace(line);
    const bool overwrites = absl::ConsumeSuffix(&line, " #fairseq:overwrite");
    const size_t space = line.rfind(' ');
    int64_t count = 0;
    if (space == absl::string_view::npos || space == 0 ||
        !absl::SimpleAtoi(line.substr(space + 1), &count)) {
      return Invalid(file, ": line ", number, " is not a token, a space and a count");
    }
    const std::string token(line.substr(0, space));
    const auto [known, is_new] = ids.emplace(token, static_cast<int>(tokens.size()));
    if (!is_new && overwrites) {
      // In a text, the token stands for its last id, and no token for the one before. fairseq uses
      // the ids of the special tokens without their names.
      tokens[static_cast<size_t>(known->second)] = UnusedToken(static_cast<size_t>(known->second));
      known->second = static_cast<int>(tokens.size());
    } else if (!is_new && known->second >= specials) {
      return Invalid(file, ": line ", number, " has \"", token, "\" for the second time");
    }
    tokens.push_back(token);
  }
  return tokens;
}

absl::StatusOr<OpenedModel> OpenFairseq(const TorchFile& torch) {
  const ConfigFile options = FairseqOptions(torch);
  NIBU_ASSIGN_OR_RETURN(FairseqConfig config, ReadFairseqConfig(options));
  NIBU_ASSIGN_OR_RETURN(const TensorSource stored,
                        torch.Tensors(*torch.pickle().Find(torch.root(), "model")));
  const std::string directory = DirectoryOf(torch.file().path());
  OpenedModel opened;
  NIBU_ASSIGN_OR_RETURN(*opened.source, Renamed(stored));
  opened.format = "fairseq";
  opened.config_file = torch.file().path();
  ModelVocabulary& vocabulary = opened.vocabulary;
  opened.facts = ReadModelFacts(directory);
  if (config.is_multilingual) {
    const StoredTensor* table = opened.source->Find("encoder.embed_tokens.weight");
    const int rows = table == nullptr || table->view.shape.empty()
                         ? 0
                         : static_cast<int>(std::min<int64_t>(table->view.shape[0], INT32_MAX));
    NIBU_RETURN_IF_ERROR(ReadMultilingualVocabulary(directory, rows, &config, &vocabulary));
  } else {
    NIBU_RETURN_IF_ERROR(ReadVocabulary(directory, config, &vocabulary));
  }
  config.model.vocab_source = static_cast<int>(vocabulary.source_tokens.size());
  config.model.vocab_target = static_cast<int>(vocabulary.target_tokens.size());
  opened.names = Names(config, *opened.source);
  // Old pre-norm models have no norm behind the last layer.
  config.model.final_norm = opened.source->Has(opened.names.Tensor("encoder.final_norm"));
  opened.config = std::move(config.model);
  return opened;
}

}  // namespace nibu::internal
