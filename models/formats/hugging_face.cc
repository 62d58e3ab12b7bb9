// Reads the configuration, vocabularies and names of a MarianMT model.
#include "models/formats/hugging_face.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/assembly/layer_attention.h"
#include "models/containers/weights_file.h"
#include "models/files/foreign.h"
#include "models/formats/hugging_face_defaults.h"
#include "models/vocabulary/added_tokens.h"
#include "models/vocabulary/vocabulary_file.h"

namespace nibu::internal {
namespace {

constexpr char kMarianMtFiles[] =
    "a Hugging Face MarianMT directory has config.json, model.safetensors or pytorch_model.bin, "
    "vocab.json, source.spm and target.spm";

// Returns the text of a special token, which is written as "</s>" or {"content": "</s>", ...}.
absl::StatusOr<std::string> SpecialToken(const ConfigFile& tokenizer, const std::string& key,
                                         absl::string_view absent) {
  const nlohmann::json* value = tokenizer.Find(key);
  if (value == nullptr) return std::string(absent);
  const std::string* const content = TokenContent(*value);
  if (content == nullptr) return tokenizer.Wrong(key, "a token");
  return *content;
}

absl::StatusOr<std::vector<std::string>> Vocabulary(const std::string& directory, const char* name,
                                                    int size) {
  NIBU_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBytes> file,
                        OpenRequiredFile(directory, name, kMarianMtFiles));
  NIBU_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(file->bytes(), file->path()));
  return TokensById(json, file->path(), size, "config.json", /*may_be_padded=*/true);
}

// Tables may have more rows than the vocabulary has tokens, for which transformers' tokenizer has
// no text. They are never generated.
void SuppressUnused(const std::vector<std::string>& tokens, std::vector<int>* suppressed) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == UnusedToken(i)) suppressed->push_back(static_cast<int>(i));
  }
}

// An output bias of -infinity forbids a token. Such a bias is replaced by one that makes the
// probability 0 just as well, since other values that are not finite are damage.
void ForbidByBias(OpenedModel* opened) {
  StoredTensor* const stored = opened->source->Mutable("final_logits_bias");
  if (stored == nullptr || stored->view.dtype != DType::kFloat32) return;
  std::vector<float> values(stored->view.bytes() / sizeof(float));
  std::memcpy(values.data(), stored->view.data, stored->view.bytes());
  if (absl::c_find(values, -INFINITY) == values.end()) return;
  absl::c_replace(values, -INFINITY, kNever);
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  stored->file =
      FileBytes::InMemory(stored->file->path(), std::string(bytes, stored->view.bytes()));
  stored->view.data = stored->file->bytes().data();
}

// Reads the vocabularies, and sets source_suffix, unk and unk_target of `model`.
absl::StatusOr<ModelVocabulary> ReadVocabulary(const std::string& directory, ModelConfig* model) {
  NIBU_ASSIGN_OR_RETURN(const ConfigFile tokenizer,
                        ConfigFile::OpenOptional(directory + "/tokenizer_config.json"));
  ModelVocabulary vocabulary;
  NIBU_ASSIGN_OR_RETURN(const bool separate, tokenizer.Bool("separate_vocabs", false));
  NIBU_ASSIGN_OR_RETURN(vocabulary.source_tokens,
                        Vocabulary(directory, "vocab.json", model->vocab_source));
  const char* target_name = separate ? "target_vocab.json" : "vocab.json";
  NIBU_ASSIGN_OR_RETURN(vocabulary.target_tokens,
                        Vocabulary(directory, target_name, model->vocab_target));
  SuppressUnused(vocabulary.target_tokens, &model->suppressed);
  const std::string source_file = absl::StrCat(directory, "/vocab.json");
  NIBU_ASSIGN_OR_RETURN(const std::string eos, SpecialToken(tokenizer, "eos_token", "</s>"));
  NIBU_ASSIGN_OR_RETURN(const int suffix, FindToken(vocabulary.source_tokens, eos, source_file));
  model->source_suffix = {suffix};
  NIBU_ASSIGN_OR_RETURN(const std::string unk, SpecialToken(tokenizer, "unk_token", "<unk>"));
  NIBU_ASSIGN_OR_RETURN(model->unk, FindToken(vocabulary.source_tokens, unk, source_file));
  NIBU_ASSIGN_OR_RETURN(model->unk_target, FindToken(vocabulary.target_tokens, unk,
                                                     absl::StrCat(directory, "/", target_name)));

  NIBU_ASSIGN_OR_RETURN(const auto source,
                        OpenRequiredFile(directory, "source.spm", kMarianMtFiles));
  vocabulary.source_sentencepiece = std::string(source->bytes());
  NIBU_ASSIGN_OR_RETURN(const auto target,
                        OpenRequiredFile(directory, "target.spm", kMarianMtFiles));
  vocabulary.target_sentencepiece = std::string(target->bytes());
  return vocabulary;
}

