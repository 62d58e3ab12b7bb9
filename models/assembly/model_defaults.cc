// The names and ranges of a model's decoding options.
#include "models/assembly/model_defaults.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/core/status_macros.h"
#include "engine/search/decoding_options.h"

namespace nibu::internal {
namespace {

constexpr char kIgnored[] = "ignored";

// An option that is a number.
template <typename T, typename R>
struct Number {
  const char* name;
  std::optional<T> ModelDefaults::*field;
  Range<R> range;
};
constexpr Number<float, double> kFloats[] = {
    {"length_penalty", &ModelDefaults::length_penalty, DecodingOptions::kLengthPenalties},
    {"word_penalty", &ModelDefaults::word_penalty, DecodingOptions::kPenalties},
    {"max_length_factor", &ModelDefaults::max_length_factor, {0, 1000}},
    {"length_ratio", &ModelDefaults::length_ratio, {0.1, 10}},
    {"repetition_penalty", &ModelDefaults::repetition_penalty,
     DecodingOptions::kRepetitionPenalties}};
constexpr Number<int, int> kInts[] = {
    {"max_decoding_length", &ModelDefaults::max_decoding_length, kDecodingLengths},
    {"min_decoding_length", &ModelDefaults::min_decoding_length, {0, kDecodingLengths.most}},
    {"no_repeat_ngram_size", &ModelDefaults::no_repeat_ngram_size, {0, INT32_MAX}}};

// The lists of token ids.
struct List {
  const char* name;
  std::vector<int> ModelDefaults::*field;
};
constexpr List kLists[] = {{"end_tokens", &ModelDefaults::end_tokens},
                           {"begin_suppress_tokens", &ModelDefaults::begin_suppress_tokens}};

}  // namespace

absl::StatusOr<std::optional<int>> ReadInt(const ConfigFile& object, const std::string& name,
                                           const Range<int>& range) {
  NIBU_ASSIGN_OR_RETURN(const std::optional<int> value, object.OptionalInt(name));
  if (value.has_value() && (*value < range.least || *value > range.most)) {
    if (range.most == INT32_MAX) return object.Wrong(name, absl::StrCat(range.least, " or more"));
    return object.Wrong(name, absl::StrCat(range.least, " to ", range.most));
  }
  return value;
}

absl::StatusOr<std::vector<std::vector<int>>> ReadSequences(const ConfigFile& object,
                                                            const std::string& name,
                                                            int vocabulary) {
  std::vector<std::vector<int>> sequences;
  const nlohmann::json* const lists = object.Find(name);
  if (lists == nullptr) return sequences;
  const auto wrong = [&] {
    return object.Wrong(name, absl::StrCat("a list of lists of token ids below ", vocabulary));
  };
  if (!lists->is_array()) return wrong();
  for (const nlohmann::json& list : *lists) {
    if (!list.is_array() || list.empty()) return wrong();
    std::vector<int>& sequence = sequences.emplace_back();
    for (const nlohmann::json& id : list) {
      if (!id.is_number_integer() || id < 0 || id >= vocabulary) return wrong();
      sequence.push_back(id.get<int>());
    }
  }
  return sequences;
}

void AddSource(const ConfigFile& object, const std::string& name, ModelDefaults* defaults) {
  const nlohmann::json* const value = object.Find(name);
  if (value == nullptr) return;
  const absl::string_view file = object.FileOf(name);
  defaults->sources.push_back(
      absl::StrCat(file.substr(file.rfind('/') + 1), ": ", name, " ", QuotedJson(*value)));
}

absl::StatusOr<ModelDefaults> ReadModelDefaults(const ConfigFile& object, const char* beam) {
  ModelDefaults defaults;
  NIBU_ASSIGN_OR_RETURN(defaults.beam_size, ReadInt(object, beam, DecodingOptions::kBeamSizes));
  AddSource(object, beam, &defaults);
  for (const Number<int, int>& number : kInts) {
    NIBU_ASSIGN_OR_RETURN(defaults.*number.field, ReadInt(object, number.name, number.range));
    AddSource(object, number.name, &defaults);
  }
  for (const Number<float, double>& number : kFloats) {
    if (object.Find(number.name) == nullptr) continue;
    NIBU_ASSIGN_OR_RETURN(const float value, object.Float(number.name, 0));
    if (!(value >= number.range.least && value <= number.range.most)) {
      return object.Wrong(number.name, absl::StrCat(number.range.least, " to ", number.range.most));
    }
    defaults.*number.field = value;
    AddSource(object, number.name, &defaults);
  }
  const nlohmann::json* const stops = object.Find("early_stopping");
  defaults.early_stopping = stops != nullptr && *stops == true;  // the text "never" means false
  AddSource(object, "early_stopping", &defaults);
  return defaults;
}

absl::Status ReadTokenDefaults(const ConfigFile& object, int vocabulary, ModelDefaults* defaults) {
  for (const List& list : kLists) {
    if (object.Find(list.name) == nullptr) continue;
    NIBU_ASSIGN_OR_RETURN(defaults->*list.field,
                          object.IntList(list.name, 0, vocabulary - 1,
                                         absl::StrCat("a list of token ids below ", vocabulary)));
    AddSource(object, list.name, defaults);
  }
  NIBU_ASSIGN_OR_RETURN(defaults->suppress_sequences,
                        ReadSequences(object, "suppress_sequences", vocabulary));
  AddSource(object, "suppress_sequences", defaults);
  NIBU_ASSIGN_OR_RETURN(defaults->forced_bos, ReadInt(object, "forced_bos", {0, vocabulary - 1}));
  AddSource(object, "forced_bos", defaults);
  const nlohmann::json* const ignored = object.Find(kIgnored);
  if (ignored == nullptr) return absl::OkStatus();
  if (!ignored->is_object()) return object.Wrong(kIgnored, "an object of name: value");
  for (const auto& [name, value] : ignored->items()) defaults->ignored[name] = JsonText(value);
  AddSource(object, kIgnored, defaults);
  return absl::OkStatus();
}

nlohmann::ordered_json WriteModelDefaults(const ModelDefaults& defaults, const char* beam) {
  auto json = nlohmann::ordered_json::object();
  if (defaults.beam_size) json[beam] = *defaults.beam_size;
  for (const Number<int, int>& number : kInts) {
    if (const auto& value = defaults.*number.field) json[number.name] = *value;
  }
  for (const Number<float, double>& number : kFloats) {
    if (const auto& value = defaults.*number.field) json[number.name] = *value;
  }
  if (defaults.early_stopping) json["early_stopping"] = true;
  for (const List& list : kLists) {
    if (!(defaults.*list.field).empty()) json[list.name] = defaults.*list.field;
  }
  if (!defaults.suppress_sequences.empty()) {
    json["suppress_sequences"] = defaults.suppress_sequences;
  }
  if (defaults.forced_bos) json["forced_bos"] = *defaults.forced_bos;
  for (const auto& [name, value] : defaults.ignored) {
    json[kIgnored][name] = nlohmann::ordered_json::parse(value);
  }
  return json;
}

}  // namespace nibu::internal
