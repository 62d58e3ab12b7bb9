// Visits the fields of ModelConfig by their names, which a macro lists once.
#include "models/native/model_config_json.h"

#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/assembly/layer_attention.h"
#include "models/assembly/mixer_text.h"

namespace nibu::internal {
namespace {

template <typename Enum>
using Word = std::pair<absl::string_view, Enum>;

constexpr Word<Activation> kActivations[] = {
    {"none", Activation::kNone},   {"relu", Activation::kRelu},
    {"gelu", Activation::kGelu},   {"gelu_tanh", Activation::kGeluTanh},
    {"swish", Activation::kSwish}, {"gelu_sigmoid", Activation::kGeluSigmoid}};
constexpr Word<NormKind> kNormKinds[] = {{"layer", NormKind::kLayer}, {"rms", NormKind::kRms}};
constexpr Word<NormOrder> kNormOrders[] = {{"post", NormOrder::kPost}, {"pre", NormOrder::kPre}};
constexpr Word<PositionKind> kPositionKinds[] = {
    {"sinusoidal_half", PositionKind::kSinusoidalHalf},
    {"sinusoidal_half_minus_one", PositionKind::kSinusoidalHalfMinusOne},
    {"learned", PositionKind::kLearned},
    {"relative", PositionKind::kRelative},
    {"relative_vectors", PositionKind::kRelativeVectors},
    {"sinusoidal_interleaved", PositionKind::kSinusoidalInterleaved}};
constexpr Word<DecoderMemory> kDecoderMemories[] = {
    {"self_attention", DecoderMemory::kSelfAttention}, {"ssru", DecoderMemory::kSsru}};

absl::Span<const Word<Activation>> WordsOf(Activation) { return kActivations; }
absl::Span<const Word<NormKind>> WordsOf(NormKind) { return kNormKinds; }
absl::Span<const Word<NormOrder>> WordsOf(NormOrder) { return kNormOrders; }
absl::Span<const Word<PositionKind>> WordsOf(PositionKind) { return kPositionKinds; }
absl::Span<const Word<DecoderMemory>> WordsOf(DecoderMemory) { return kDecoderMemories; }

template <typename Enum>
std::string WordFor(Enum value) {
  for (const auto& [word, meaning] : WordsOf(value)) {
    if (meaning == value) return std::string(word);
  }
  return "";  // no enumeration has this word, so that the writer's check of its file fails
}

// All fields. If one is missing here, VisitFields does not compile.
#define NIBU_CONFIG_FIELDS                                                                         \
  d_model, heads_encoder, heads_decoder, ffn_encoder, ffn_decoder, layers_encoder, layers_decoder, \
      vocab_source, vocab_target, d_head, activation, gated_ffn, attention_scale, norm_kind,       \
      norm_order, norm_epsilon, embedding_scale, output_scale, embedding_norm, final_norm,         \
      decoder_memory, encoder_attention, cross_attention, alignment_layer, alignment_heads,        \
      position_kind, position_offset, position_buckets, position_max_distance, max_positions, eos, \
      unk, unk_target, decoder_start, source_suffix, suppressed, output_tokens
#define NIBU_TEXT_OF(...) #__VA_ARGS__
#define NIBU_TEXT(...) NIBU_TEXT_OF(__VA_ARGS__)

// Calls visit(name, field) for every field.
template <typename Config, typename Visitor>
void VisitFields(Config& config, Visitor visit) {
  const std::vector<std::string> names =
      absl::StrSplit(NIBU_TEXT(NIBU_CONFIG_FIELDS), absl::ByAnyChar(", "), absl::SkipEmpty());
  auto& [NIBU_CONFIG_FIELDS] = config;
  size_t i = 0;
  const auto visit_all = [&](auto&... fields) { (visit(names[i++], fields), ...); };
  visit_all(NIBU_CONFIG_FIELDS);
}

// Returns the field's value in `json`, or `absent`.
template <typename Field>
absl::StatusOr<Field> Read(const ConfigFile& json, const std::string& name, const Field& absent) {
  if constexpr (std::is_same_v<Field, int>) {
    return json.Int(name, absent);
  } else if constexpr (std::is_same_v<Field, bool>) {
    return json.Bool(name, absent);
  } else if constexpr (std::is_same_v<Field, float>) {
    return json.Float(name, absent);
  } else if constexpr (std::is_enum_v<Field>) {
    return json.OneOf<Field>(name, WordFor(absent), WordsOf(absent));
  } else if constexpr (std::is_same_v<Field, std::vector<MixerSpec>>) {
    return ReadLayerAttention(json, name);
  } else if (json.Find(name) == nullptr) {
    return absent;
  } else {
    return json.IntList(name, 0, INT32_MAX, "a list of token ids");
  }
}

}  // namespace

nlohmann::json ConfigToJson(const ModelConfig& config) {
  nlohmann::json json;
  VisitFields(config, [&](const std::string& name, const auto& field) {
    using Field = std::remove_cv_t<std::remove_reference_t<decltype(field)>>;
    if constexpr (std::is_enum_v<Field>) {
      json[name] = WordFor(field);
    } else if constexpr (std::is_same_v<Field, std::vector<MixerSpec>>) {
      json[name] = MixersToText(field);
    } else {
      json[name] = field;
    }
  });
  return json;
}

absl::Status ConfigFromJson(const ConfigFile& json, ModelConfig* config) {
  absl::Status status;
  std::set<std::string> known;
  VisitFields(*config, [&](const std::string& name, auto& field) {
    known.insert(name);
    if (!status.ok()) return;
    auto value = Read(json, name, field);
    status = value.status();
    if (status.ok()) field = *std::move(value);
  });
  NIBU_RETURN_IF_ERROR(status);
  for (const auto& [name, value] : json.object().items()) {
    if (known.count(name) == 0) {
      return Invalid(json.file(), ": unknown field \"", name, "\"; a newer nibu may know it");
    }
  }
  return absl::OkStatus();
}

}  // namespace nibu::internal