// Adds the names of the weights that only mixers other than full attention have: linears, norms and
// parameters.
void AddMixerNames(const std::string& layer, const std::string& prefix, NameTable* table) {
  table->Add(layer + "mixer.", prefix, {"weight", "bias"},
             {{"reduce", {"reduce.?"}},
              {"reduce_norm", {"reduce_norm.?"}},
              {"offset_norm", {"offset_norm.?"}},
              {"up", {"up.?"}},
              {"down", {"down.?"}}});
  table->AddTable(layer + "mixer.centre", prefix + "centre.weight");
  for (const char* parameter : {"score", "score_vector", "centre_vector", "relative_bias", "taps",
                                "taps_bias", "offset_taps", "offset_bias", "offset"}) {
    table->AddTable(absl::StrCat(layer, "mixer.", parameter), absl::StrCat(prefix, parameter));
  }
}

// Adds the names of a layer's self-attention and feed-forward sublayers.
void AddPartNames(const std::string& part, const std::string& prefix, NameTable* table) {
  table->Add(part, prefix, {"weight", "bias"},
             {{"self.q+k+v", {"self_attn.q_proj.?", "self_attn.k_proj.?", "self_attn.v_proj.?"}},
              {"self.out", {"self_attn.out_proj.?"}},
              {"self.norm", {"self_attn_layer_norm.?"}},
              {"ffn.up", {"fc1.?"}},
              {"ffn.down", {"fc2.?"}},
              {"ffn.norm", {"final_layer_norm.?"}}});
}

}  // namespace

void AddHuggingFaceNames(const ModelConfig& config, const std::string& prefix, NameTable* table) {
  const Spelling spelling = {"weight", "bias"};
  for (const std::string stack : {"encoder.", "decoder."}) {
    table->AddTable(stack + "positions", absl::StrCat(prefix, stack, "embed_positions.weight"));
    table->Add(stack, prefix + stack, spelling,
               {{"embedding_norm", {"layernorm_embedding.?"}}, {"final_norm", {"layer_norm.?"}}});
  }
  ForEachLayer(config, [&](const char* stack, int i) {
    const std::string layer = absl::StrCat(stack, ".", i, ".");
    const std::string at = absl::StrCat(prefix, stack, ".layers.", i, ".");
    AddPartNames(layer, at, table);
    table->Add(layer, at, spelling,
               {{"cross.q", {"encoder_attn.q_proj.?"}},
                {"cross.k+v", {"encoder_attn.k_proj.?", "encoder_attn.v_proj.?"}},
                {"cross.out", {"encoder_attn.out_proj.?"}},
                {"cross.norm", {"encoder_attn_layer_norm.?"}}});
    const bool is_encoder = absl::string_view(stack) == "encoder";
    AddMixerNames(layer, at + (is_encoder ? "self_attn." : "encoder_attn."), table);
    if (!is_encoder) return;
    // The second part of a layer that has two (MixerSpec::has_two_parts).
    AddPartNames(layer + "grid.", at + "grid.", table);
    AddMixerNames(layer + "grid.", at + "grid.self_attn.", table);
  });
}

void AddTiedNames(const HuggingFaceConfig& config, const std::vector<std::string>& encoder,
                  const std::string& decoder, const std::string& output, const TensorSource& source,
                  NameTable* table) {
  std::vector<std::string> tied = {decoder};
  if (config.tied_output) tied.push_back(output);
  if (config.shared_embeddings) tied.insert(tied.begin(), encoder.begin(), encoder.end());
  const auto found = std::find_if(tied.begin(), tied.end(),
                                  [&](const std::string& name) { return source.Has(name); });
  const std::string& tokens = found == tied.end() ? tied[0] : *found;
  for (const std::string& name : tied) {
    if (name != tokens) table->copies.emplace_back(name, tokens);
  }
  table->AddTable("encoder.tokens", config.shared_embeddings ? tokens : encoder.back());
  table->AddTable("decoder.tokens", tokens);
  table->AddTable("output", config.tied_output ? tokens : output);
}

