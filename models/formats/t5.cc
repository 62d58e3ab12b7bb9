// Reads the configuration, vocabulary and names of a T5 model.
#include "models/formats/t5.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/core/status_macros.h"
#include "models/containers/weights_file.h"
#include "models/formats/hugging_face_defaults.h"
#include "models/vocabulary/vocabulary_file.h"

namespace nibu::internal {
namespace {

constexpr char kT5Files[] =
    "a Hugging Face directory of T5, mT5 or MADLAD has config.json, model.safetensors or "
    "pytorch_model.bin, and spiece.model";

// Reads the activation: "relu", "gated-gelu", ... Newer files repeat it in two other fields, which
// count first.
absl::Status ReadFeedForward(const ConfigFile& config, bool is_mt5, ModelConfig* model) {
  const char* key = "feed_forward_proj";
  NIBU_ASSIGN_OR_RETURN(const std::string projection,
                        config.String(key, is_mt5 ? "gated-gelu" : "relu"));
  absl::string_view name = projection;
  const bool gated = absl::ConsumePrefix(&name, "gated-");
  if (gated && name == "gelu") name = "gelu_new";  // such models were trained with this one
  NIBU_ASSIGN_OR_RETURN(model->gated_ffn, config.Bool("is_gated_act", gated));
  const absl::StatusOr<Activation> found =
      config.OneOf<Activation>("dense_act_fn", name, kHuggingFaceActivations);
  if (!found.ok()) return config.Wrong(key, "relu, gelu, silu, gated-gelu or gated-silu");
  model->activation = *found;
  return absl::OkStatus();
}

NameTable Names(HuggingFaceConfig config, const TensorSource& source) {
  NameTable table;
  const Spelling spelling = {"weight"};
  for (const std::string stack : {"encoder.", "decoder."}) {
    table.Add(stack, stack, spelling,
              {{"positions", {"block.0.layer.0.SelfAttention.relative_attention_bias.?"}},
               {"final_norm", {"final_layer_norm.?"}}});
  }
  const char* up = config.model.gated_ffn ? "DenseReluDense.wi_0.?" : "DenseReluDense.wi.?";
  ForEachLayer(config.model, [&](const std::string& stack, int i) {
    const std::string at = absl::StrCat(stack, ".", i, ".");
    const std::string sublayer = absl::StrCat(stack, ".block.", i, ".layer.");
    table.Add(at + "self.", sublayer + "0.", spelling,
              {{"q+k+v", {"SelfAttention.q.?", "SelfAttention.k.?", "SelfAttention.v.?"}},
               {"out", {"SelfAttention.o.?"}},
               {"norm", {"layer_norm.?"}}});
    table.Add(at + "cross.", sublayer + "1.", spelling,
              {{"q", {"EncDecAttention.q.?"}},
               {"k+v", {"EncDecAttention.k.?", "EncDecAttention.v.?"}},
               {"out", {"EncDecAttention.o.?"}},
               {"norm", {"layer_norm.?"}}});
    table.Add(at + "ffn.", sublayer + (stack == "decoder" ? "2." : "1."), spelling,
              {{"up", {up}},
               {"gate", {"DenseReluDense.wi_1.?"}},
               {"down", {"DenseReluDense.wo.?"}},
               {"norm", {"layer_norm.?"}}});
  });
  // An output layer in the file is used even if the configuration says that it is tied.
  if (source.Has("lm_head.weight")) config.tied_output = false;
  AddTiedNames(config, {"shared.weight", "encoder.embed_tokens.weight"},
               "decoder.embed_tokens.weight", "lm_head.weight", source, &table);
  table.ignored = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};
  return table;
}

// Reads the vocabulary, and sets unk, unk_target, source_suffix and suppressed of `model`.
absl::StatusOr<ModelVocabulary> ReadT5Vocabulary(const std::string& directory, ModelConfig* model) {
  NIBU_ASSIGN_OR_RETURN(const auto sentencepiece,
                        OpenRequiredFile(directory, "spiece.model", kT5Files));
  NIBU_ASSIGN_OR_RETURN(std::vector<std::string> tokens,
                        ReadSentencePieces(sentencepiece->bytes(), sentencepiece->path()));
  NIBU_ASSIGN_OR_RETURN(const ConfigFile tokenizer,
                        ConfigFile::OpenOptional(directory + "/tokenizer_config.json"));
  NIBU_ASSIGN_OR_RETURN(const int extra_ids, tokenizer.Int("extra_ids", 100));
  NIBU_ASSIGN_OR_RETURN(const bool is_legacy, tokenizer.Bool("legacy", true));
  // The model's vocabulary may be larger than SentencePiece's: it is padded to a round number.
  constexpr int kMostBehind = 1 << 16;
  const int pieces = static_cast<int>(tokens.size());
  const int behind = model->vocab_source - pieces;
  if (model->vocab_source < pieces || behind > kMostBehind) {
    return WrongVocabularySize(sentencepiece->path(), tokens.size(), model->vocab_source,
                               "config.json");
  }
  ModelVocabulary vocabulary;
  const int extra = std::clamp(extra_ids, 0, behind);
  for (int i = 0; i < behind; ++i) {
    model->suppressed.push_back(pieces + i);  // it is no text
    tokens.push_back(i < extra ? absl::StrCat("<extra_id_", extra - 1 - i, ">")
                               : UnusedToken(tokens.size()));
  }
  NIBU_ASSIGN_OR_RETURN(model->unk, FindToken(tokens, "<unk>", sentencepiece->path()));
  model->unk_target = model->unk;
  NIBU_ASSIGN_OR_RETURN(const int suffix, ReadSourceEnd(tokenizer, tokens, model->eos));
  model->source_suffix = {suffix};
  vocabulary.words_follow_added = is_legacy;
  vocabulary.source_tokens = std::move(tokens);
  vocabulary.target_tokens = vocabulary.source_tokens;
  vocabulary.source_sentencepiece = std::string(sentencepiece->bytes());
  vocabulary.target_sentencepiece = vocabulary.source_sentencepiece;
  return vocabulary;
}

}  // namespace

