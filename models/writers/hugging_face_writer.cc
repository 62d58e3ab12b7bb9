// Writes a MarianMT directory: checks that the format can express the model, decides what is shared
// and whether a padding token is added, and writes file after file.
#include "models/writers/hugging_face_writer.h"

#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "engine/ops/embedding.h"
#include "models/assembly/mixer_text.h"
#include "models/containers/safetensors.h"
#include "models/files/float_json.h"
#include "models/files/new_file.h"
#include "models/formats/hugging_face.h"
#include "models/formats/hugging_face_defaults.h"
#include "models/load_model.h"
#include "models/vocabulary/added_tokens.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {
namespace {

using OrderedJson = FloatJson;

absl::Status Cannot(absl::string_view what) {
  return NotSupported("a Hugging Face MarianMT directory cannot hold ", what,
                      "; write a .nibu file instead");
}

absl::Status CheckVocabulary(const OpenedModel& model) {
  const ModelVocabulary& vocabulary = model.vocabulary;
  if (vocabulary.source_sentencepiece.empty() || vocabulary.target_sentencepiece.empty()) {
    return Cannot("a model without SentencePiece models");
  }
  // A SentencePiece model begins with the tag of its first piece, and merges are a text.
  if (vocabulary.source_sentencepiece[0] != '\n' || vocabulary.target_sentencepiece[0] != '\n') {
    return Cannot("merges of subword-nmt");
  }
  for (const auto* tokens : {&vocabulary.source_tokens, &vocabulary.target_tokens}) {
    std::set<absl::string_view> seen;
    for (const std::string& token : *tokens) {
      if (!seen.insert(token).second) {
        return Cannot(absl::StrCat("a vocabulary with the token \"", token, "\" twice"));
      }
    }
  }
  const ModelConfig& config = model.config;
  if (vocabulary.source_tokens[static_cast<size_t>(config.unk)] !=
      vocabulary.target_tokens[static_cast<size_t>(config.unk_target)]) {
    return Cannot("unknown tokens of two names");
  }
  return absl::OkStatus();
}

absl::Status CheckExpressible(const OpenedModel& model) {
  const ModelConfig& config = model.config;
  if (config.decoder_memory != DecoderMemory::kSelfAttention) return Cannot("an SSRU decoder");
  if (config.norm_kind != NormKind::kLayer) return Cannot("RMS normalization");
  if (config.position_kind == PositionKind::kRelative ||
      config.position_kind == PositionKind::kRelativeVectors) {
    return Cannot("relative positions");
  }
  if (config.gated_ffn) return Cannot("gated feed-forward layers");
  if (config.d_head != 0) return Cannot("heads of a size of their own");
  if (config.attention_scale != 0) return Cannot("a scale of attention scores");
  if (config.output_scale != 1.0f) return Cannot("a scale of the output layer");
  if (!config.output_tokens.empty()) return Cannot("a target vocabulary that lacks tokens");
  if (!model.vocabulary.languages.languages.empty()) return Cannot("a choice of languages");
  if (model.shortlist != nullptr) return Cannot("a shortlist (it can be left out)");
  if (config.source_suffix.size() != 1) return Cannot("a model whose sources end in no token");
  const float root = std::sqrt(static_cast<float>(config.d_model));
  if (config.embedding_scale != 1.0f && config.embedding_scale != root) {
    return Cannot("embeddings that are scaled by other than the root of d_model");
  }
  NIBU_RETURN_IF_ERROR(CheckVocabulary(model));
  // transformers' MarianMT passes over the fields that say so; nibu's reader does not. A model with
  // mechanisms of attention that transformers lacks is only for nibu in any case.
  if (!config.encoder_attention.empty() || !config.cross_attention.empty()) return absl::OkStatus();
  if (config.norm_order != NormOrder::kPost) return Cannot("layers that begin with their norm");
  if (config.final_norm) return Cannot("a norm behind the last layer");
  if (config.embedding_norm) return Cannot("a norm behind the embeddings");
  return absl::OkStatus();
}

absl::string_view ActivationWord(Activation activation) {
  const auto* found = absl::c_find_if(
      kHuggingFaceActivations, [&](const auto& known) { return known.second == activation; });
  return found == std::end(kHuggingFaceActivations) ? "swish" : found->first;
}

// Writes one model to a directory that is not there yet.
class Writer {
 public:
  Writer(const OpenedModel& model, Quantization quantization, std::string directory)
      : model_(model),
        config_(model.config),
        quantization_(quantization),
        directory_(std::move(directory)) {}

