// Reads the options, vocabularies and names of a CTranslate2 model.
#include "models/formats/ctranslate2.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "engine/ops/convert.h"
#include "models/assembly/model_defaults.h"
#include "models/containers/ctranslate2_bin.h"
#include "models/files/file_bytes.h"
#include "models/files/json.h"
#include "models/formats/ctranslate2_languages.h"
#include "models/formats/multilingual.h"
#include "models/vocabulary/shortlist_file.h"
#include "models/vocabulary/vocabulary_file.h"

namespace nibu::internal {
namespace {

// The number of positions to compute, more than any sentence needs.
constexpr int kMaxPositions = 2048;

// Returns a scalar variable, which counts as used then; nothing if it is not there.
std::optional<float> Scalar(const std::string& name, TensorSource* source) {
  const StoredTensor* tensor = source->Find(name);
  if (tensor == nullptr || tensor->view.elements() != 1) return std::nullopt;
  source->Ignore(name);
  float value = 0;
  ConvertToFloat(tensor->view.dtype, tensor->view.data, 1, &value);
  return value;
}

// Returns a string variable, which counts as used then; `absent` if it is not there.
std::string Text(const std::string& name, const char* absent, TensorSource* source) {
  const StoredTensor* tensor = source->Find(name);
  if (tensor == nullptr || tensor->view.dtype != DType::kInt8) return absent;
  source->Ignore(name);
  return std::string(static_cast<const char*>(tensor->view.data), tensor->view.bytes());
}

// Returns a scalar of a stack ("encoder/num_heads"), or that of both stacks in older files
// ("num_heads"), or `absent`.
float Option(const std::string& stack, const std::string& name, float absent,
             TensorSource* source) {
  const std::optional<float> common = Scalar(name, source);
  const std::optional<float> own = Scalar(absl::StrCat(stack, "/", name), source);
  return own.value_or(common.value_or(absent));
}

absl::StatusOr<Activation> ReadActivation(float code, const TensorSource& source) {
  static constexpr Activation kActivations[] = {Activation::kRelu, Activation::kGeluTanh,
                                                Activation::kSwish, Activation::kGelu,
                                                Activation::kGeluSigmoid};
  for (int i = 0; i < 5; ++i) {
    if (code == static_cast<float>(i)) return kActivations[i];
  }
  return NotSupported(source.description(), ": activation ", code, " is not supported, 0 to 4 are");
}

// Reads the options of a stack's layers. Both stacks must agree, because ModelConfig has one field
// for both.
absl::Status ReadStackOptions(const std::string& stack, TensorSource* source, ModelConfig* model) {
  for (const char* name : {"alibi", "multi_query_attention", "embeddings_merge"}) {
    if (Option(stack, name, 0, source) != 0.0f) {
      return NotSupported(source->description(), ": \"", name,
                          "\" is set, which nibu does not support; use a model "
                          "without it");
    }
  }
  for (const char* name :
       {"alibi_use_positive_positions", "scale_alibi", "with_relative_position"}) {
    Option(stack, name, 0, source);
    source->Ignore(absl::StrCat(stack, "/", name));
  }
  const auto take = [&](const char* name, auto value, auto* field) -> absl::Status {
    if (stack == "decoder" && *field != value) {
      return NotSupported(
          source->description(), ": \"", name,
          "\" of the decoder is not that of the encoder, which nibu does not support; "
          "use a model whose stacks are alike");
    }
    *field = value;
    return absl::OkStatus();
  };
  const bool pre_norm = Option(stack, "pre_norm", 1, source) != 0.0f;
  NIBU_RETURN_IF_ERROR(
      take("pre_norm", pre_norm ? NormOrder::kPre : NormOrder::kPost, &model->norm_order));
  NIBU_ASSIGN_OR_RETURN(const Activation activation,
                        ReadActivation(Option(stack, "activation", 0, source), *source));
  NIBU_RETURN_IF_ERROR(take("activation", activation, &model->activation));
  // The variable is a flag if it is an int8, otherwise the scale itself.
  const StoredTensor* stored = source->Find(absl::StrCat(stack, "/scale_embeddings"));
  const float scale = Option(stack, "scale_embeddings", 1, source);
  const bool is_flag = stored == nullptr || stored->view.dtype == DType::kInt8;
  const float root = static_cast<float>(std::sqrt(std::max(model->d_model, 1)));
  const float factor = !is_flag ? scale : scale != 0.0f ? root : 1.0f;
  return take("scale_embeddings", factor, &model->embedding_scale);
}

// Returns the size of a matrix's dimension. It is 0 if there is no such matrix, so that the
// configuration is refused.
int Size(const TensorSource& source, const std::string& name, size_t dimension) {
  const StoredTensor* tensor = source.Find(name);
  if (tensor == nullptr || tensor->view.shape.size() != 2) return 0;
  return static_cast<int>(std::min<int64_t>(tensor->view.shape[dimension], INT32_MAX));
}

// Parts of models that nibu does not have: a word between the slashes of their variables' names,
// and what it means.
constexpr std::pair<absl::string_view, absl::string_view> kUnsupported[] = {
    {"rotary_dim", "rotary positions"},
    {"relative_attention_bias",
     "relative position biases; of T5 and MADLAD, load the Hugging Face directory that it was "
     "converted from"},
    {"relative_asymmetric_position_keys", "relative positions that differ by direction"},
    {"num_heads_kv", "keys and values that several heads share"},
    {"multi_query", "keys and values that several heads share"},
    {"head_dim", "heads of a size of their own"},
    {"queries_scale", "a scale of attention scores"},
    {"sliding_window", "a sliding window"},
    {"q_norm", "norms of queries and keys"},
    {"memory_kv", "merged self- and cross-attention"},
    {"layer_norm_use_residual", "norms with a residual"},
    {"shared_layer_norm", "parallel residual connections"},
    {"input_layer_norm", "parallel residual connections or norms behind sublayers"},
    {"project_in", "maps around the layers"},
    {"final_logit_softcapping", "a cap of the logits"},
    {"scale_outputs", "a scale of the output layer"}};

absl::Status CheckSupported(const TensorSource& source) {
  for (const std::string& name : source.Names()) {
    for (const absl::string_view part : absl::StrSplit(name, '/')) {
      for (const auto& [word, what] : kUnsupported) {
        if (part != word) continue;
        return NotSupported(source.description(), ": not supported: ", name, ": ", what);
      }
    }
  }
  return absl::OkStatus();
}

// Counts the layers of a stack by their tensors.
int Layers(const TensorSource& source, absl::string_view stack) {
  int n = 0;
  while (source.Has(absl::StrCat(stack, "/layer_", n, "/self_attention/linear_0/weight"))) ++n;
  return n;
}

std::string SourceTable(const TensorSource& source) {
  const char* numbered = "encoder/embeddings_0/weight";
  return source.Has(numbered) ? numbered : "encoder/embeddings/weight";
}

// Reads the vocabulary NAME.json or NAME.txt.
absl::StatusOr<std::vector<std::string>> Vocabulary(const Folder& folder, const std::string& name) {
  for (const char* suffix : {".json", ".txt"}) {
    const auto file = folder.Open(absl::StrCat(name, suffix));
    if (file.ok()) return ReadCTranslate2Vocabulary((*file)->bytes(), (*file)->path());
    if (!absl::IsNotFound(file.status())) return file.status();
  }
  return absl::NotFoundError(
      absl::StrCat(folder.PathOf(name), ".json: no such file, nor .txt; the model is incomplete"));
}

absl::Status ReadVocabularies(const Folder& folder, const std::string& unk,
                              const ModelConfig& model, ModelVocabulary* vocabulary) {
  const bool shared = !absl::IsNotFound(Vocabulary(folder, "shared_vocabulary").status());
  const struct {
    const char* name;
    int size;
    std::vector<std::string>* tokens;
  } sides[] = {{"source_vocabulary", model.vocab_source, &vocabulary->source_tokens},
               {"target_vocabulary", model.vocab_target, &vocabulary->target_tokens}};
  for (const auto& side : sides) {
    const std::string name = shared ? "shared_vocabulary" : side.name;
    NIBU_ASSIGN_OR_RETURN(*side.tokens, Vocabulary(folder, name));
    if (std::find(side.tokens->begin(), side.tokens->end(), unk) == side.tokens->end()) {
      side.tokens->push_back(unk);
    }
    if (side.tokens->size() != static_cast<size_t>(side.size)) {
      return WrongVocabularySize(folder.PathOf(name), side.tokens->size(), side.size, "model.bin");
    }
  }
  for (const auto& [source, target] : {std::pair("source.spm", "target.spm"),
                                       {kMultilingualSentencePiece, kMultilingualSentencePiece},
                                       {"sentencepiece.model", "sentencepiece.model"},
                                       {"spiece.model", "spiece.model"}}) {
    NIBU_ASSIGN_OR_RETURN(const bool found, TakeSentencePieces(folder, source, target, vocabulary));
    if (found) break;
  }
  return absl::OkStatus();
}

// Reads vocabularies and special tokens. config.json has the special tokens; older files have them
// as variables, or leave them to defaults.
absl::Status ReadTokens(const Folder& folder, const ConfigFile& config, OpenedModel* opened) {
  TensorSource* source = opened->source.get();
  ModelConfig* model = &opened->config;
  ModelVocabulary* vocabulary = &opened->vocabulary;
  const auto flag = [source](const char* name, bool absent) {
    return Scalar(name, source).value_or(absent ? 1.0f : 0.0f) != 0.0f;
  };
  const bool with_target_bos = flag("with_target_bos", true);
  const bool user_start = flag("user_decoder_start_tokens", false);
  const bool zero_start = Option("decoder", "start_from_zero_embedding", 0, source) != 0.0f;
  NIBU_ASSIGN_OR_RETURN(const bool add_eos,
                        config.Bool("add_source_eos", flag("with_source_eos", false)));
  NIBU_ASSIGN_OR_RETURN(const bool add_bos,
                        config.Bool("add_source_bos", flag("with_source_bos", false)));
  if (add_bos) {
    return NotSupported(folder.path(),
                        ": sources that begin with a token (add_source_bos) are not supported");
  }
  NIBU_ASSIGN_OR_RETURN(const std::string bos,
                        config.String("bos_token", Text("bos_token", "<s>", source)));
  NIBU_ASSIGN_OR_RETURN(const std::string eos,
                        config.String("eos_token", Text("eos_token", "</s>", source)));
  NIBU_ASSIGN_OR_RETURN(const std::string unk,
                        config.String("unk_token", Text("unk_token", "<unk>", source)));
  NIBU_ASSIGN_OR_RETURN(std::string start,
                        config.String("decoder_start_token", with_target_bos ? bos : eos));
  const auto stored_start = config.object().find("decoder_start_token");
  const bool no_decoder_start =
      stored_start == config.object().end() ? user_start : stored_start->is_null();
  if (no_decoder_start) start = eos;
  NIBU_RETURN_IF_ERROR(ReadVocabularies(folder, unk, *model, vocabulary));

  const std::string source_file = folder.PathOf("source vocabulary");
  const std::string target_file = folder.PathOf("target vocabulary");
  NIBU_ASSIGN_OR_RETURN(model->unk, FindToken(vocabulary->source_tokens, unk, source_file));
  NIBU_ASSIGN_OR_RETURN(model->unk_target, FindToken(vocabulary->target_tokens, unk, target_file));
  NIBU_ASSIGN_OR_RETURN(model->eos, FindToken(vocabulary->target_tokens, eos, target_file));
  model->source_suffix.clear();
  if (add_eos) {
    NIBU_ASSIGN_OR_RETURN(const int suffix, FindToken(vocabulary->source_tokens, eos, source_file));
    model->source_suffix.push_back(suffix);
  }
  model->decoder_start = -1;
  if (!zero_start) {
    NIBU_ASSIGN_OR_RETURN(model->decoder_start,
                          FindToken(vocabulary->target_tokens, start, target_file));
  }
  return ReadCTranslate2Languages(folder, config, no_decoder_start, opened);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadCTranslate2Vocabulary(absl::string_view bytes,
                                                                   const std::string& file) {
  std::vector<std::string> tokens;
  // A vocabulary of lines may begin with "[", too, but not with "[" and a quote.
  const size_t next = bytes.find_first_not_of(" \t\r\n", 1);
  if (absl::StartsWith(bytes, "[") && next != absl::string_view::npos && bytes[next] == '"') {
    NIBU_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(bytes, file));
    for (const nlohmann::json& token : json) {
      if (!token.is_string()) {
        return Invalid(file, ": not an array of tokens");
      }
      tokens.push_back(token.get<std::string>());
    }
    return tokens;
  }
  for (absl::string_view line : absl::StrSplit(bytes, '\n')) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    tokens.emplace_back(line);
  }
  if (!tokens.empty() && tokens.back().empty()) tokens.pop_back();  // nothing follows the last line
  return tokens;
}

absl::StatusOr<ModelConfig> ReadCTranslate2Config(absl::string_view spec, TensorSource* source) {
  if (spec != "TransformerSpec" && spec != "TransformerBase" && spec != "TransformerBig") {
    return NotSupported(source->description(), ": a model of kind \"", spec,
                        "\"; only encoder-decoder Transformers (TransformerSpec) are supported");
  }
  NIBU_RETURN_IF_ERROR(CheckSupported(*source));
  ModelConfig model;
  const std::string table = SourceTable(*source);
  model.d_model = Size(*source, table, 1);
  model.vocab_source = Size(*source, table, 0);
  model.vocab_target = Size(*source, "decoder/embeddings/weight", 0);
  model.ffn_encoder = Size(*source, "encoder/layer_0/ffn/linear_0/weight", 0);
  model.ffn_decoder = Size(*source, "decoder/layer_0/ffn/linear_0/weight", 0);
  model.gated_ffn = source->Has("encoder/layer_0/ffn/linear_0_noact/weight");
  model.layers_encoder = Layers(*source, "encoder");
  model.layers_decoder = Layers(*source, "decoder");

  const float heads = spec == "TransformerBig" ? 16.0f : 8.0f;
  const auto count = [](float value) {  // values that are no count become 0, which is refused
    return value >= 1.0f && value <= 1e6f ? static_cast<int>(value) : 0;
  };
  model.heads_encoder = count(Option("encoder", "num_heads", heads, source));
  model.heads_decoder = count(Option("decoder", "num_heads", heads, source));
  for (const std::string stack : {"encoder", "decoder"}) {
    NIBU_RETURN_IF_ERROR(ReadStackOptions(stack, source, &model));
  }
  const auto whole = [](float value) {  // values of no sensible size become one that is refused
    return std::abs(value) <= 1e6f ? static_cast<int>(value) : INT32_MAX;
  };
  model.alignment_layer = whole(Option("decoder", "alignment_layer", -1, source));
  model.alignment_heads = whole(Option("decoder", "alignment_heads", 1, source));
  model.embedding_norm = source->Has("encoder/layernorm_embedding/gamma");
  model.final_norm = source->Has("encoder/layer_norm/gamma");

  // CTranslate2 computes a norm without a beta as an RMS norm, with a smaller epsilon.
  if (!source->Has("encoder/layer_0/self_attention/layer_norm/beta")) {
    model.norm_kind = NormKind::kRms;
    model.norm_epsilon = 1e-6f;
  }

  const std::string relative_keys = "encoder/layer_0/self_attention/relative_position_keys";
  if (source->Has(relative_keys)) {
    model.position_kind = PositionKind::kRelativeVectors;
    model.position_max_distance = (Size(*source, relative_keys, 0) - 1) / 2;
    model.max_positions = kMaxPositions;
  } else if (source->Has("encoder/position_encodings/encodings")) {
    model.position_kind = PositionKind::kLearned;
    model.max_positions = Size(*source, "encoder/position_encodings/encodings", 0);
  } else {
    model.position_kind = PositionKind::kSinusoidalHalfMinusOne;
    model.position_offset = 1;
    model.max_positions = kMaxPositions;
  }
  return model;
}

NameTable CTranslate2Names(const ModelConfig& config, const TensorSource& source) {
  const Spelling linears = {"weight", "bias", &source};
  const Spelling norms = {"gamma", config.norm_kind == NormKind::kRms ? nullptr : "beta"};
  NameTable table;
  for (const std::string stack : {"encoder", "decoder"}) {
    table.AddTable(stack + ".positions", stack + "/position_encodings/encodings");
    table.Add(stack + ".", stack, norms,
              {{"embedding_norm", {"/layernorm_embedding/?"}}, {"final_norm", {"/layer_norm/?"}}});
  }
  ForEachLayer(config, [&](const char* stack, int i) {
    const std::string at = absl::StrCat(stack, ".", i, ".");
    const std::string layer = absl::StrCat(stack, "/layer_", i);
    table.Add(at, layer, linears,
              {{"self.q+k+v", {"/self_attention/linear_0/?"}},
               {"self.out", {"/self_attention/linear_1/?"}},
               {"cross.q", {"/attention/linear_0/?"}},
               {"cross.k+v", {"/attention/linear_1/?"}},
               {"cross.out", {"/attention/linear_2/?"}},
               {"ffn.up", {"/ffn/linear_0/?"}},
               {"ffn.gate", {"/ffn/linear_0_noact/?"}},
               {"ffn.down", {"/ffn/linear_1/?"}}});
    table.Add(at, layer, norms,
              {{"self.norm", {"/self_attention/layer_norm/?"}},
               {"cross.norm", {"/attention/layer_norm/?"}},
               {"ffn.norm", {"/ffn/layer_norm/?"}}});
    for (const std::string table_name : {"keys", "values"}) {
      table.AddTable(absl::StrCat(at, "self.relative_", table_name),
                     absl::StrCat(layer, "/self_attention/relative_position_", table_name));
    }
  });
  table.AddTable("encoder.tokens", SourceTable(source));
  table.AddTable("decoder.tokens", "decoder/embeddings/weight");
  table.Add("", "", linears, {{"output", {"decoder/projection/?"}}});
  return table;
}

absl::StatusOr<OpenedModel> OpenCTranslate2(const Folder& folder) {
  NIBU_ASSIGN_OR_RETURN(auto bin, folder.Open("model.bin"));
  NIBU_ASSIGN_OR_RETURN(CTranslate2File file, ReadCTranslate2Bin(std::move(bin)));
  OpenedModel opened;
  opened.format = "CTranslate2";
  opened.config_file = folder.PathOf("model.bin");
  *opened.source = std::move(file.source);
  NIBU_ASSIGN_OR_RETURN(opened.config, ReadCTranslate2Config(file.spec, opened.source.get()));
  opened.names = CTranslate2Names(opened.config, *opened.source);
  NIBU_ASSIGN_OR_RETURN(const ConfigFile config, ConfigFile::OpenOptional(folder, "config.json"));
  NIBU_ASSIGN_OR_RETURN(opened.config.norm_epsilon,
                        config.Float("layer_norm_epsilon", opened.config.norm_epsilon));
  NIBU_ASSIGN_OR_RETURN(opened.defaults, ReadModelDefaults(config, "beam_size"));
  NIBU_RETURN_IF_ERROR(ReadTokens(folder, config, &opened));
  const auto vmap = folder.Open("vmap.txt");
  if (vmap.ok()) {
    NIBU_ASSIGN_OR_RETURN(opened.shortlist, ReadShortlist(**vmap, opened.vocabulary, {}));
  }
  return opened;
}

}  // namespace nibu::internal
