#include "engine/attention/mixer_spec.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"

namespace nibu::internal {
namespace {

template <typename... Parts>
absl::Status Wrong(absl::string_view text, const Parts&... parts) {
  return InvalidOption("encoder_attention", " \"", text, "\": ", parts...);
}

}  // namespace

std::string MixerSpec::ToText() const {
  return std::visit(
      [this](const auto& own) {
        using M = std::decay_t<decltype(own)>;
        const M standard = {};
        std::vector<std::string> parts;
        for (const MixerParameter<M>& parameter : M::Parameters()) {
          const int value = own.*parameter.field;
          if (parameter.is_required || value != standard.*parameter.field) {
            parts.push_back(absl::StrCat(parameter.key, "=", value));
          }
        }
        if (score != Score::kScaledDot) {
          parts.push_back(absl::StrCat("score=", kScoreNames[static_cast<size_t>(score)]));
        }
        // The concat score and predicted windows are always dense.
        if (dense && score != Score::kConcat && !Is<PredictedWindow>()) {
          parts.emplace_back("dense=1");
        }
        return absl::StrCat(M::kName, parts.empty() ? "" : ":", absl::StrJoin(parts, ","));
      },
      mechanism);
}

absl::Status MixerSpec::Validate() const {
  const std::string text = ToText();
  NIBU_RETURN_IF_ERROR(std::visit(
      [&](const auto& own) {
        using M = std::decay_t<decltype(own)>;
        for (const MixerParameter<M>& parameter : M::Parameters()) {
          const int value = own.*parameter.field;
          if (value < parameter.low || value > parameter.high) {
            return Wrong(text, parameter.key, " must be ", parameter.low, " to ", parameter.high);
          }
        }
        return absl::OkStatus();
      },
      mechanism));
  if (!is_pattern()) {
    if (score != Score::kScaledDot) {
      return Wrong(text, "this algorithm has one score, scaled_dot");
    }
    if (dense) return Wrong(text, "this algorithm is never dense");
  }
  if (score == Score::kConcat && !is_dense()) {
    return Wrong(text, "concat is no product: it needs the dense algorithm");
  }
  if (tile() % FullAttention::kLeastTile != 0)
    return Wrong(text, "tile must be a multiple of ", FullAttention::kLeastTile);
  if (tile() != FullAttention::kMostTile && dense) {
    return Wrong(text, "only full attention has a tile, and not where it is dense");
  }
  if (const auto* pool = As<MeanPooling>(); pool != nullptr && pool->width % 2 == 0) {
    return Wrong(text, "width must be odd");
  }
  if (const auto* places = As<DeformableAttention>();
      places != nullptr && places->kernel % 2 == 0) {
    return Wrong(text, "kernel must be odd");
  }
  return absl::OkStatus();
}

int MixerSpec::keys(int count) const {
  const auto fewer = [count](int reduction) { return (count + reduction - 1) / reduction; };
  if (const auto* reduced = As<ReducedAttention>()) return fewer(reduced->reduction);
  if (const auto* places = As<DeformableAttention>()) return fewer(places->reduction);
  return count;
}

}  // namespace nibu::internal
