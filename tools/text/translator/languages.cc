// Detects the language of a text among those of a model.
#include "tools/text/translator/languages.h"

#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/lines/line_reader.h"
#include "tools/text/marked/markup.h"

namespace nibu::internal {
namespace {

// A detected language is right about as often as its confidence says. Below an even chance, as for
// a single word among a hundred languages ("Cancel": tr 0.35, en 0.29), the model's default is
// used.
constexpr float kLeastConfidence = 0.5F;

// Returns whether a text has parts that are not just copied, as numbers and URLs are. Only reading
// tells: a sentence in a script of which the model knows no character is protected, and copied.
bool NeedsTranslation(absl::string_view text, const LinePlan& plan) {
  const Markup markup = plan.options.markup;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::StatusOr<LineParts> read =
        ReadLine(plan, markup == Markup::kNone ? PlainLine(line) : MarkupReader(markup).Read(line));
    if (!read.ok() || !read->parts.empty()) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<const Languages>> Languages::Create(const ModelInfo& model,
                                                                   Options* options) {
  if (options->src_lang != "auto") return nullptr;
  if (options->tokenized) {
    return InvalidOption("src_lang", "=auto needs text, not the pieces of tokenized");
  }
  auto made = std::make_unique<Languages>();
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

absl::StatusOr<std::string> Languages::LanguageOf(absl::string_view text,
                                                  const LinePlan& plan) const {
  if (!HasLetters(text)) return "";
  if (detector_ == nullptr) return fallback_;
  NIBU_ASSIGN_OR_RETURN(std::vector<nibu::DetectedLanguage> found,
                        detector_->Detect(text, plan.options.markup));
  const bool is_sure = !found.empty() && found[0].confidence >= kLeastConfidence;
  if (!is_sure && !fallback_.empty()) return fallback_;
  if (!found.empty()) return std::move(found[0].code);
  if (!NeedsTranslation(text, plan)) return "";
  return InvalidOption("src_lang",
                       "=auto finds none of the model's languages in the text; name its language");
}

}  // namespace nibu::internal
