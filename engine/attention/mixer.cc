#include "engine/attention/mixer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/attention/cache.h"
#include "engine/core/status_macros.h"

namespace nibu {
namespace {

constexpr int kMost = 1 << 16;  // positions of any model

struct Parameter {
  absl::string_view key;
  int MixerSpec::*field;
  int low;
  int standard = -1;  // -1: none
  int high = kMost;
};

// A mixer as its text has it.
struct Form {
  absl::string_view name;
  Pattern pattern;
  Algorithm algorithm;
  std::vector<Parameter> parameters = {};
};

const std::vector<Form>& Forms() {
  using P = Pattern;
  using A = Algorithm;
  static const Parameter kWidth = {"width", &MixerSpec::width, 0};
  static const Parameter kWindows = {"width", &MixerSpec::width, 2};
  static const Parameter kReduction = {"reduction", &MixerSpec::reduction, 1};
  static const Parameter kTile = {"tile", &MixerSpec::tile, kKeyBlock, MixerSpec::kMostTile,
                                  MixerSpec::kMostTile};
  static const Parameter kSeed = {"seed", &MixerSpec::seed, 0, 1};
  static const auto& forms = *new std::vector<Form>{
      {"full", P::kGlobal, A::kTiled, {kTile}},
      {"causal", P::kCausal, A::kTiled},
      {"window", P::kWindow, A::kTiled, {kWidth}},
      {"local_m", P::kWindow, A::kTiled, {kWidth}},
      {"local_p", P::kLocal, A::kDense, {{"width", &MixerSpec::width, 1}}},
      {"shifted", P::kShifted, A::kTiled, {kWindows}},
      {"block_grid", P::kBlockGrid, A::kTiled, {kWindows}},
      {"bigbird",
       P::kBigBird,
       A::kTiled,
       {{"window", &MixerSpec::width, 0, 64},
        {"global", &MixerSpec::global, 0, 8},
        {"random", &MixerSpec::random, 0, 2, 64},
        {"block", &MixerSpec::block, 1, 64},
        kSeed}},
      {"lsh",
       P::kGlobal,
       A::kLsh,
       {{"bucket", &MixerSpec::bucket, 1, 64}, {"rounds", &MixerSpec::rounds, 1, 4, 64}, kSeed}},
      {"mean", P::kGlobal, A::kMean, {kReduction}},
      {"reduction", P::kGlobal, A::kReduction, {{"reduction", &MixerSpec::reduction, 1, -1, 256}}},
      {"factorized", P::kGlobal, A::kFactorized},
      {"deformable",
       P::kGlobal,
       A::kDeformable,
       {kReduction, {"kernel", &MixerSpec::kernel, 1, 5, 63}}},
      {"pool", P::kGlobal, A::kPool, {{"width", &MixerSpec::width, 1, 3}}},
      {"mlp",
       P::kGlobal,
       A::kTokenMlp,
       {{"positions", &MixerSpec::positions, 1}, {"hidden", &MixerSpec::hidden, 0, 0}}},
  };
  return forms;
}

// In the order of Score.
constexpr absl::string_view kScores[] = {"scaled_dot", "dot", "general", "concat"};

const Form* FormOf(const MixerSpec& spec) {
  for (const Form& form : Forms()) {
    const bool dense = spec.algorithm == Algorithm::kDense && form.algorithm == Algorithm::kTiled;
    if (form.pattern == spec.pattern && (dense || form.algorithm == spec.algorithm)) return &form;
  }
  return nullptr;
}

template <typename... Parts>
absl::Status Wrong(absl::string_view text, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("encoder_attention \"", text, "\": ", parts...));
}

absl::Status SetParameter(absl::string_view text, absl::string_view key, absl::string_view value,
                          const Form& form, MixerSpec* spec) {
  int number = 0;
  const bool is_number = absl::SimpleAtoi(value, &number);
  const bool has_forms = form.algorithm == Algorithm::kTiled || form.algorithm == Algorithm::kDense;
  if (has_forms && key == "score") {
    const auto* const score = std::find(std::begin(kScores), std::end(kScores), value);
    if (score == std::end(kScores)) {
      return Wrong(text, "score must be one of ", absl::StrJoin(kScores, ", "));
    }
    spec->score = static_cast<Score>(score - kScores);
    return absl::OkStatus();
  }
  if (has_forms && key == "dense" && is_number && (number == 0 || number == 1)) {
    if (number == 1) spec->algorithm = Algorithm::kDense;
    return absl::OkStatus();
  }
  std::vector<absl::string_view> keys;
  for (const Parameter& parameter : form.parameters) {
    keys.push_back(parameter.key);
    if (key != parameter.key) continue;
    if (!is_number) return Wrong(text, key, " must be a number");
    spec->*parameter.field = number;
    return absl::OkStatus();
  }
  if (has_forms) keys.insert(keys.end(), {"score", "dense"});
  return Wrong(text, "no \"", absl::StrCat(key, "=", value), "\" here",
               keys.empty() ? "" : absl::StrCat("; it has ", absl::StrJoin(keys, ", ")));
}

}  // namespace

