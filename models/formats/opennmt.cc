// Reads a checkpoint's options, its tensors and its vocabularies.
#include "models/formats/opennmt.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/directory.h"
#include "models/formats/checkpoint.h"
#include "models/vocabulary/vocabulary_file.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;
using Kind = PickleValue::Kind;

// The number of positions that OpenNMT-py computes.
constexpr int kOpenNmtPositions = 5000;

// Returns the options of variants that nibu does not have, with the values that switch them off.
const Json& Unsupported() {
  static const Json& options = *new Json{{"copy_attn", false},
                                         {"lora_embedding", false},
                                         {"lora_layers", Json::array()},
                                         {"n_src_feats", 0},
                                         {"num_experts", 0},
                                         {"num_kv", 0},
                                         {"parallel_residual", false},
                                         {"quant_type", ""},
                                         {"relative_positions_buckets", 0},
                                         {"sliding_window", 0},
                                         {"model_task", "seq2seq"},
                                         {"model_type", "text"},
                                         {"encoder_type", "transformer"},
                                         {"decoder_type", "transformer"},
                                         {"generator_function", "softmax"}};
  return options;
}

// An activation, with true if it is gated.
using FeedForward = std::pair<Activation, bool>;
constexpr std::pair<absl::string_view, FeedForward> kFeedForwards[] = {
    {"relu", {Activation::kRelu, false}},
    {"gelu", {Activation::kGelu, false}},
    {"silu", {Activation::kSwish, true}},
    {"gated-gelu", {Activation::kGelu, true}}};
constexpr std::pair<absl::string_view, NormKind> kNorms[] = {{"standard", NormKind::kLayer},
                                                             {"rms", NormKind::kRms}};
constexpr std::pair<absl::string_view, PositionKind> kPositions[] = {
    {"SinusoidalInterleaved", PositionKind::kSinusoidalInterleaved},
    {"SinusoidalConcat", PositionKind::kSinusoidalHalfMinusOne}};

// Returns the size that the options name, some of them for both stacks, others for one. Those above
// 0 must agree.
absl::StatusOr<int> Size(const ConfigFile& options, const std::vector<const char*>& keys) {
  int size = 0;
  for (const char* key : keys) {
    NIBU_ASSIGN_OR_RETURN(const int value, options.Int(key, 0));
    if (value <= 0) continue;
    if (size > 0 && value != size) return options.Wrong(key, absl::StrCat(size));
    size = value;
  }
  if (size > 0) return size;
  return options.Wrong(keys[0], "a size");
}

// Returns the names of the weights. Linears have biases if `source` has them.
NameTable Names(const ModelConfig& config, const TensorSource& source) {
  NameTable table;
  const Spelling spelling = {"weight", "bias", &source};
  for (const std::string stack : {"encoder.", "decoder."}) {
    table.Add(
        stack, stack, spelling,
        {{"tokens", {"embeddings.make_embedding.emb_luts.0.?"}}, {"final_norm", {"layer_norm.?"}}});
    table.ignored.push_back(stack + "embeddings.make_embedding.pe.pe");
  }
  ForEachLayer(config, [&](const std::string& stack, int i) {
    const bool decoder = stack == "decoder";
    const char* layers = decoder ? ".transformer_layers." : ".transformer.";
    table.Add(
        absl::StrCat(stack, ".", i, "."), absl::StrCat(stack, layers, i, "."), spelling,
        {{"self.q+k+v",
          {"self_attn.linear_query.?", "self_attn.linear_keys.?", "self_attn.linear_values.?"}},
         {"self.out", {"self_attn.final_linear.?"}},
         {"self.norm", {decoder ? "layer_norm_1.?" : "layer_norm.?"}},
         {"cross.q", {"context_attn.linear_query.?"}},
         {"cross.k+v", {"context_attn.linear_keys.?", "context_attn.linear_values.?"}},
         {"cross.out", {"context_attn.final_linear.?"}},
         {"cross.norm", {"layer_norm_2.?"}},
         {"ffn.up", {"feed_forward.w_1.?"}},
         {"ffn.gate", {"feed_forward.w_3.?"}},
         {"ffn.down", {"feed_forward.w_2.?"}},
         {"ffn.norm", {"feed_forward.layer_norm.?"}}});
    // Keys and values have one table.
    for (const char* name : {".self.relative_keys", ".self.relative_values"}) {
      table.AddTable(
          absl::StrCat(stack, ".", i, name),
          absl::StrCat(stack, layers, i, ".self_attn.relative_positions_embeddings.weight"));
    }
  });
  // In older checkpoints, the generator is a sequence whose first element is the linear.
  const char* output = source.Has("generator.0.weight") ? "generator.0.?" : "generator.?";
  table.Add("", "", spelling, {{"output", {output}}});
  return table;
}

