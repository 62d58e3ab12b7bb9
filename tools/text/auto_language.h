// Detects the language of each text where Options::src_lang is "auto".
#ifndef NIBU_TOOLS_TEXT_AUTO_LANGUAGE_H_
#define NIBU_TOOLS_TEXT_AUTO_LANGUAGE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nibu/language.h"
#include "nibu/model.h"
#include "nibu/options.h"
#include "nibu/translator.h"

namespace nibu::internal {

// The languages of a plan that was prepared with src_lang "auto", and a plan for each language that
// a text has had so far. Thread-safe.
class AutoLanguage {
 public:
  // Returns null unless options->src_lang is "auto". In that case, replaces "auto" by a language
  // with which the other options can be checked. Returns InvalidArgument with Options::tokenized,
  // since pieces are not text.
  static absl::StatusOr<std::shared_ptr<AutoLanguage>> Create(const ModelInfo& model,
                                                              Options* options);

  // Returns the code of a text's language, as the model spells it: the detected one or, if that is
  // not sure, the model's default. Returns an empty code if the text has nothing to translate, and
  // InvalidArgument about src_lang if no language is found and the model has no default. `plan` is
  // a plan with this AutoLanguage.
  absl::StatusOr<std::string> LanguageOf(absl::string_view text, const Plan& plan) const;

  // Returns the plan for texts in a language (empty: any), which is prepared when it is first asked
  // for. `plan` is a plan with this AutoLanguage. Returns FailedPrecondition if it is another
  // translator's.
  absl::StatusOr<std::shared_ptr<const Plan>> PlanFor(const std::string& language,
                                                      nibu::Translator* translator,
                                                      const Plan& plan);

 private:
  std::unique_ptr<const nibu::LanguageDetector> detector_;  // null: the model has one language
  std::string any_;       // Options::src_lang for texts whose language does not matter
  std::string fallback_;  // the language of texts whose language is not sure; may be empty
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Plan>> plans_;  // by the option src_lang
};

// Replaces a plan with src_lang "auto" by the plan for the text's language, and returns a `done`
// that adds the language to the result. Other plans, and their `done`, stay as they are. Returns
// the errors of LanguageOf and Translator::Prepare.
absl::StatusOr<nibu::Done> DetectLanguage(absl::string_view text, nibu::Translator* translator,
                                          std::shared_ptr<const Plan>* plan, nibu::Done done);
absl::StatusOr<TextDone> DetectLanguage(absl::string_view text, nibu::Translator* translator,
                                        std::shared_ptr<const Plan>* plan, TextDone done);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_AUTO_LANGUAGE_H_