  absl::Status Write() {
    NIBU_RETURN_IF_ERROR(CheckExpressible(model_));
    Decide();
    std::error_code error;
    if (!std::filesystem::create_directory(directory_, error)) {
      return absl::UnavailableError(
          absl::StrCat(directory_, ": cannot be made: ", error.message()));
    }
    NIBU_RETURN_IF_ERROR(WriteWeights());
    NIBU_RETURN_IF_ERROR(WriteConfigs());
    NIBU_RETURN_IF_ERROR(WriteVocabularies());
    NIBU_RETURN_IF_ERROR(WriteFile("source.spm", model_.vocabulary.source_sentencepiece));
    return WriteFile("target.spm", model_.vocabulary.target_sentencepiece);
  }

 private:
  // Sets the fields at the end of this class.
  void Decide() {
    const NameTable& names = model_.names;
    // A tensor that is missing is an error later, when the plan asks for it.
    const auto same = [&](const char* one, const char* other) {
      const StoredTensor* a = model_.source->Find(names.Tensor(one));
      const StoredTensor* b = model_.source->Find(names.Tensor(other));
      return a != nullptr && b != nullptr && SameTensor(*a, *b);
    };
    shared_ =
        config_.vocab_source == config_.vocab_target && same("encoder.tokens", "decoder.tokens");
    tied_ = names.output_out_in && same("output", "decoder.tokens");
    separate_ = model_.vocabulary.source_tokens != model_.vocabulary.target_tokens;
    const bool suppressed = absl::c_linear_search(config_.suppressed, config_.decoder_start);
    added_pad_ = config_.decoder_start < 0 || !suppressed;
    pad_ = added_pad_ ? config_.vocab_target : config_.decoder_start;
    pad_token_ = "<pad>";
    const auto is_token = [&](const std::vector<std::string>& tokens) {
      return absl::c_linear_search(tokens, pad_token_);
    };
    // The added token's name must be new.
    while (added_pad_ && (is_token(model_.vocabulary.source_tokens) ||
                          is_token(model_.vocabulary.target_tokens))) {
      pad_token_.append("_");
    }
    if (!added_pad_) pad_token_ = model_.vocabulary.target_tokens[static_cast<size_t>(pad_)];
    computed_positions_ =
        config_.position_kind == PositionKind::kSinusoidalHalf && config_.position_offset == 0;
  }