// Returns the tensors of both dictionaries; the generator's are called "generator.NAME".
absl::StatusOr<TensorSource> Tensors(const TorchFile& torch) {
  const PickleValue* model = torch.pickle().Find(torch.root(), "model");
  const PickleValue* generator = torch.pickle().Find(torch.root(), "generator");
  if (model == nullptr || generator == nullptr) {
    return NotSupported(torch.file().path(),
                        ": its weights are not in it; save it with save_format=pytorch");
  }
  NIBU_ASSIGN_OR_RETURN(TensorSource source, torch.Tensors(*model));
  NIBU_ASSIGN_OR_RETURN(const TensorSource output, torch.Tensors(*generator));
  for (const std::string& name : output.Names()) {
    NIBU_RETURN_IF_ERROR(source.Add(absl::StrCat("generator.", name), *output.Find(name)));
  }
  return source;
}

// Returns the value of "vocab" for a side; null if it has none.
const PickleValue* SideOf(const Pickle& pickle, const PickleValue& vocab, absl::string_view side) {
  if (vocab.kind == Kind::kDict) return pickle.Find(vocab, side);
  for (const PickleRef ref : vocab.items) {
    const PickleValue& pair = pickle[ref];
    if (pair.kind == Kind::kTuple && pair.items.size() == 2 &&
        pickle.Is(pair.items[0], Kind::kString) && pickle[pair.items[0]].text == side) {
      return &pickle[pair.items[1]];
    }
  }
  return nullptr;
}

// Returns a side's tokens by id. They are a list, or an object that has the list inside: in the
// first of its "fields", then in its "vocab", then in its "itos".
absl::StatusOr<std::vector<std::string>> Tokens(const TorchFile& torch, absl::string_view side) {
  const absl::Status wrong =
      Invalid(torch.file().path(), ": its vocabulary of \"", side, "\" is in an unknown form");
  const Pickle& pickle = torch.pickle();
  const PickleValue* vocab = pickle.Find(torch.root(), "vocab");
  const PickleValue* value = vocab == nullptr ? nullptr : SideOf(pickle, *vocab, side);
  const auto attribute = [&](const char* name) -> const PickleValue* {
    const PickleValue* attributes = pickle.Attributes(*value);
    return attributes == nullptr ? nullptr : pickle.Find(*attributes, name);
  };
  if (value == nullptr) return wrong;
  if (const PickleValue* fields = attribute("fields"); fields != nullptr) {
    // More than one field would be features of the words.
    if (fields->kind != Kind::kList || fields->items.size() != 1) return wrong;
    const PickleValue& first = pickle[fields->items[0]];
    if (first.kind != Kind::kTuple || first.items.size() != 2) return wrong;
    value = &pickle[first.items[1]];
  }
  for (const char* name : {"vocab", "itos"}) {
    if (const PickleValue* inner = attribute(name); inner != nullptr) value = inner;
  }
  if (value->kind != Kind::kList) return wrong;
  std::vector<std::string> tokens;
  for (const PickleRef ref : value->items) {
    if (!pickle.Is(ref, Kind::kString)) return wrong;
    tokens.emplace_back(pickle[ref].text);
  }
  return tokens;
}

}  // namespace

bool IsOpenNmt(const TorchFile& torch) {
  const PickleValue& root = torch.root();
  return root.kind == Kind::kDict && torch.pickle().Find(root, "opt") != nullptr &&
         torch.pickle().Find(root, "vocab") != nullptr;
}

