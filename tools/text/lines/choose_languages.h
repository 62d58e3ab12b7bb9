// Chooses a multilingual model's languages.
#ifndef NIBU_TOOLS_TEXT_LINES_CHOOSE_LANGUAGES_H_
#define NIBU_TOOLS_TEXT_LINES_CHOOSE_LANGUAGES_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/request.h"
#include "models/load_model.h"

namespace nibu::internal {

// Returns the special tokens that tell a multilingual model its languages (see Options), or
// nullopt for a model that is not told them. Returns InvalidArgument that begins with src_lang or
// tgt_lang and lists the model's codes if a language is missing, unknown or ambiguous, or if the
// model is for other languages.
absl::StatusOr<std::optional<Frame>> ChooseLanguages(const ModelVocabulary& vocabulary,
                                                     const ModelConfig& config,
                                                     const std::string& src_lang,
                                                     const std::string& tgt_lang);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LINES_CHOOSE_LANGUAGES_H_
