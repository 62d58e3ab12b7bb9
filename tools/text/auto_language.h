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

// The languages of a plan that was prepared with src_lang "auto", and a plan for each of those that
// texts had so far. Thread-safe.
class AutoLanguage {
 public:
  // Returns null unless options->src_lang is "auto". Then that option becomes a language with which
  // the other options can be checked. InvalidArgument: Options::tokenized, whose pieces are no
  // text.
  static absl::StatusOr<std::shared_ptr<AutoLanguage>> Create(const ModelInfo& model,
                                                              Options* options);

  // The code of a text's language, as the model spells it: the detected one or, where nothing can
  // be told, the model's default. Empty: the text has nothing to translate. InvalidArgument about
  // src_lang: nothing can be told, and the model has no default. `plan` has these languages.
  absl::StatusOr<std::string> LanguageOf(absl::string_view text, const Plan& plan) const;

  // The plan for texts in a language (empty: in any), which is prepared when it is first asked for.
  // FailedPrecondition: `plan`, which has these languages, is another translator's.
  absl::StatusOr<std::shared_ptr<const Plan>> PlanFor(const std::string& language,
                                                      nibu::Translator* translator,
                                                      const Plan& plan);

 private:
  std::unique_ptr<const nibu::LanguageDetector> detector_;  // null: the model has one language
  std::string any_;       // Options::src_lang for texts whose language plays no part
  std::string fallback_;  // the language where nothing can be told; may be empty
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Plan>> plans_;  // by the option src_lang
};

// For a plan with src_lang "auto": puts the plan for the text's language in its place, and returns
// `done` so that the result says which language it is. Other plans and their `done` stay as they
// are. The errors are those of LanguageOf and Translator::Prepare.
absl::StatusOr<nibu::Done> DetectLanguage(absl::string_view text, nibu::Translator* translator,
                                          std::shared_ptr<const Plan>* plan, nibu::Done done);
absl::StatusOr<TextDone> DetectLanguage(absl::string_view text, nibu::Translator* translator,
                                        std::shared_ptr<const Plan>* plan, TextDone done);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_AUTO_LANGUAGE_H_