absl::StatusOr<std::shared_ptr<const FileBytes>> OpenRequiredFile(const std::string& directory,
                                                                  const std::string& name,
                                                                  absl::string_view expected) {
  absl::StatusOr<std::shared_ptr<const FileBytes>> file =
      FileBytes::Open(absl::StrCat(directory, "/", name));
  if (absl::IsNotFound(file.status())) {
    return absl::NotFoundError(absl::StrCat(directory, "/", name, ": no such file; ", expected));
  }
  if (file.ok() && (*file)->bytes().empty()) {
    return Invalid((*file)->path(), ": not a whole file, it is empty; download it again");
  }
  if (file.ok()) NIBU_RETURN_IF_ERROR(RefuseForeignFile((*file)->path(), (*file)->bytes()));
  return file;
}

absl::StatusOr<int> ReadSourceEnd(const ConfigFile& tokenizer,
                                  const std::vector<std::string>& tokens, int absent) {
  NIBU_ASSIGN_OR_RETURN(const std::string eos, SpecialToken(tokenizer, "eos_token", "</s>"));
  const auto found = absl::c_find(tokens, eos);
  return found == tokens.end() ? absent : static_cast<int>(found - tokens.begin());
}

absl::StatusOr<std::optional<int>> ReadTokenId(const std::string& key, const ConfigFile& config) {
  const nlohmann::json* value = config.Find(key);
  if (value == nullptr || !value->is_array()) return config.OptionalInt(key);
  const char* expected = "one token id";
  NIBU_ASSIGN_OR_RETURN(const auto ids, config.IntList(key, 0, INT32_MAX, expected));
  if (ids.size() != 1) return config.Wrong(key, expected);
  return ids[0];
}

absl::Status ReadTokenIds(const ConfigFile& config, ModelConfig* model) {
  const auto* const ends = config.Find("eos_token_id");
  std::vector<int> eos;
  if (ends != nullptr && ends->is_array()) {
    const char* expected = "a token id or a list of some";
    NIBU_ASSIGN_OR_RETURN(eos, config.IntList("eos_token_id", 0, INT32_MAX, expected));
    if (eos.empty()) return config.Wrong("eos_token_id", expected);
  } else {
    NIBU_ASSIGN_OR_RETURN(const int id, config.Int("eos_token_id", 0));
    eos = {id};
  }
  NIBU_ASSIGN_OR_RETURN(const std::optional<int> pad, ReadTokenId("pad_token_id", config));
  NIBU_ASSIGN_OR_RETURN(const std::optional<int> start,
                        ReadTokenId("decoder_start_token_id", config));
  constexpr int kDefaultPad = 58100;
  model->eos = eos[0];
  model->decoder_start = start.value_or(kDefaultPad);
  model->suppressed = {pad.value_or(kDefaultPad)};
  return absl::OkStatus();
}