absl::StatusOr<HuggingFaceConfig> ReadT5Config(const ConfigFile& config) {
  NIBU_ASSIGN_OR_RETURN(const std::string type, config.String("model_type", ""));
  const bool is_mt5 = type == "mt5";
  HuggingFaceConfig result;
  ModelConfig& model = result.model;
  NIBU_ASSIGN_OR_RETURN(model.d_model, config.Int("d_model", 512));
  NIBU_ASSIGN_OR_RETURN(model.d_head, config.Int("d_kv", 64));
  NIBU_ASSIGN_OR_RETURN(model.heads_encoder, config.Int("num_heads", is_mt5 ? 6 : 8));
  model.heads_decoder = model.heads_encoder;
  NIBU_ASSIGN_OR_RETURN(model.ffn_encoder, config.Int("d_ff", is_mt5 ? 1024 : 2048));
  model.ffn_decoder = model.ffn_encoder;
  NIBU_ASSIGN_OR_RETURN(model.layers_encoder, config.Int("num_layers", is_mt5 ? 8 : 6));
  NIBU_ASSIGN_OR_RETURN(model.layers_decoder,
                        config.Int("num_decoder_layers", model.layers_encoder));
  NIBU_ASSIGN_OR_RETURN(model.vocab_source, config.Int("vocab_size", is_mt5 ? 250112 : 32128));
  model.vocab_target = model.vocab_source;
  NIBU_RETURN_IF_ERROR(ReadFeedForward(config, is_mt5, &model));
  model.attention_scale = 1.0f;  // the weights have the usual scale inside

  model.norm_kind = NormKind::kRms;
  model.norm_order = NormOrder::kPre;
  model.final_norm = true;
  NIBU_ASSIGN_OR_RETURN(model.norm_epsilon, config.Float("layer_norm_epsilon", 1e-6f));

  model.position_kind = PositionKind::kRelative;
  NIBU_ASSIGN_OR_RETURN(model.position_buckets, config.Int("relative_attention_num_buckets", 32));
  NIBU_ASSIGN_OR_RETURN(model.position_max_distance,
                        config.Int("relative_attention_max_distance", 128));
  // Relative positions have no limit; this is the length that such models are trained with.
  NIBU_ASSIGN_OR_RETURN(model.max_positions, config.Int("n_positions", 1024));

  NIBU_ASSIGN_OR_RETURN(result.tied_output, config.Bool("tie_word_embeddings", !is_mt5));
  // In older files, tied weights mean that the output is scaled. Newer files have a field for that.
  NIBU_ASSIGN_OR_RETURN(const bool scaled,
                        config.Bool("scale_decoder_outputs", result.tied_output));
  if (scaled) {
    model.output_scale = 1.0f / std::sqrt(static_cast<float>(std::max(model.d_model, 1)));
  }
  const nlohmann::json absent = {
      {"eos_token_id", 1}, {"pad_token_id", 0}, {"decoder_start_token_id", 0}};
  NIBU_RETURN_IF_ERROR(ReadTokenIds(config.With(absent, nlohmann::json::object()), &model));
  return result;
}

absl::StatusOr<OpenedModel> OpenT5(const std::string& directory, const ConfigFile& config) {
  NIBU_ASSIGN_OR_RETURN(HuggingFaceConfig t5, ReadT5Config(config));
  OpenedModel opened;
  opened.format = "Hugging Face T5";
  opened.config_file = config.file();
  NIBU_ASSIGN_OR_RETURN(opened.vocabulary, ReadT5Vocabulary(directory, &t5.model));
  NIBU_ASSIGN_OR_RETURN(opened.defaults,
                        ReadHuggingFaceDefaults(config, opened.vocabulary.languages, &t5.model));
  NIBU_ASSIGN_OR_RETURN(*opened.source, OpenWeights(directory));
  opened.names = Names(t5, *opened.source);
  opened.config = std::move(t5.model);
  return opened;
}

}  // namespace nibu::internal
