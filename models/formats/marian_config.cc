// Reads the options of Marian's training that describe the network.
#include "models/formats/marian_config.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"

namespace nibu::internal {
namespace {

// Sinusoidal positions have no end; this is more than any sentence needs.
constexpr int kMarianPositions = 2048;

absl::Status Unsupported(const ConfigFile& yml, absl::string_view key) {
  const nlohmann::json* value = yml.Find(std::string(key));
  if (value == nullptr) {
    return NotSupported(
        yml.file(), ": \"", key,
        "\" is left to its default, which nibu does not support; use a model trained ",
        "with another setting");
  }
  return NotSupported(yml.file(), ": \"", key, "\" is ", QuotedJson(*value),
                      ", which nibu does not support; use a model trained without it");
}

constexpr std::pair<absl::string_view, Activation> kMarianActivations[] = {
    {"relu", Activation::kRelu}, {"swish", Activation::kSwish}, {"gelu", Activation::kGelu}};

// Returns an error if an option changes the network in a way that nibu does not support.
absl::Status RefuseUnsupported(const ConfigFile& yml) {
  for (const char* key :
       {"lemma-dim-emb", "lemma-dependency", "ulr", "right-left", "transformer-no-projection",
        "transformer-rnn-projection", "transformer-no-affine", "transformer-no-bias", "input-types",
        "layer-normalization", "transformer-train-segment-embeddings"}) {
    if (!yml.IsOff(key)) return Unsupported(yml, key);
  }
  constexpr int kDepth = 2;
  const char* key = "transformer-ffn-depth";
  NIBU_ASSIGN_OR_RETURN(const int depth, yml.Int(key, kDepth));
  if (depth != kDepth) return Unsupported(yml, key);
  const char* decoder_key = "transformer-decoder-ffn-depth";
  NIBU_ASSIGN_OR_RETURN(const int decoder_depth, yml.Int(decoder_key, 0));
  // 0 stands for the encoder's depth.
  if (decoder_depth != 0 && decoder_depth != kDepth) return Unsupported(yml, decoder_key);
  return absl::OkStatus();
}

// Returns true if the steps of an option have a layer norm ("n"). Dropout ("d") is for training
// alone, and "a" adds the residual.
absl::StatusOr<bool> Norms(const ConfigFile& yml, const std::string& key,
                           absl::string_view absent) {
  NIBU_ASSIGN_OR_RETURN(const std::string steps, yml.String(key, absent));
  if (steps.find_first_not_of("dan") != std::string::npos) return Unsupported(yml, key);
  return absl::StrContains(steps, 'n');
}

absl::Status ReadNorms(const ConfigFile& yml, ModelConfig* model) {
  NIBU_ASSIGN_OR_RETURN(const bool before, Norms(yml, "transformer-preprocess", ""));
  NIBU_ASSIGN_OR_RETURN(const bool after, Norms(yml, "transformer-postprocess", "dan"));
  NIBU_ASSIGN_OR_RETURN(model->embedding_norm, Norms(yml, "transformer-postprocess-emb", "d"));
  NIBU_ASSIGN_OR_RETURN(model->final_norm, Norms(yml, "transformer-postprocess-top", ""));
  if (before == after) return Unsupported(yml, "transformer-postprocess");
  NIBU_ASSIGN_OR_RETURN(const std::string steps, yml.String("transformer-postprocess", "dan"));
  if (!absl::StrContains(steps, 'a') || (after && steps.find('a') > steps.find('n'))) {
    return Unsupported(yml, "transformer-postprocess");
  }
  model->norm_order = before ? NormOrder::kPre : NormOrder::kPost;
  model->norm_epsilon = 1e-6f;
  return absl::OkStatus();
}

absl::Status ReadMemory(const ConfigFile& yml, ModelConfig* model) {
  const char* key = "transformer-decoder-autoreg";
  NIBU_ASSIGN_OR_RETURN(const std::string memory, yml.String(key, "self-attention"));
  if (memory == "self-attention") return absl::OkStatus();
  if (memory != "rnn") return Unsupported(yml, key);
  NIBU_ASSIGN_OR_RETURN(const std::string cell, yml.String("dec-cell", "gru"));
  if (cell != "ssru") return Unsupported(yml, "dec-cell");
  model->decoder_memory = DecoderMemory::kSsru;
  return absl::OkStatus();
}

// Reads the layer of alignments: "last", or a number from 1. Marian takes the attention of the
// layer's first head.
absl::Status ReadAlignment(const ConfigFile& yml, ModelConfig* model) {
  model->alignment_heads = 1;
  const char* key = "transformer-guided-alignment-layer";
  const nlohmann::json* stored = yml.Find(key);
  if (stored == nullptr || *stored == "last") return absl::OkStatus();
  NIBU_ASSIGN_OR_RETURN(const int number, yml.Int(key, 0));
  if (number < 1 || number > model->layers_decoder)
    return yml.Wrong(key, "last, or 1 to dec-depth");
  model->alignment_layer = number - 1;
  return absl::OkStatus();
}

absl::Status ReadVocabularySizes(const ConfigFile& yml, ModelConfig* model) {
  const char* key = "dim-vocabs";
  constexpr char kExpected[] = "a list of two sizes";
  NIBU_ASSIGN_OR_RETURN(const std::vector<int> sizes, yml.IntList(key, 1, 1 << 24, kExpected));
  if (sizes.size() != 2) return yml.Wrong(key, kExpected);
  model->vocab_source = sizes[0];
  model->vocab_target = sizes[1];
  return absl::OkStatus();
}

absl::Status ReadTiedLayers(const ConfigFile& yml, MarianConfig* config) {
  const char* key = "transformer-tied-layers";
  const nlohmann::json* layers = yml.Find(key);
  if (layers == nullptr || (layers->is_array() && layers->empty())) return absl::OkStatus();
  if (!layers->is_array() || layers->size() != static_cast<size_t>(config->model.layers_decoder)) {
    return yml.Wrong(key, "a list with a number for each decoder layer");
  }
  NIBU_ASSIGN_OR_RETURN(config->tied_layers,
                        yml.IntList(key, 1, config->model.layers_decoder,
                                    "a list of layer numbers from 1 to dec-depth"));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MarianConfig> ReadMarianConfig(const ConfigFile& yml) {
  MarianConfig config;
  ModelConfig& model = config.model;
  NIBU_ASSIGN_OR_RETURN(const std::string type, yml.String("type", ""));
  if (type != "transformer") return yml.Wrong("type", "\"transformer\"");
  NIBU_RETURN_IF_ERROR(RefuseUnsupported(yml));
  NIBU_ASSIGN_OR_RETURN(model.d_model, yml.Int("dim-emb", 512));
  NIBU_ASSIGN_OR_RETURN(model.heads_encoder, yml.Int("transformer-heads", 8));
  model.heads_decoder = model.heads_encoder;
  NIBU_ASSIGN_OR_RETURN(model.layers_encoder, yml.Int("enc-depth", 6));
  NIBU_ASSIGN_OR_RETURN(model.layers_decoder, yml.Int("dec-depth", 6));
  NIBU_ASSIGN_OR_RETURN(model.ffn_encoder, yml.Int("transformer-dim-ffn", 2048));
  NIBU_ASSIGN_OR_RETURN(const int decoder, yml.Int("transformer-decoder-dim-ffn", 0));
  model.ffn_decoder = decoder == 0 ? model.ffn_encoder : decoder;
  NIBU_RETURN_IF_ERROR(ReadVocabularySizes(yml, &model));

  NIBU_ASSIGN_OR_RETURN(model.activation, yml.OneOf<Activation>("transformer-ffn-activation",
                                                                "swish", kMarianActivations));
  NIBU_RETURN_IF_ERROR(ReadNorms(yml, &model));
  NIBU_RETURN_IF_ERROR(ReadMemory(yml, &model));
  NIBU_RETURN_IF_ERROR(ReadAlignment(yml, &model));

  NIBU_ASSIGN_OR_RETURN(const bool learned,
                        yml.Bool("transformer-train-position-embeddings", false));
  if (learned) {
    // Marian does not scale embeddings that learned positions are added to.
    model.position_kind = PositionKind::kLearned;
    model.embedding_scale = 1.0f;
    NIBU_ASSIGN_OR_RETURN(model.max_positions, yml.Int("max-length", 50));
  } else {
    model.position_kind = PositionKind::kSinusoidalHalfMinusOne;
    model.embedding_scale = static_cast<float>(std::sqrt(std::max(model.d_model, 1)));
    model.max_positions = kMarianPositions;
  }
  NIBU_ASSIGN_OR_RETURN(config.tied_all, yml.Bool("tied-embeddings-all", false));
  NIBU_ASSIGN_OR_RETURN(config.tied_source, yml.Bool("tied-embeddings-src", false));
  NIBU_ASSIGN_OR_RETURN(config.tied_output, yml.Bool("tied-embeddings", false));
  NIBU_ASSIGN_OR_RETURN(const bool no_bias, yml.Bool("output-omit-bias", false));
  config.output_bias = !no_bias;
  NIBU_RETURN_IF_ERROR(ReadTiedLayers(yml, &config));
  model.decoder_start = -1;
  return config;
}

NameTable MarianNames(const MarianConfig& config, const TensorSource& source) {
  const Spelling linears = {"W", "b"};
  const Spelling norms = {"scale", "bias"};
  const std::string norm = config.model.norm_order == NormOrder::kPre ? "_ln_?_pre" : "_ln_?";
  NameTable table;
  table.out_in = false;
  for (const std::string stack : {"encoder", "decoder"}) {
    table.AddTable(stack + ".positions", "Wpos");
    table.Add(stack + ".", stack, norms,
              {{"embedding_norm", {"_emb_ln_?_pre"}}, {"final_norm", {"_top_ln_?"}}});
  }
  ForEachLayer(config.model, [&](const std::string& stack, int i) {
    const std::string at = absl::StrCat(stack, ".", i, ".");
    const bool tied = stack == "decoder" && !config.tied_layers.empty();
    const int number = tied ? config.tied_layers[static_cast<size_t>(i)] : i + 1;
    const std::string layer = absl::StrCat(stack, "_l", number);
    table.Add(at, layer, linears,
              {{"self.q+k+v", {"_self_?q", "_self_?k", "_self_?v"}},
               {"self.out", {"_self_?o"}},
               {"cross.q", {"_context_?q"}},
               {"cross.k+v", {"_context_?k", "_context_?v"}},
               {"cross.out", {"_context_?o"}},
               {"ffn.up", {"_ffn_?1"}},
               {"ffn.down", {"_ffn_?2"}}});
    table.tensors[at + "ssru.gate+value"] = {{layer + "_rnn_Wf", layer + "_rnn_W"},
                                             {layer + "_rnn_bf", ""}};
    table.Add(at, layer, norms,
              {{"self.norm", {"_self_Wo" + norm}},
               {"ssru.norm", {"_rnn_ffn" + norm}},
               {"cross.norm", {"_context_Wo" + norm}},
               {"ffn.norm", {"_ffn_ffn" + norm}}});
  });
  const bool shared = config.tied_all || config.tied_source;
  table.AddTable("encoder.tokens", shared ? "Wemb" : "encoder_Wemb");
  table.AddTable("decoder.tokens", shared ? "Wemb" : "decoder_Wemb");
  if (config.tied_all || config.tied_output) {
    table.AddTable("output", table.Tensor("decoder.tokens"));
  } else if (source.Has("decoder_ff_logit_out_Wt")) {
    table.AddTable("output", "decoder_ff_logit_out_Wt");
  } else {
    table.AddTable("output", "decoder_ff_logit_out_W");
    table.output_out_in = false;
  }
  if (config.output_bias) table.tensors["output"].biases = {"decoder_ff_logit_out_b"};
  table.ignored = {"special:model.yml"};
  return table;
}

}  // namespace nibu::internal