  absl::Status WriteWeights() {
    HuggingFaceConfig target;
    target.model = config_;
    target.shared_embeddings = shared_;
    target.tied_output = tied_;
    NameTable names = HuggingFaceNames(target, TensorSource(directory_));
    const std::string bias = "final_logits_bias";
    names.tensors["output"].biases = {bias};
    const auto is = [&](const PlannedTensor& tensor, absl::string_view weight) {
      return tensor.name == names.Tensor(absl::StrCat("encoder.", weight)) ||
             tensor.name == names.Tensor(absl::StrCat("decoder.", weight));
    };
    NIBU_ASSIGN_OR_RETURN(const std::vector<PlannedTensor> plan,
                          PlanTensors(model_, names, quantization_));
    std::vector<TensorToWrite> tensors;
    std::set<std::string> written;
    for (PlannedTensor tensor : plan) {
      if (!written.insert(tensor.name).second) continue;  // it is tied to one before
      if (tensor.dtype == DType::kInt8 || tensor.dtype == DType::kInt16) {
        tensor.dtype = DType::kFloat32;
      }
      // transformers counts positions from row 0.
      if (is(tensor, "positions")) {
        tensor.first_row = config_.position_offset;
        tensor.rows -= config_.position_offset;
        tensor.shape[0] = tensor.rows;
      }
      std::string end;  // the added token's row
      if (added_pad_ && tensor.name == bias) {
        tensor.dtype = DType::kFloat32;
        end.assign(reinterpret_cast<const char*>(&kNever), sizeof(kNever));
        ++tensor.shape[0];
      } else if (added_pad_ && (is(tensor, "tokens") || tensor.name == names.Tensor("output"))) {
        end.assign(static_cast<size_t>(tensor.shape[1]) * DTypeSize(tensor.dtype), '\0');
        ++tensor.shape[0];
      }
      Shape shape = tensor.shape;
      if (tensor.name == bias) shape = {1, shape[0]};
      tensors.push_back(
          {tensor.name, tensor.dtype, shape, [tensor, end]() -> absl::StatusOr<std::string> {
             NIBU_ASSIGN_OR_RETURN(const TensorData data, ConvertTensor(tensor));
             return data.bytes + end;
           }});
    }
    if (!computed_positions_ && config_.position_kind != PositionKind::kLearned) {
      for (const char* weight : {"encoder.positions", "decoder.positions"}) {
        tensors.push_back({names.Tensor(weight),
                           DType::kFloat32,
                           {config_.max_positions, config_.d_model},
                           [this]() -> absl::StatusOr<std::string> { return Positions(); }});
      }
    }
    return WriteSafetensors(tensors, absl::StrCat(directory_, "/model.safetensors"));
  }

  std::string Positions() const {
    const AlignedBuffer<float> table = SinusoidalPositions(
        config_.position_kind, config_.max_positions, config_.position_offset, config_.d_model);
    return std::string(reinterpret_cast<const char*>(table.data()), table.size() * sizeof(float));
  }

  absl::Status WriteConfigs() const {
    const int added = added_pad_ ? 1 : 0;
    const int start = config_.decoder_start < 0 ? pad_ : config_.decoder_start;
    OrderedJson generation = WriteHuggingFaceDefaults(model_.defaults, config_);
    generation["decoder_start_token_id"] = start;
    generation["pad_token_id"] = pad_;
    if (added_pad_) generation["bad_words_ids"].push_back({pad_});
    OrderedJson config = {
        {"architectures", {"MarianMTModel"}},
        {"model_type", "marian"},
        {"is_encoder_decoder", true},
        {"d_model", config_.d_model},
        {"encoder_layers", config_.layers_encoder},
        {"decoder_layers", config_.layers_decoder},
        {"encoder_attention_heads", config_.heads_encoder},
        {"decoder_attention_heads", config_.heads_decoder},
        {"encoder_ffn_dim", config_.ffn_encoder},
        {"decoder_ffn_dim", config_.ffn_decoder},
        {"activation_function", std::string(ActivationWord(config_.activation))},
        {"scale_embedding", config_.embedding_scale != 1.0f},
        {"normalize_before", config_.norm_order == NormOrder::kPre},
        {"normalize_embedding", config_.embedding_norm},
        {"add_final_layer_norm", config_.final_norm},
        {"static_position_embeddings", config_.position_kind != PositionKind::kLearned},
        {"max_position_embeddings", config_.max_positions},
        {"vocab_size", config_.vocab_source + added},
        {"decoder_vocab_size", config_.vocab_target + added},
        {"share_encoder_decoder_embeddings", shared_},
        {"tie_word_embeddings", tied_},
        {"eos_token_id", config_.eos},
        {"pad_token_id", pad_},
        {"decoder_start_token_id", start},
        {"bad_words_ids", generation["bad_words_ids"]}};
    if (!config_.encoder_attention.empty()) {
      config["encoder_attention"] = MixersToText(config_.encoder_attention);
    }
    if (!config_.cross_attention.empty()) {
      config["cross_attention"] = MixersToText(config_.cross_attention);
    }
    if (config_.norm_epsilon != 1e-5f) config["layer_norm_eps"] = config_.norm_epsilon;
    NIBU_RETURN_IF_ERROR(WriteJson("config.json", config));
    return WriteJson("generation_config.json", generation);
  }

