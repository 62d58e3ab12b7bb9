#include "models/native/model_config_json.h"

#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/status_macros.h"

namespace nibu {
namespace {

// The word of each value of an enumeration; null for what is no value. A value that is missing here
// does not compile without a warning.
const char* WordOf(Activation value) {
  switch (value) {
    case Activation::kNone:
      return "none";
    case Activation::kRelu:
      return "relu";
    case Activation::kGelu:
      return "gelu";
    case Activation::kGeluTanh:
      return "gelu_tanh";
    case Activation::kGeluSigmoid:
      return "gelu_sigmoid";
    case Activation::kSwish:
      return "swish";
  }
  return nullptr;
}
const char* WordOf(NormKind value) {
  switch (value) {
    case NormKind::kLayer:
      return "layer";
    case NormKind::kRms:
      return "rms";
  }
  return nullptr;
}
const char* WordOf(NormOrder value) {
  switch (value) {
    case NormOrder::kPost:
      return "post";
    case NormOrder::kPre:
      return "pre";
  }
  return nullptr;
}
const char* WordOf(PositionKind value) {
  switch (value) {
    case PositionKind::kSinusoidalHalf:
      return "sinusoidal_half";
    case PositionKind::kSinusoidalHalfMinusOne:
      return "sinusoidal_half_minus_one";
    case PositionKind::kLearned:
      return "learned";
    case PositionKind::kRelative:
      return "relative";
    case PositionKind::kSinusoidalInterleaved:
      return "sinusoidal_interleaved";
  }
  return nullptr;
}
const char* WordOf(DecoderMemory value) {
  switch (value) {
    case DecoderMemory::kSelfAttention:
      return "self_attention";
    case DecoderMemory::kSsru:
      return "ssru";
  }
  return nullptr;
}

// visit(name, field) for every field. A field that is missing here does not compile.
template <typename Config, typename Visitor>
void VisitFields(Config& config, Visitor visit) {
  auto& [d_model, heads_encoder, heads_decoder, ffn_encoder, ffn_decoder, layers_encoder,
         layers_decoder, vocab_source, vocab_target, d_head, activation, gated_ffn, attention_scale,
         norm_kind, norm_order, norm_epsilon, embedding_scale, output_scale, embedding_norm,
         final_norm, decoder_memory, alignment_layer, alignment_heads, position_kind,
         position_offset, position_buckets, position_max_distance, max_positions, eos, unk,
         unk_target, decoder_start, source_suffix, suppressed] = config;
  visit("d_model", d_model);
  visit("heads_encoder", heads_encoder);
  visit("heads_decoder", heads_decoder);
  visit("ffn_encoder", ffn_encoder);
  visit("ffn_decoder", ffn_decoder);
  visit("layers_encoder", layers_encoder);
  visit("layers_decoder", layers_decoder);
  visit("vocab_source", vocab_source);
  visit("vocab_target", vocab_target);
  visit("d_head", d_head);
  visit("activation", activation);
  visit("gated_ffn", gated_ffn);
  visit("attention_scale", attention_scale);
  visit("norm_kind", norm_kind);
  visit("norm_order", norm_order);
  visit("norm_epsilon", norm_epsilon);
  visit("embedding_scale", embedding_scale);
  visit("output_scale", output_scale);
  visit("embedding_norm", embedding_norm);
  visit("final_norm", final_norm);
  visit("decoder_memory", decoder_memory);
  visit("alignment_layer", alignment_layer);
  visit("alignment_heads", alignment_heads);
  visit("position_kind", position_kind);
  visit("position_offset", position_offset);
  visit("position_buckets", position_buckets);
  visit("position_max_distance", position_max_distance);
  visit("max_positions", max_positions);
  visit("eos", eos);
  visit("unk", unk);
  visit("unk_target", unk_target);
  visit("decoder_start", decoder_start);
  visit("source_suffix", source_suffix);
  visit("suppressed", suppressed);
}

absl::Status Read(const ConfigFile& json, const std::string& name, int* field) {
  NIBU_ASSIGN_OR_RETURN(*field, json.Int(name, *field));
  return absl::OkStatus();
}

absl::Status Read(const ConfigFile& json, const std::string& name, bool* field) {
  NIBU_ASSIGN_OR_RETURN(*field, json.Bool(name, *field));
  return absl::OkStatus();
}

absl::Status Read(const ConfigFile& json, const std::string& name, float* field) {
  NIBU_ASSIGN_OR_RETURN(*field, json.Float(name, *field));
  return absl::OkStatus();
}

absl::Status Read(const ConfigFile& json, const std::string& name, std::vector<int>* field) {
  const nlohmann::json* value = json.Find(name);
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_array()) return json.Wrong(name, "a list of token ids");
  field->clear();
  for (const nlohmann::json& id : *value) {
    if (!id.is_number_unsigned() || id > INT32_MAX) return json.Wrong(name, "a list of token ids");
    field->push_back(id.get<int>());
  }
  return absl::OkStatus();
}

template <typename Enum>
absl::Status ReadWord(const ConfigFile& json, const std::string& name, Enum* field) {
  const nlohmann::json* value = json.Find(name);
  if (value == nullptr) return absl::OkStatus();
  std::vector<std::string> words;
  for (int i = 0; WordOf(static_cast<Enum>(i)) != nullptr; ++i) {
    words.emplace_back(WordOf(static_cast<Enum>(i)));
    if (*value == words.back()) {
      *field = static_cast<Enum>(i);
      return absl::OkStatus();
    }
  }
  return json.Wrong(name, absl::StrCat("one of ", absl::StrJoin(words, ", ")));
}

}  // namespace

nlohmann::json ConfigToJson(const ModelConfig& config) {
  nlohmann::json json;
  VisitFields(config, [&](const char* name, const auto& field) {
    using Field = std::remove_cv_t<std::remove_reference_t<decltype(field)>>;
    if constexpr (std::is_enum_v<Field>) {
      json[name] = WordOf(field);
    } else {
      json[name] = field;
    }
  });
  return json;
}

absl::Status ConfigFromJson(const ConfigFile& json, ModelConfig* config) {
  absl::Status status;
  std::set<std::string> known;
  VisitFields(*config, [&](const char* name, auto& field) {
    using Field = std::remove_reference_t<decltype(field)>;
    known.insert(name);
    if (!status.ok()) return;
    if constexpr (std::is_enum_v<Field>) {
      status = ReadWord(json, name, &field);
    } else {
      status = Read(json, name, &field);
    }
  });
  NIBU_RETURN_IF_ERROR(status);
  for (const auto& [name, value] : json.object().items()) {
    if (known.count(name) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(json.file(), ": unknown field \"", name, "\"; a newer nibu may know it"));
    }
  }
  return absl::OkStatus();
}

}  // namespace nibu
