// Reads a checkpoint's options, renames its tensors, and reads its dictionaries.
#include "models/formats/fairseq.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

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

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

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

absl::StatusOr<std::vector<std::string>> Dictionary(const std::string& directory,
                                                    const std::string& language) {
  const std::string name = absl::StrCat("dict.", language, ".txt");
  NIBU_ASSIGN_OR_RETURN(
      const auto file,
      OpenRequiredFile(directory, name,
                       "a fairseq checkpoint has its dictionaries, dict.XX.txt, beside it"));
  return ReadFairseqDictionary(file->bytes(), file->path());
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
  if (task != "translation") return options.Wrong("task", "\"translation\"");
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
  std::set<absl::string_view> seen;
  int number = 0;
  if (absl::EndsWith(text, "\n")) text.remove_suffix(1);
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (absl::EndsWith(line, "\r")) line.remove_suffix(1);
    const size_t space = line.rfind(' ');
    int64_t count = 0;
    if (space == absl::string_view::npos || space == 0 ||
        !absl::SimpleAtoi(line.substr(space + 1), &count)) {
      return Invalid(file, ": line ", number, " is not a token, a space and a count");
    }
    const absl::string_view token = line.substr(0, space);
    if (!seen.insert(token).second) {
      return Invalid(file, ": line ", number, " has \"", token, "\" for the second time");
    }
    tokens.emplace_back(token);
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
  vocabulary.source_language = config.source_language;
  opened.facts = ReadModelFacts(directory);
  vocabulary.target_language = config.target_language;
  NIBU_ASSIGN_OR_RETURN(vocabulary.source_tokens, Dictionary(directory, config.source_language));
  NIBU_ASSIGN_OR_RETURN(vocabulary.target_tokens, Dictionary(directory, config.target_language));
  config.model.vocab_source = static_cast<int>(vocabulary.source_tokens.size());
  config.model.vocab_target = static_cast<int>(vocabulary.target_tokens.size());
  NIBU_RETURN_IF_ERROR(ReadSentencePieceFiles(directory, &vocabulary));

  opened.names = Names(config, *opened.source);
  // Old pre-norm models have no norm behind the last layer.
  config.model.final_norm = opened.source->Has(opened.names.Tensor("encoder.final_norm"));
  opened.config = std::move(config.model);
  return opened;
}

}  // namespace nibu::internal