  absl::Status WriteVocabularies() const {
    const ModelVocabulary& vocabulary = model_.vocabulary;
    const OrderedJson special = {
        {"eos_token", vocabulary.source_tokens[static_cast<size_t>(config_.source_suffix[0])]},
        {"unk_token", vocabulary.source_tokens[static_cast<size_t>(config_.unk)]},
        {"pad_token", pad_token_}};
    NIBU_RETURN_IF_ERROR(WriteJson("special_tokens_map.json", special));
    OrderedJson tokenizer = special;
    tokenizer["separate_vocabs"] = separate_;
    tokenizer["tokenizer_class"] = "MarianTokenizer";
    tokenizer["added_tokens_decoder"] = AddedTokensDecoder(vocabulary);
    for (const auto& [fact, field] :
         {std::pair("license", "license"), std::pair("source_language", "source_lang"),
          std::pair("target_language", "target_lang")}) {
      const auto it = model_.facts.find(fact);
      if (it != model_.facts.end()) tokenizer[field] = it->second;
    }
    NIBU_RETURN_IF_ERROR(WriteJson("tokenizer_config.json", tokenizer));
    NIBU_RETURN_IF_ERROR(WriteTokens("vocab.json", vocabulary.source_tokens));
    if (!separate_) return absl::OkStatus();
    return WriteTokens("target_vocab.json", vocabulary.target_tokens);
  }

  absl::Status WriteTokens(const std::string& name, const std::vector<std::string>& tokens) const {
    nlohmann::json json = nlohmann::json::object();
    for (size_t i = 0; i < tokens.size(); ++i) json[tokens[i]] = i;
    if (added_pad_) json[pad_token_] = tokens.size();
    return WriteJson(name, json);
  }

  template <typename AnyJson>
  absl::Status WriteJson(const std::string& name, const AnyJson& json) const {
    std::string text;
    try {
      text = json.dump(2);
    } catch (const nlohmann::json::exception&) {
      return Cannot("tokens that are not UTF-8");
    }
    return WriteFile(name, text + "\n");
  }

  absl::Status WriteFile(const std::string& name, absl::string_view bytes) const {
    NIBU_ASSIGN_OR_RETURN(NewFile file, NewFile::Create(absl::StrCat(directory_, "/", name)));
    NIBU_RETURN_IF_ERROR(file.Append(bytes));
    return file.Sync();
  }

  const OpenedModel& model_;
  const ModelConfig& config_;
  const Quantization quantization_;
  const std::string directory_;

  bool shared_ = false;              // source and target have one embedding table
  bool tied_ = false;                // the decoder's embedding table is the output layer, too
  bool separate_ = false;            // source and target have a vocabulary each
  bool computed_positions_ = false;  // MarianMT computes these positions; they are not stored
  bool added_pad_ = false;           // the padding token is one that the model does not have
  int pad_ = 0;                      // the padding token's id
  std::string pad_token_;
};

}  // namespace

absl::Status WriteHuggingFace(const OpenedModel& model, Quantization quantization,
                              const std::string& directory) {
  ABSL_ASSERT((!quantization.has_value() || !HasInt8Inputs(*quantization)) &&
              model.source->packed().linears.empty());
  std::error_code error;
  if (std::filesystem::exists(directory, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory, ": is there already; remove it or give another name"));
  }
  PendingPath pending(directory);
  NIBU_RETURN_IF_ERROR(
      WithinMemory(directory, [&] { return Writer(model, quantization, pending.path()).Write(); }));
  NIBU_RETURN_IF_ERROR(LoadModel(pending.path(), ComputeType::kFloat32).status());
  return pending.Commit();
}

}  // namespace nibu::internal
