// Reads mechanisms from text: a name and its parameters.
#include "models/assembly/mixer_text.h"

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"

namespace nibu::internal {
namespace {

// Calls f with a value of each mechanism, until it returns true.
template <typename F, size_t... index>
void ForEachMechanism(F f, std::index_sequence<index...> /*all*/) {
  (f(std::variant_alternative_t<index, MixerSpec::Mechanism>()) || ...);
}
template <typename F>
void ForEachMechanism(F f) {
  ForEachMechanism(f, std::make_index_sequence<std::variant_size_v<MixerSpec::Mechanism>>());
}

// A text that says how layers attend, and the option by which it was given.
struct Given {
  absl::string_view text;
  absl::string_view option;

  template <typename... Parts>
  absl::Status Wrong(const Parts&... parts) const {
    return InvalidOption(option, " \"", text, "\": ", parts...);
  }
};

absl::StatusOr<MixerSpec::Mechanism> FindMechanism(const Given& given, absl::string_view name) {
  std::optional<MixerSpec::Mechanism> found;
  std::vector<absl::string_view> names;
  ForEachMechanism([&](const auto& mechanism) {
    using M = std::decay_t<decltype(mechanism)>;
    MixerSpec spec;
    spec.mechanism = mechanism;
    if (given.option != kCrossAttention || spec.fits_cross_attention()) names.push_back(M::kName);
    if (name == M::kName) found = mechanism;
    return found.has_value();
  });
  if (found.has_value()) return *found;
  return given.Wrong("no such mechanism; there are ", absl::StrJoin(names, ", "));
}

// Sets what `key` names: a parameter of the mechanism, which is spec's own, or the score.
template <typename M>
absl::Status SetParameter(const Given& given, absl::string_view key, absl::string_view value,
                          M* own, MixerSpec* spec) {
  int number = 0;
  const bool is_number = absl::SimpleAtoi(value, &number);
  if (M::kIsPattern && key == "score") {
    const auto* const score = absl::c_find(kScoreNames, value);
    if (score == kScoreNames.end()) {
      return given.Wrong("score must be one of ", absl::StrJoin(kScoreNames, ", "));
    }
    spec->score = static_cast<Score>(score - kScoreNames.begin());
    return absl::OkStatus();
  }
  if (M::kIsPattern && key == "dense" && is_number && (number == 0 || number == 1)) {
    spec->dense = number == 1;
    return absl::OkStatus();
  }
  std::vector<absl::string_view> keys;
  for (const MixerParameter<M>& parameter : M::Parameters()) {
    keys.push_back(parameter.key);
    if (key != parameter.key) continue;
    if (!is_number) return given.Wrong(key, " must be a number");
    own->*parameter.field = number;
    return absl::OkStatus();
  }
  if (M::kIsPattern) keys.insert(keys.end(), {"score", "dense"});
  return given.Wrong("no \"", absl::StrCat(key, "=", value), "\" here",
                     keys.empty() ? "" : absl::StrCat("; it has ", absl::StrJoin(keys, ", ")));
}

// Reads "VALUE" or "KEY=VALUE,...".
template <typename M>
absl::Status ReadParameters(const Given& given, absl::string_view values, M* own, MixerSpec* spec) {
  constexpr auto kParameters = M::Parameters();
  std::vector<absl::string_view> keys;
  for (const absl::string_view part : absl::StrSplit(values, ',', absl::SkipEmpty())) {
    std::pair<absl::string_view, absl::string_view> value =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    if constexpr (kParameters.size() > 0) {
      if (value.second.empty()) value = {kParameters[0].key, value.first};
    }
    if (absl::c_linear_search(keys, value.first)) {
      return given.Wrong(value.first, " is given twice");
    }
    keys.push_back(value.first);
    NIBU_RETURN_IF_ERROR(SetParameter(given, value.first, value.second, own, spec));
  }
  for (const MixerParameter<M>& parameter : kParameters) {
    if (parameter.is_required && !absl::c_linear_search(keys, parameter.key)) {
      return given.Wrong("it needs ", parameter.key, "=NUMBER");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MixerSpec> ParseMixer(absl::string_view text, absl::string_view option) {
  const Given given = {text, option};
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  MixerSpec spec;
  NIBU_ASSIGN_OR_RETURN(spec.mechanism, FindMechanism(given, parts.first));
  NIBU_RETURN_IF_ERROR(std::visit(
      [&](auto& own) { return ReadParameters(given, parts.second, &own, &spec); }, spec.mechanism));
  NIBU_RETURN_IF_ERROR(spec.Validate(option));
  return spec;
}

absl::StatusOr<std::vector<MixerSpec>> ParseMixers(absl::string_view text,
                                                   absl::string_view option) {
  std::vector<MixerSpec> mixers;
  if (text.empty()) return mixers;
  for (const absl::string_view part : absl::StrSplit(text, ';')) {
    NIBU_ASSIGN_OR_RETURN(mixers.emplace_back(), ParseMixer(part, option));
  }
  return mixers;
}

std::string MixersToText(const std::vector<MixerSpec>& mixers) {
  return absl::StrJoin(mixers, ";", [](std::string* out, const MixerSpec& mixer) {
    absl::StrAppend(out, mixer.ToText());
  });
}

}  // namespace nibu::internal
