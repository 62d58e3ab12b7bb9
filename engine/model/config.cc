// Checks that a model's shape makes sense, field by field.
#include "engine/model/config.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"

namespace nibu::internal {
namespace {

// Far above any model there is; below them no product of two sizes overflows an int.
constexpr int kMaxDimension = 1 << 16;
constexpr int kMaxLayers = 1000;
constexpr int kMaxVocabulary = 1 << 24;
constexpr int kMaxPositions = 1 << 16;

template <typename T, typename... Expected>
absl::Status Check(bool is_right, absl::string_view field, T value, const Expected&... expected) {
  if (is_right) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("model configuration: ", field, " is ", value, ", ", expected...));
}

absl::Status InRange(const char* field, int value, int low, int high) {
  return Check(value >= low && value <= high, field, value, "expected ", low, " to ", high);
}

absl::Status Divisible(const char* field, int value, const char* by_field, int by) {
  return Check(value % by == 0, field, value, "not a multiple of ", by_field, ", ", by);
}

// Requires a number above 0.
absl::Status Scale(const char* field, float value) {
  return Check(std::isfinite(value) && value > 0, field, value, "expected above 0");
}

// One mechanism for all layers, or one for each, each valid.
absl::Status OneOrAll(absl::string_view field, const std::vector<MixerSpec>& mixers, int layers) {
  NIBU_RETURN_IF_ERROR(Check(mixers.size() < 2 || mixers.size() == static_cast<size_t>(layers),
                             absl::StrCat("the length of ", field), mixers.size(),
                             "expected 1, or ", layers, ", one for each layer"));
  for (const MixerSpec& mixer : mixers) NIBU_RETURN_IF_ERROR(mixer.Validate(field));
  return absl::OkStatus();
}

}  // namespace

