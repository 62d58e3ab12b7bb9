// Writes mechanisms as text, and checks their parameters.
#include "engine/attention/mixer_spec.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"

namespace nibu::internal {

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
        if (dense) parts.emplace_back("dense=1");
        return absl::StrCat(M::kName, parts.empty() ? "" : ":", absl::StrJoin(parts, ","));
      },
      mechanism);
}

absl::Status MixerSpec::Validate(absl::string_view option) const {
  const auto wrong = [&, text = ToText()](const auto&... parts) {
    return InvalidOption(option, " \"", text, "\": ", parts...);
  };
  NIBU_RETURN_IF_ERROR(std::visit(
      [&](const auto& own) {
        using M = std::decay_t<decltype(own)>;
        for (const MixerParameter<M>& parameter : M::Parameters()) {
          const int value = own.*parameter.field;
          if (value < parameter.low || value > parameter.high) {
            return wrong(parameter.key, " must be ", parameter.low, " to ", parameter.high);
          }
        }
        return absl::OkStatus();
      },
      mechanism));
  if (!is_pattern()) {
    if (score != Score::kScaledDot) return wrong("this algorithm has one score, scaled_dot");
    if (dense) return wrong("this algorithm is never dense");
  }
  if (tile() % FullAttention::kLeastTile != 0)
    return wrong("tile must be a multiple of ", FullAttention::kLeastTile);
  if (tile() != FullAttention::kMostTile && dense) {
    return wrong("only full attention has a tile, and not where it is dense");
  }
  if (const auto* pool = As<MeanPooling>(); pool != nullptr && pool->width % 2 == 0) {
    return wrong("width must be odd");
  }
  const auto* const places = As<DeformableAttention>();
  const auto* const factorized = As<FactorizedAttention>();
  if ((places != nullptr && places->kernel % 2 == 0) ||
      (factorized != nullptr && factorized->kernel > 0 && factorized->kernel % 2 == 0)) {
    return wrong("kernel must be odd");
  }
  return absl::OkStatus();
}

int MixerSpec::reduction() const {
  if (const auto* mean = As<MeanAttention>()) return mean->reduction;
  if (const auto* reduced = As<ReducedAttention>()) return reduced->reduction;
  return 1;
}

int MixerSpec::mapped_keys(int count) const {
  if (const auto* reduced = As<ReducedAttention>()) return CeilOf(count, reduced->reduction);
  if (const auto* places = As<DeformableAttention>()) return CeilOf(count, places->reduction);
  return count;
}

int MixerSpec::biased_width() const {
  if (const auto* shifted = As<ShiftedWindows>()) return shifted->bias * shifted->width;
  if (const auto* blocks = As<BlockGrid>()) return blocks->bias * blocks->width;
  return 0;
}

bool MixerSpec::has_two_parts() const {
  const auto* const blocks = As<BlockGrid>();
  return blocks != nullptr && blocks->both != 0;
}

MixerSpec MixerSpec::Part(int part) const {
  MixerSpec spec = *this;
  if (has_two_parts()) spec.layer = part;  // an even layer's windows, an odd layer's grid
  return spec;
}

}  // namespace nibu::internal