absl::StatusOr<ModelConfig> ReadOpenNmtConfig(const ConfigFile& options) {
  for (const auto& [key, off] : Unsupported().items()) {
    const Json* value = options.Find(key);
    if (value != nullptr && *value != off) {
      return NotSupported(options.file(), ": trained with ", key, " = ", QuotedJson(*value),
                          "; nibu reads OpenNMT-py's Transformers with ", QuotedJson(off));
    }
  }
  NIBU_ASSIGN_OR_RETURN(const std::string attention,
                        options.String("self_attn_type", "scaled-dot"));
  if (attention != "scaled-dot" && attention != "scaled-dot-flash") {
    return options.Wrong("self_attn_type", "scaled-dot or scaled-dot-flash");
  }
  ModelConfig model;
  NIBU_ASSIGN_OR_RETURN(model.d_model,
                        Size(options, {"hidden_size", "rnn_size", "enc_hid_size", "dec_hid_size",
                                       "enc_rnn_size", "dec_rnn_size"}));
  NIBU_ASSIGN_OR_RETURN(model.heads_encoder, options.Int("heads", 8));
  model.heads_decoder = model.heads_encoder;
  NIBU_ASSIGN_OR_RETURN(model.ffn_encoder, options.Int("transformer_ff", 2048));
  model.ffn_decoder = model.ffn_encoder;
  NIBU_ASSIGN_OR_RETURN(const int layers, options.Int("layers", -1));
  NIBU_ASSIGN_OR_RETURN(model.layers_encoder, options.Int("enc_layers", 2));
  NIBU_ASSIGN_OR_RETURN(model.layers_decoder, options.Int("dec_layers", 2));
  if (layers > 0) model.layers_encoder = model.layers_decoder = layers;
  NIBU_ASSIGN_OR_RETURN(std::tie(model.activation, model.gated_ffn),
                        options.OneOf<FeedForward>("pos_ffn_activation_fn", "relu", kFeedForwards));

  model.norm_order = NormOrder::kPre;
  model.final_norm = true;
  NIBU_ASSIGN_OR_RETURN(model.norm_kind, options.OneOf<NormKind>("layer_norm", "standard", kNorms));
  NIBU_ASSIGN_OR_RETURN(model.norm_epsilon, options.Float("norm_eps", 1e-6f));
  model.max_positions = kOpenNmtPositions;
  NIBU_ASSIGN_OR_RETURN(const int distance, options.Int("max_relative_positions", 0));
  NIBU_ASSIGN_OR_RETURN(const bool computed, options.Bool("position_encoding", distance == 0));
  if (distance < 0 || computed != (distance == 0)) {
    return NotSupported(options.file(), ": trained with max_relative_positions = ", distance,
                        " and position_encoding = ", computed ? "true" : "false",
                        "; nibu reads OpenNMT-py's Transformers with one of the two, and neither "
                        "rotary positions (-1) nor ALiBi (-2)");
  }
  if (distance > 0) {
    // OpenNMT-py scales embeddings where it adds positions to them.
    model.position_kind = PositionKind::kRelativeVectors;
    model.position_max_distance = distance;
    return model;
  }
  model.embedding_scale = std::sqrt(static_cast<float>(std::max(model.d_model, 1)));
  NIBU_ASSIGN_OR_RETURN(
      model.position_kind,
      options.OneOf<PositionKind>("position_encoding_type", "SinusoidalInterleaved", kPositions));
  return model;
}

absl::StatusOr<OpenedModel> OpenOpenNmt(const TorchFile& torch) {
  const Pickle& pickle = torch.pickle();
  const std::string& path = torch.file().path();
  const auto options = [&](const char* key) {
    return *ConfigFile::From(CheckpointOptions(pickle, pickle.Find(torch.root(), key)), path);
  };
  OpenedModel opened;
  opened.format = "OpenNMT-py";
  opened.config_file = path;
  NIBU_ASSIGN_OR_RETURN(opened.config, ReadOpenNmtConfig(options("opt")));
  NIBU_ASSIGN_OR_RETURN(*opened.source, Tensors(torch));
  opened.names = Names(opened.config, *opened.source);

  ModelVocabulary& vocabulary = opened.vocabulary;
  NIBU_ASSIGN_OR_RETURN(vocabulary.source_tokens, Tokens(torch, "src"));
  NIBU_ASSIGN_OR_RETURN(vocabulary.target_tokens, Tokens(torch, "tgt"));
  ModelConfig& config = opened.config;
  config.vocab_source = static_cast<int>(vocabulary.source_tokens.size());
  config.vocab_target = static_cast<int>(vocabulary.target_tokens.size());
  NIBU_ASSIGN_OR_RETURN(const std::string start,
                        options("vocab").String("decoder_start_token", "<s>"));
  const auto target_id = [&](const std::string& token) {
    return FindToken(vocabulary.target_tokens, token, path);
  };
  NIBU_ASSIGN_OR_RETURN(config.unk, FindToken(vocabulary.source_tokens, "<unk>", path));
  NIBU_ASSIGN_OR_RETURN(config.unk_target, target_id("<unk>"));
  NIBU_ASSIGN_OR_RETURN(config.eos, target_id("</s>"));
  NIBU_ASSIGN_OR_RETURN(config.decoder_start, target_id(start));
  NIBU_ASSIGN_OR_RETURN(const int pad, target_id("<blank>"));
  config.suppressed = {pad};
  NIBU_RETURN_IF_ERROR(ReadSentencePieceFiles(DirectoryOf(path), &vocabulary));
  return opened;
}

}  // namespace nibu::internal
