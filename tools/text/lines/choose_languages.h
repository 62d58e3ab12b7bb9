// Chooses a multilingual model's languages.
#ifndef NIBU_TOOLS_TEXT_LINES_CHOOSE_LANGUAGES_H_
#define NIBU_TOOLS_TEXT_LINES_CHOOSE_LANGUAGES_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/request.h"
#include "models/load_model.h"

namespace nibu::internal {

// The tokens that tell a multilingual model its languages.
struct ChosenLanguages {
  // The special tokens around the source and in front of the target; nullopt for a model without
  // ModelLanguages.
  std::optional<Frame> frame;
  // The token in front of the source that chooses the target language, for TextCoder::WithTarget.
  // -1: the user names none, or the model does not need it.
  int target_token = -1;
};

// Returns the tokens for the languages that a user names (see Options). Returns InvalidArgument
// that begins with src_lang or tgt_lang and lists the model's codes if a language is missing,
// unknown or ambiguous, or if the model is for other languages.
absl::StatusOr<ChosenLanguages> ChooseLanguages(const ModelVocabulary& vocabulary,
                                                const ModelConfig& config,
                                                const std::string& src_lang,
                                                const std::string& tgt_lang);

// Makes a frame with ModelDefaults::forced_bos, if the model has one and no frame of languages.
void AddForcedToken(const ModelDefaults& defaults, const ModelConfig& config,
                    std::optional<Frame>* frame);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LINES_CHOOSE_LANGUAGES_H_