absl::StatusOr<HuggingFaceConfig> ReadHuggingFaceConfig(const ConfigFile& config) {
  HuggingFaceConfig result;
  ModelConfig& model = result.model;
  NIBU_ASSIGN_OR_RETURN(model.d_model, config.Int("d_model", 1024));
  NIBU_ASSIGN_OR_RETURN(model.heads_encoder, config.Int("encoder_attention_heads", 16));
  NIBU_ASSIGN_OR_RETURN(model.heads_decoder, config.Int("decoder_attention_heads", 16));
  NIBU_ASSIGN_OR_RETURN(model.ffn_encoder, config.Int("encoder_ffn_dim", 4096));
  NIBU_ASSIGN_OR_RETURN(model.ffn_decoder, config.Int("decoder_ffn_dim", 4096));
  NIBU_ASSIGN_OR_RETURN(model.layers_encoder, config.Int("encoder_layers", 12));
  NIBU_ASSIGN_OR_RETURN(model.layers_decoder, config.Int("decoder_layers", 12));
  NIBU_ASSIGN_OR_RETURN(model.vocab_source, config.Int("vocab_size", 58101));
  NIBU_ASSIGN_OR_RETURN(model.vocab_target, config.Int("decoder_vocab_size", model.vocab_source));
  NIBU_ASSIGN_OR_RETURN(model.encoder_attention, ReadLayerAttention(config, "encoder_attention"));
  NIBU_ASSIGN_OR_RETURN(model.cross_attention, ReadLayerAttention(config, "cross_attention"));
  NIBU_ASSIGN_OR_RETURN(model.max_positions, config.Int("max_position_embeddings", 1024));
  NIBU_ASSIGN_OR_RETURN(model.activation, config.OneOf<Activation>("activation_function", "gelu",
                                                                   kHuggingFaceActivations));

  NIBU_ASSIGN_OR_RETURN(const bool pre_norm, config.Bool("normalize_before", false));
  model.norm_order = pre_norm ? NormOrder::kPre : NormOrder::kPost;
  NIBU_ASSIGN_OR_RETURN(model.norm_epsilon, config.Float("layer_norm_eps", 1e-5f));
  NIBU_ASSIGN_OR_RETURN(model.embedding_norm, config.Bool("normalize_embedding", false));
  NIBU_ASSIGN_OR_RETURN(model.final_norm, config.Bool("add_final_layer_norm", false));
  NIBU_ASSIGN_OR_RETURN(const bool scaled, config.Bool("scale_embedding", false));
  model.embedding_scale = scaled ? static_cast<float>(std::sqrt(std::max(model.d_model, 1))) : 1.0f;

  NIBU_ASSIGN_OR_RETURN(const bool computed, config.Bool("static_position_embeddings", true));
  model.position_kind = computed ? PositionKind::kSinusoidalHalf : PositionKind::kLearned;
  NIBU_ASSIGN_OR_RETURN(result.shared_embeddings,
                        config.Bool("share_encoder_decoder_embeddings", true));
  NIBU_ASSIGN_OR_RETURN(result.tied_output, config.Bool("tie_word_embeddings", true));
  if (result.shared_embeddings && model.vocab_target != model.vocab_source) {
    return config.Wrong("decoder_vocab_size",
                        absl::StrCat("vocab_size, ", model.vocab_source,
                                     ", when encoder and decoder share their embeddings"));
  }
  NIBU_RETURN_IF_ERROR(ReadTokenIds(config, &model));
  return result;
}

NameTable HuggingFaceNames(const HuggingFaceConfig& config, const TensorSource& source) {
  NameTable table;
  AddHuggingFaceNames(config.model, "model.", &table);
  AddTiedNames(config, {"model.shared.weight", "model.encoder.embed_tokens.weight"},
               "model.decoder.embed_tokens.weight", "lm_head.weight", source, &table);
  if (source.Has("final_logits_bias")) table.tensors["output"].biases = {"final_logits_bias"};
  return table;
}

absl::StatusOr<OpenedModel> OpenHuggingFaceMarian(const std::string& directory,
                                                  const ConfigFile& config) {
  NIBU_ASSIGN_OR_RETURN(HuggingFaceConfig marian, ReadHuggingFaceConfig(config));
  OpenedModel opened;
  opened.format = "Hugging Face MarianMT";
  opened.config_file = config.file();
  NIBU_ASSIGN_OR_RETURN(opened.vocabulary, ReadVocabulary(directory, &marian.model));
  NIBU_ASSIGN_OR_RETURN(
      opened.defaults, ReadHuggingFaceDefaults(config, opened.vocabulary.languages, &marian.model));

  NIBU_ASSIGN_OR_RETURN(*opened.source, OpenWeights(directory));
  ForbidByBias(&opened);
  const TensorSource& source = *opened.source;
  opened.names = HuggingFaceNames(marian, source);
  // If the file has positions, those are used instead of computed ones.
  if (source.Has(opened.names.Tensor("encoder.positions")) ||
      source.Has(opened.names.Tensor("decoder.positions"))) {
    marian.model.position_kind = PositionKind::kLearned;
  }
  marian.model.alignment_heads = 1;  // Marian trains the first head to align (guided alignment)
  opened.config = std::move(marian.model);
  return opened;
}

}  // namespace nibu::internal
