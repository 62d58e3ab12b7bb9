// Detects the language of each text where Options::src_lang is "auto".
#ifndef NIBU_TOOLS_TEXT_TRANSLATOR_LANGUAGES_H_
#define NIBU_TOOLS_TEXT_TRANSLATOR_LANGUAGES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nibu/language.h"
#include "nibu/model.h"
#include "nibu/options.h"
#include "tools/text/lines/line_plan.h"

namespace nibu::internal {

// The languages that a model's texts may have. Immutable; threads may share it.
class Languages {
 public:
  // Returns null unless options->src_lang is "auto". In that case, replaces "auto" by a language
  // with which the other options can be checked. Returns InvalidArgument with Options::tokenized,
  // since pieces are not text.
  static absl::StatusOr<std::unique_ptr<const Languages>> Create(const ModelInfo& model,
                                                                 Options* options);

  // Returns the code of a text's language, as the model spells it: the detected one or, if that is
  // not sure, the model's default. Returns an empty code if the text has nothing to translate, and
  // InvalidArgument about src_lang if no language is found and the model has no default. `plan` is
  // a plan with the language that Create chose.
  absl::StatusOr<std::string> LanguageOf(absl::string_view text, const LinePlan& plan) const;

  // Returns Options::src_lang for texts in a language that LanguageOf has returned.
  const std::string& OptionFor(const std::string& language) const {
    return detector_ == nullptr || language.empty() ? any_ : language;
  }

 private:
  std::unique_ptr<const nibu::LanguageDetector> detector_;  // null: the model has one language
  std::string any_;       // Options::src_lang for texts whose language does not matter
  std::string fallback_;  // the language of texts whose language is not sure; may be empty
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TRANSLATOR_LANGUAGES_H_