absl::Status ModelConfig::Validate() const {
  NIBU_RETURN_IF_ERROR(InRange("d_model", d_model, 1, kMaxDimension));
  NIBU_RETURN_IF_ERROR(InRange("heads_encoder", heads_encoder, 1, kMaxDimension));
  NIBU_RETURN_IF_ERROR(InRange("heads_decoder", heads_decoder, 1, kMaxDimension));
  NIBU_RETURN_IF_ERROR(InRange("d_head", d_head, 0, kMaxDimension));
  if (d_head > 0) {
    const int most = kMaxDimension / std::max(heads_encoder, heads_decoder);
    NIBU_RETURN_IF_ERROR(InRange("d_head", d_head, 1, most));
  } else {
    NIBU_RETURN_IF_ERROR(Divisible("d_model", d_model, "heads_encoder", heads_encoder));
    NIBU_RETURN_IF_ERROR(Divisible("d_model", d_model, "heads_decoder", heads_decoder));
  }
  NIBU_RETURN_IF_ERROR(InRange("ffn_encoder", ffn_encoder, 1, kMaxDimension));
  NIBU_RETURN_IF_ERROR(InRange("ffn_decoder", ffn_decoder, 1, kMaxDimension));
  NIBU_RETURN_IF_ERROR(InRange("layers_encoder", layers_encoder, 1, kMaxLayers));
  NIBU_RETURN_IF_ERROR(InRange("layers_decoder", layers_decoder, 1, kMaxLayers));
  NIBU_RETURN_IF_ERROR(
      InRange("alignment_layer", alignment_layer, -layers_decoder, layers_decoder - 1));
  NIBU_RETURN_IF_ERROR(InRange("alignment_heads", alignment_heads, 0, heads_decoder));
  NIBU_RETURN_IF_ERROR(OneOrAll("encoder_attention", encoder_attention, layers_encoder));
  NIBU_RETURN_IF_ERROR(OneOrAll("cross_attention", cross_attention, layers_decoder));
  for (const MixerSpec& mixer : encoder_attention) {
    NIBU_RETURN_IF_ERROR(Check(position_kind != PositionKind::kRelative || mixer.keeps_positions(),
                               "encoder_attention", mixer.ToText(),
                               "which has no place for relative positions"));
    NIBU_RETURN_IF_ERROR(Check(position_kind != PositionKind::kRelativeVectors || mixer.is_full(),
                               "encoder_attention", mixer.ToText(),
                               "expected full for a model with relative position vectors"));
    const auto* const mlp = mixer.As<TokenMlp>();
    NIBU_RETURN_IF_ERROR(Check(mlp == nullptr || max_positions <= mlp->positions, "max_positions",
                               max_positions, "more than encoder_attention ", mixer.ToText(),
                               " has"));
  }
  for (const MixerSpec& mixer : cross_attention) {
    NIBU_RETURN_IF_ERROR(Check(mixer.fits_cross_attention(), "cross_attention", mixer.ToText(),
                               "which is for encoder layers; cross-attention has full, local_m, "
                               "local_p, mean and reduction"));
  }
  NIBU_RETURN_IF_ERROR(InRange("vocab_source", vocab_source, 2, kMaxVocabulary));
  NIBU_RETURN_IF_ERROR(InRange("vocab_target", vocab_target, 2, kMaxVocabulary));
  NIBU_RETURN_IF_ERROR(InRange("position_offset", position_offset, 0, kMaxPositions));
  NIBU_RETURN_IF_ERROR(InRange("max_positions", max_positions, 2, kMaxPositions));
  if (position_kind == PositionKind::kRelative) {
    NIBU_RETURN_IF_ERROR(InRange("position_buckets", position_buckets, 4, kMaxPositions));
    NIBU_RETURN_IF_ERROR(InRange("position_max_distance", position_max_distance,
                                 position_buckets / 2 + 1, kMaxPositions));
  } else if (position_kind == PositionKind::kRelativeVectors) {
    NIBU_RETURN_IF_ERROR(InRange("position_max_distance", position_max_distance, 1, kMaxPositions));
  } else if (position_kind != PositionKind::kLearned) {
    NIBU_RETURN_IF_ERROR(Divisible("d_model", d_model, "2 (sinusoidal positions)", 2));
  }
  NIBU_RETURN_IF_ERROR(Check(norm_epsilon > 0.0f && norm_epsilon < 1.0f, "norm_epsilon",
                             norm_epsilon, "expected above 0, below 1"));
  NIBU_RETURN_IF_ERROR(Scale("embedding_scale", embedding_scale));
  NIBU_RETURN_IF_ERROR(Scale("output_scale", output_scale));
  NIBU_RETURN_IF_ERROR(Check(output_scale == 1.0f || final_norm, "output_scale", output_scale,
                             "expected 1 without final_norm"));
  NIBU_RETURN_IF_ERROR(Check(std::isfinite(attention_scale) && attention_scale >= 0,
                             "attention_scale", attention_scale, "expected 0 or above"));
  NIBU_RETURN_IF_ERROR(InRange("eos", eos, 0, vocab_target - 1));
  NIBU_RETURN_IF_ERROR(InRange("unk", unk, 0, vocab_source - 1));
  NIBU_RETURN_IF_ERROR(InRange("unk_target", unk_target, 0, vocab_target - 1));
  NIBU_RETURN_IF_ERROR(InRange("decoder_start", decoder_start, -1, vocab_target - 1));
  for (const int id : source_suffix) {
    NIBU_RETURN_IF_ERROR(InRange("source_suffix", id, 0, vocab_source - 1));
  }
  for (const int id : suppressed) {
    NIBU_RETURN_IF_ERROR(InRange("suppressed", id, 0, vocab_target - 1));
    NIBU_RETURN_IF_ERROR(Check(id != eos, "suppressed", id, "the end token"));
  }
  for (size_t i = 0; i < output_tokens.size(); ++i) {
    NIBU_RETURN_IF_ERROR(InRange("output_tokens", output_tokens[i],
                                 i == 0 ? 0 : output_tokens[i - 1] + 1, vocab_target - 1));
  }
  NIBU_RETURN_IF_ERROR(Check(output_tokens.empty() || absl::c_binary_search(output_tokens, eos),
                             "output_tokens", "a list", "without the end token"));
  const int suffix = static_cast<int>(source_suffix.size());
  return Check(suffix < max_positions, "the length of source_suffix", suffix, "all positions");
}

}  // namespace nibu::internal