absl::StatusOr<MixerSpec> MixerSpec::Parse(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  const auto form = std::find_if(Forms().begin(), Forms().end(),
                                 [&](const Form& f) { return f.name == parts.first; });
  if (form == Forms().end()) {
    return Wrong(text, "no such mechanism; there are ",
                 absl::StrJoin(Forms(), ", ", [](std::string* out, const Form& f) {
                   absl::StrAppend(out, f.name);
                 }));
  }
  MixerSpec spec;
  spec.pattern = form->pattern;
  spec.algorithm = form->algorithm;
  for (const Parameter& parameter : form->parameters) spec.*parameter.field = parameter.standard;
  std::vector<absl::string_view> given;
  const auto is_given = [&](absl::string_view key) {
    return std::find(given.begin(), given.end(), key) != given.end();
  };
  for (const absl::string_view part : absl::StrSplit(parts.second, ',', absl::SkipEmpty())) {
    std::pair<absl::string_view, absl::string_view> value =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (value.second.empty() && !form->parameters.empty()) {
      value = {form->parameters[0].key, value.first};
    }
    if (is_given(value.first)) return Wrong(text, value.first, " is given twice");
    given.push_back(value.first);
    NIBU_RETURN_IF_ERROR(SetParameter(text, value.first, value.second, *form, &spec));
  }
  for (const Parameter& parameter : form->parameters) {
    if (parameter.standard == -1 && !is_given(parameter.key)) {
      return Wrong(text, "it needs ", parameter.key, "=NUMBER");
    }
  }
  if (spec.score == Score::kConcat && !is_given("dense")) spec.algorithm = Algorithm::kDense;
  NIBU_RETURN_IF_ERROR(spec.Validate());
  return spec;
}

std::string MixerSpec::ToText() const {
  const Form* const form = FormOf(*this);
  if (form == nullptr) return "";
  std::vector<std::string> parts;
  for (const Parameter& parameter : form->parameters) {
    const int value = this->*parameter.field;
    if (value != parameter.standard) parts.push_back(absl::StrCat(parameter.key, "=", value));
  }
  if (score != Score::kScaledDot) {
    parts.push_back(absl::StrCat("score=", kScores[static_cast<size_t>(score)]));
  }
  if (algorithm != form->algorithm && score != Score::kConcat) parts.emplace_back("dense=1");
  return absl::StrCat(form->name, parts.empty() ? "" : ":", absl::StrJoin(parts, ","));
}

absl::Status MixerSpec::Validate() const {
  const Form* const form = FormOf(*this);
  if (form == nullptr) {
    return absl::InvalidArgumentError("encoder_attention: this algorithm has no patterns");
  }
  const std::string text = ToText();
  for (const Parameter& parameter : form->parameters) {
    const int value = this->*parameter.field;
    if (value < parameter.low || value > parameter.high) {
      return Wrong(text, parameter.key, " must be ", parameter.low, " to ", parameter.high);
    }
  }
  if (score != Score::kScaledDot && algorithm != Algorithm::kTiled &&
      algorithm != Algorithm::kDense) {
    return Wrong(text, "this algorithm has one score, scaled_dot");
  }
  if (score == Score::kConcat && algorithm != Algorithm::kDense) {
    return Wrong(text, "concat is no product: it needs the dense algorithm");
  }
  if (tile % kKeyBlock != 0) return Wrong(text, "tile must be a multiple of ", kKeyBlock);
  if (tile != kMostTile && (pattern != Pattern::kGlobal || algorithm != Algorithm::kTiled)) {
    return Wrong(text, "only full attention has a tile, and not where it is dense");
  }
  if (algorithm == Algorithm::kPool && width % 2 == 0) return Wrong(text, "width must be odd");
  if (algorithm == Algorithm::kDeformable && kernel % 2 == 0) {
    return Wrong(text, "kernel must be odd");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<MixerSpec>> ParseMixers(absl::string_view text) {
  std::vector<MixerSpec> mixers;
  if (text.empty()) return mixers;
  for (const absl::string_view part : absl::StrSplit(text, ';')) {
    NIBU_ASSIGN_OR_RETURN(mixers.emplace_back(), MixerSpec::Parse(part));
  }
  return mixers;
}

std::string MixersToText(const std::vector<MixerSpec>& mixers) {
  return absl::StrJoin(mixers, ";", [](std::string* out, const MixerSpec& mixer) {
    absl::StrAppend(out, mixer.ToText());
  });
}

}  // namespace nibu
