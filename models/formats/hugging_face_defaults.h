// Reads and writes how a Hugging Face directory wants to be decoded: the fields of transformers'
// GenerationConfig in generation_config.json and, where that file lacks them, in config.json.
//
// transformers counts the decoder's start token in "max_length" and "min_length", but not in
// "max_new_tokens" and "min_new_tokens", which win over them; a forced first token, such as that of
// the target language, counts in all four. nibu counts neither of these two tokens.
//
// https://huggingface.co/docs/transformers/main_classes/text_generation
#ifndef NIBU_MODELS_FORMATS_HUGGING_FACE_DEFAULTS_H_
#define NIBU_MODELS_FORMATS_HUGGING_FACE_DEFAULTS_H_

#include "absl/status/statusor.h"
#include "engine/model/config.h"
#include "models/assembly/opened_model.h"
#include "models/files/json.h"

namespace nibu::internal {

// Reads the fields that nibu obeys, and lists those that it does not. `languages`: those of the
// model, whose target tokens follow the decoder's start; if it has none, "forced_bos_token_id" is
// read. Adds the tokens that are never generated to model->suppressed. InvalidArgument naming the
// field: it is wrong. REQUIRES: the size of the target vocabulary has been checked.
absl::StatusOr<ModelDefaults> ReadHuggingFaceDefaults(const ConfigFile& config,
                                                      const ModelLanguages& languages,
                                                      ModelConfig* model);

// Returns the fields of a generation_config.json for a model without languages.
nlohmann::ordered_json WriteHuggingFaceDefaults(const ModelDefaults& defaults,
                                                const ModelConfig& model);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_HUGGING_FACE_DEFAULTS_H_
