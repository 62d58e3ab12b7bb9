// The names and ranges of a model's decoding options.
#include "models/assembly/model_defaults.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "engine/core/check_range.h"
#include "engine/core/status_macros.h"
#include "engine/search/decoding_options.h"

namespace nibu::internal {
namespace {

// A floating-point option.
struct Number {
  const char* name;
  std::optional<float> ModelDefaults::*field;
  Range<double> range;
};
constexpr Number kNumbers[] = {
    {"length_penalty", &ModelDefaults::length_penalty, DecodingOptions::kLengthPenalties},
    {"word_penalty", &ModelDefaults::word_penalty, DecodingOptions::kPenalties},
    {"max_length_factor", &ModelDefaults::max_length_factor, {0, 1000}},
    {"length_ratio", &ModelDefaults::length_ratio, {0.1, 10}}};

// Refuses a field that is set and out of its range.
template <typename T, typename R>
absl::Status CheckField(const ConfigFile& object, const char* name, std::optional<T> value,
                        const Range<R>& range) {
  if (!value.has_value() || (*value >= range.least && *value <= range.most)) {
    return absl::OkStatus();
  }
  return object.Wrong(name, absl::StrCat(range.least, " to ", range.most));
}

// Hugging Face's configurations are told from others by their name of the beam's size.
bool IsHuggingFace(absl::string_view beam) { return beam == "num_beams"; }

}  // namespace

absl::StatusOr<ModelDefaults> ReadModelDefaults(const ConfigFile& object, const char* beam) {
  ModelDefaults defaults;
  NIBU_ASSIGN_OR_RETURN(defaults.beam_size, object.OptionalInt(beam));
  NIBU_RETURN_IF_ERROR(CheckField(object, beam, defaults.beam_size, DecodingOptions::kBeamSizes));
  const bool is_hugging_face = IsHuggingFace(beam);
  const char* const longest = is_hugging_face ? "max_length" : "max_decoding_length";
  NIBU_ASSIGN_OR_RETURN(defaults.max_decoding_length, object.OptionalInt(longest));
  std::optional<int>& length = defaults.max_decoding_length;
  NIBU_RETURN_IF_ERROR(CheckField(object, longest, length, Range<int>{1, 1 << 20}));
  if (length.has_value() && is_hugging_face) length = std::max(1, *length - 1);
  NIBU_ASSIGN_OR_RETURN(defaults.no_repeat_ngram_size, object.OptionalInt("no_repeat_ngram_size"));
  if (defaults.no_repeat_ngram_size.value_or(0) < 0) {
    return object.Wrong("no_repeat_ngram_size", "0 or more");
  }
  for (const Number& number : kNumbers) {
    if (object.Find(number.name) == nullptr) continue;
    std::optional<float>& value = defaults.*number.field;
    NIBU_ASSIGN_OR_RETURN(value, object.Float(number.name, 0));
    NIBU_RETURN_IF_ERROR(CheckField(object, number.name, value, number.range));
  }
  const nlohmann::json* const stops = object.Find("early_stopping");
  defaults.early_stopping = stops != nullptr && *stops == true;  // the text "never" means false
  return defaults;
}

nlohmann::ordered_json WriteModelDefaults(const ModelDefaults& defaults, const char* beam) {
  auto json = nlohmann::ordered_json::object();
  if (defaults.beam_size) json[beam] = *defaults.beam_size;
  if (defaults.max_decoding_length) {
    const bool is_hugging_face = IsHuggingFace(beam);
    json[is_hugging_face ? "max_length" : "max_decoding_length"] =
        *defaults.max_decoding_length + (is_hugging_face ? 1 : 0);
  }
  if (defaults.no_repeat_ngram_size) json["no_repeat_ngram_size"] = *defaults.no_repeat_ngram_size;
  for (const Number& number : kNumbers) {
    if (const auto& value = defaults.*number.field) json[number.name] = *value;
  }
  if (defaults.early_stopping) json["early_stopping"] = true;
  return json;
}

}  // namespace nibu::internal
