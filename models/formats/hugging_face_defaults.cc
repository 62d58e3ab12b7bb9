// Turns transformers' names and lengths into nibu's, and back.
#include "models/formats/hugging_face_defaults.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "models/assembly/model_defaults.h"

namespace nibu::internal {
namespace {

// A field that may change translations and that nibu does not obey.
struct IgnoredField {
  const char* name;
  bool one = false;             // the value that changes nothing is 1; otherwise false, 0 or none
  const char* needs = nullptr;  // another field, without which this one changes nothing
};
constexpr IgnoredField kIgnored[] = {{"do_sample"},
                                     {"temperature", true, "do_sample"},
                                     {"top_k", false, "do_sample"},
                                     {"top_p", true, "do_sample"},
                                     {"min_p", false, "do_sample"},
                                     {"typical_p", true, "do_sample"},
                                     {"epsilon_cutoff", false, "do_sample"},
                                     {"eta_cutoff", false, "do_sample"},
                                     {"num_beam_groups", true},
                                     {"diversity_penalty", false, "num_beam_groups"},
                                     {"penalty_alpha"},
                                     {"dola_layers"},
                                     {"guidance_scale", true},
                                     {"sequence_bias"},
                                     {"encoder_repetition_penalty", true},
                                     {"encoder_no_repeat_ngram_size"},
                                     {"exponential_decay_length_penalty"},
                                     {"forced_decoder_ids"},
                                     {"force_words_ids"},
                                     {"constraints"},
                                     {"renormalize_logits"},
                                     {"watermarking_config"},
                                     {"token_healing"},
                                     {"stop_strings"},
                                     {"max_time"},
                                     {"num_return_sequences", true}};

void Ignore(const ConfigFile& config, const char* name, ModelDefaults* defaults) {
  defaults->ignored[name] = JsonText(*config.Find(name));
  AddSource(config, name, defaults);
}

void ListIgnored(const ConfigFile& config, ModelDefaults* defaults) {
  for (const IgnoredField& field : kIgnored) {
    const nlohmann::json* const value = config.Find(field.name);
    if (field.needs != nullptr && !defaults->ignored.contains(field.needs)) continue;
    if (field.one ? value == nullptr || *value == 1 : config.IsOff(field.name)) continue;
    Ignore(config, field.name, defaults);
  }
  // nibu knows two of the three rules by which a beam search stops early.
  const nlohmann::json* const stops = config.Find("early_stopping");
  if (stops != nullptr && stops->is_string()) Ignore(config, "early_stopping", defaults);
}

// Returns the ids in a field, which is one id, a list or absent.
absl::StatusOr<std::vector<int>> ReadIds(const ConfigFile& config, const char* name,
                                         int vocabulary) {
  const nlohmann::json* const value = config.Find(name);
  if (value == nullptr) return std::vector<int>();
  if (value->is_array()) {
    return config.IntList(name, 0, vocabulary - 1,
                          absl::StrCat("a list of token ids below ", vocabulary));
  }
  NIBU_ASSIGN_OR_RETURN(const std::optional<int> id, ReadInt(config, name, {0, vocabulary - 1}));
  return std::vector<int>{*id};
}

// Returns a length in nibu's count. `with_start` counts the decoder's start token, and
// `without_start` does not. `extra`: the start token and the one that is forced behind it.
absl::StatusOr<std::optional<int>> ReadLength(const ConfigFile& config, const char* with_start,
                                              const char* without_start, int least, int extra,
                                              ModelDefaults* defaults) {
  const Range<int> range = {least, kDecodingLengths.most};
  NIBU_ASSIGN_OR_RETURN(std::optional<int> length, ReadInt(config, with_start, range));
  NIBU_ASSIGN_OR_RETURN(const std::optional<int> fresh, ReadInt(config, without_start, range));
  if (fresh.has_value()) length = *fresh + 1;
  AddSource(config, fresh.has_value() ? without_start : with_start, defaults);
  if (length.has_value()) length = *length - extra;
  return length;
}

// Reads the tokens that are never generated. transformers does not forbid an end token by
// bad_words_ids, but does so by suppress_tokens.
absl::Status ReadSuppressed(const ConfigFile& config, const std::vector<int>& ends,
                            ModelConfig* model, ModelDefaults* defaults) {
  NIBU_ASSIGN_OR_RETURN(auto sequences,
                        ReadSequences(config, "bad_words_ids", model->vocab_target));
  for (std::vector<int>& sequence : sequences) {
    if (sequence.size() > 1) {
      defaults->suppress_sequences.push_back(std::move(sequence));
    } else if (!absl::c_linear_search(ends, sequence[0])) {
      model->suppressed.push_back(sequence[0]);
    }
  }
  NIBU_ASSIGN_OR_RETURN(const std::vector<int> never,
                        ReadIds(config, "suppress_tokens", model->vocab_target));
  for (const int id : never) {
    if (absl::c_linear_search(ends, id)) {
      defaults->suppress_sequences.push_back({id});  // a model's own tokens are never end tokens
    } else {
      model->suppressed.push_back(id);
    }
  }
  NIBU_ASSIGN_OR_RETURN(defaults->begin_suppress_tokens,
                        ReadIds(config, "begin_suppress_tokens", model->vocab_target));
  for (const char* name : {"bad_words_ids", "suppress_tokens", "begin_suppress_tokens"}) {
    AddSource(config, name, defaults);
  }
  return absl::OkStatus();
}

}  // namespace

// "forced_eos_token_id" makes the last token that "max_length" allows an end token, so that there
// is one token less of text. Such a translation still counts as one that was cut.
absl::StatusOr<ModelDefaults> ReadHuggingFaceDefaults(const ConfigFile& config,
                                                      const ModelLanguages& languages,
                                                      ModelConfig* model) {
  const int vocabulary = model->vocab_target;
  NIBU_ASSIGN_OR_RETURN(ModelDefaults defaults, ReadModelDefaults(config, "num_beams"));
  std::vector<int> ends = {model->eos};
  const nlohmann::json* const eos = config.Find("eos_token_id");
  if (eos != nullptr && eos->is_array() && eos->size() > 1) {
    NIBU_ASSIGN_OR_RETURN(ends, ReadIds(config, "eos_token_id", vocabulary));
    defaults.end_tokens = ends;
    AddSource(config, "eos_token_id", &defaults);
  }
  // Padding and tokens that are no text may be end tokens all the same.
  std::erase_if(model->suppressed, [&](int id) { return absl::c_linear_search(ends, id); });
  NIBU_RETURN_IF_ERROR(ReadSuppressed(config, ends, model, &defaults));
  int extra = 1;
  if (!languages.languages.empty()) {
    if (languages.target_follows_start) ++extra;
  } else {
    NIBU_ASSIGN_OR_RETURN(const std::vector<int> first,
                          ReadIds(config, "forced_bos_token_id", vocabulary));
    if (first.size() > 1) return config.Wrong("forced_bos_token_id", "one token id");
    if (!first.empty()) {
      if (absl::c_linear_search(ends, first[0])) {
        return config.Wrong("forced_bos_token_id", "a token that does not end translations");
      }
      defaults.forced_bos = first[0];
      AddSource(config, "forced_bos_token_id", &defaults);
      ++extra;
    }
  }
  NIBU_ASSIGN_OR_RETURN(const std::vector<int> last,
                        ReadIds(config, "forced_eos_token_id", vocabulary));
  std::optional<int>& longest = defaults.max_decoding_length;
  NIBU_ASSIGN_OR_RETURN(longest,
                        ReadLength(config, "max_length", "max_new_tokens", 1, extra, &defaults));
  if (longest.has_value()) {
    if (!last.empty()) AddSource(config, "forced_eos_token_id", &defaults);
    longest = std::max(1, *longest - (last.empty() ? 0 : 1));
  }
  std::optional<int>& shortest = defaults.min_decoding_length;
  NIBU_ASSIGN_OR_RETURN(shortest,
                        ReadLength(config, "min_length", "min_new_tokens", 0, extra, &defaults));
  // nibu's own least length of 1 holds for models that have none.
  if (shortest.value_or(0) <= 1) shortest.reset();
  ListIgnored(config, &defaults);
  return defaults;
}

nlohmann::ordered_json WriteHuggingFaceDefaults(const ModelDefaults& defaults,
                                                const ModelConfig& model) {
  const int extra = defaults.forced_bos.has_value() ? 2 : 1;
  nlohmann::ordered_json json = WriteModelDefaults(defaults, "num_beams");
  for (const char* name : {"end_tokens", "suppress_sequences", "forced_bos", "ignored",
                           "max_decoding_length", "min_decoding_length"}) {
    json.erase(name);
  }
  if (defaults.max_decoding_length) json["max_length"] = *defaults.max_decoding_length + extra;
  if (defaults.min_decoding_length) json["min_length"] = *defaults.min_decoding_length + extra;
  const std::vector<int> ends =
      defaults.end_tokens.empty() ? std::vector<int>{model.eos} : defaults.end_tokens;
  json["eos_token_id"] = ends;
  if (ends.size() == 1) json["eos_token_id"] = ends[0];
  if (defaults.forced_bos) json["forced_bos_token_id"] = *defaults.forced_bos;
  auto words = nlohmann::ordered_json::array();
  for (const int id : model.suppressed) words.push_back({id});
  for (const std::vector<int>& sequence : defaults.suppress_sequences) {
    if (sequence.size() == 1) {
      json["suppress_tokens"].push_back(sequence[0]);
    } else {
      words.push_back(sequence);
    }
  }
  json["bad_words_ids"] = std::move(words);
  for (const auto& [name, value] : defaults.ignored) {
    json[name] = nlohmann::ordered_json::parse(value);
  }
  return json;
}

}  // namespace nibu::internal
