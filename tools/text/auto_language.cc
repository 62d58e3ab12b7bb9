// Detects the language of a text, and puts the plan for it in the place of the plan for "auto".
#include "tools/text/auto_language.h"

#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/line_reader.h"
#include "tools/text/markup.h"
#include "tools/text/plan.h"

namespace nibu::internal {
namespace {

// A detected language is right about as often as its confidence says. Below an even chance, as for
// a single word among a hundred languages ("Cancel": tr 0.35, en 0.29), the model's default is
// used.
constexpr float kLeastConfidence = 0.5F;

void SetLanguage(const std::string& language, nibu::Result* result) {
  result->source_language = language;
}

void SetLanguage(const std::string& language, Translation* translation) {
  translation->source_language = language;
  for (nibu::Result& result : translation->results) SetLanguage(language, &result);
}

// Returns whether a text has parts that are not just copied, as numbers and URLs are.
bool NeedsTranslation(absl::string_view text, const Plan& plan) {
  const Markup markup = plan.text_options.markup;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::StatusOr<LineParts> read = ReadLine(
        {plan.text}, markup == Markup::kNone ? PlainLine(line) : MarkupReader(markup).Read(line));
    if (!read.ok() || !read->parts.empty()) return true;
  }
  return false;
}

// Implements DetectLanguage. D is Done or TextDone, and T the result that it gets.
template <typename T, typename D>
absl::StatusOr<D> Detect(absl::string_view text, nibu::Translator* translator,
                         std::shared_ptr<const Plan>* plan, D done) {
  if (*plan == nullptr || (*plan)->languages == nullptr) return done;
  const Plan& asked = **plan;
  NIBU_ASSIGN_OR_RETURN(std::string language, asked.languages->LanguageOf(text, asked));
  NIBU_ASSIGN_OR_RETURN(*plan, asked.languages->PlanFor(language, translator, asked));
  return D([language = std::move(language), done = std::move(done)](uint64_t key,
                                                                    absl::StatusOr<T> result) {
    if (result.ok()) SetLanguage(language, &*result);
    done(key, std::move(result));
  });
}

}  // namespace

absl::StatusOr<std::shared_ptr<AutoLanguage>> AutoLanguage::Create(const ModelInfo& model,
                                                                   Options* options) {
  if (options->src_lang != "auto") return nullptr;
  if (options->tokenized) {
    return InvalidOption("src_lang", "=auto needs text, not the pieces of tokenized");
  }
  auto made = std::make_shared<AutoLanguage>();
  const std::vector<std::string>& codes = model.source_languages;
  if (codes.empty()) {
    made->fallback_ = model.source_language;
  } else {
    NIBU_ASSIGN_OR_RETURN(made->detector_, nibu::LanguageDetector::Create(codes));
    made->fallback_ = model.default_source_language;
    made->any_ = made->fallback_.empty() ? codes[0] : made->fallback_;
  }
  options->src_lang = made->any_;
  return made;
}

absl::StatusOr<std::string> AutoLanguage::LanguageOf(absl::string_view text,
                                                     const Plan& plan) const {
  if (!HasLetters(text)) return "";
  if (detector_ == nullptr) return fallback_;
  NIBU_ASSIGN_OR_RETURN(std::vector<nibu::DetectedLanguage> found,
                        detector_->Detect(text, plan.text_options.markup));
  const bool is_sure = !found.empty() && found[0].confidence >= kLeastConfidence;
  if (!is_sure && !fallback_.empty()) return fallback_;
  if (!found.empty()) return std::move(found[0].code);
  if (!NeedsTranslation(text, plan)) return "";
  return InvalidOption("src_lang",
                       "=auto finds none of the model's languages in the text; name its language");
}

absl::StatusOr<std::shared_ptr<const Plan>> AutoLanguage::PlanFor(const std::string& language,
                                                                  nibu::Translator* translator,
                                                                  const Plan& plan) {
  Options options = plan.text_options;
  options.src_lang = detector_ == nullptr || language.empty() ? any_ : language;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = plans_.find(options.src_lang);
    if (found != plans_.end()) return found->second;
  }
  // Another thread may prepare the same plan at the same time; one of the two is kept.
  NIBU_ASSIGN_OR_RETURN(auto made, translator->Prepare(plan.model, options));
  if (made->engines != plan.engines) {
    return absl::FailedPreconditionError("the plan is another translator's");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  return plans_.emplace(options.src_lang, std::move(made)).first->second;
}

absl::StatusOr<nibu::Done> DetectLanguage(absl::string_view text, nibu::Translator* translator,
                                          std::shared_ptr<const Plan>* plan, nibu::Done done) {
  return Detect<nibu::Result>(text, translator, plan, std::move(done));
}

absl::StatusOr<TextDone> DetectLanguage(absl::string_view text, nibu::Translator* translator,
                                        std::shared_ptr<const Plan>* plan, TextDone done) {
  return Detect<Translation>(text, translator, plan, std::move(done));
}

}  // namespace nibu::internal
