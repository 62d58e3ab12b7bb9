// Finds the languages that a user names among those of a model, and makes a frame of them.
#include "tools/text/lines/choose_languages.h"

#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/errors.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "tokenizer/unicode/language_code.h"
#include "tools/text/options/nearest.h"

namespace nibu::internal {
namespace {

// Returns the token of a language. `option`: "src_lang" or "tgt_lang". `own`: the model's default,
// or empty.
absl::StatusOr<int> FindLanguage(const ModelLanguages& model, const char* option,
                                 const std::string& given, const std::string& own) {
  const std::string& code = given.empty() ? own : given;
  std::vector<std::string> codes;
  for (const auto& language : model.languages) {
    if (language.code == code) return language.token;
    codes.push_back(language.code);
  }
  const std::vector<std::string> same = SameLanguage(given, codes);
  if (same.size() == 1) return FindLanguage(model, option, same[0], own);
  if (!same.empty()) {
    return InvalidOption(option, "=", given, " may be ", absl::StrJoin(same, " or "),
                         " of this model; say which");
  }
  const std::string nearest = Nearest(given, codes);
  return InvalidOption(option,
                       given.empty() ? " is needed with this model"
                                     : absl::StrCat("=", given, " is not a language of this model"),
                       nearest.empty() ? "" : absl::StrCat(", did you mean ", nearest, "?"),
                       "; it has ", absl::StrJoin(codes, ", "));
}

}  // namespace

absl::StatusOr<std::optional<Frame>> ChooseLanguages(const ModelVocabulary& vocabulary,
                                                     const ModelConfig& config,
                                                     const std::string& src_lang,
                                                     const std::string& tgt_lang) {
  const ModelLanguages& model = vocabulary.languages;
  if (model.languages.empty()) {
    for (const auto& [option, given, own] :
         {std::tuple("src_lang", src_lang, vocabulary.source_language),
          {"tgt_lang", tgt_lang, vocabulary.target_language}}) {
      if (given.empty() || !SameLanguage(given, {own}).empty()) continue;
      return InvalidOption(option, "=", given, " is not for this model, which ",
                           own.empty() ? "has no languages to choose from" : "is for " + own,
                           vocabulary.language_tokens
                               ? "; one of several targets is chosen by its token in front of "
                                 "a line, as >>xx<< or <2xx>"
                               : "");
    }
    return std::nullopt;
  }
  NIBU_ASSIGN_OR_RETURN(const int source,
                        FindLanguage(model, "src_lang", src_lang, model.default_source));
  NIBU_ASSIGN_OR_RETURN(const int target,
                        FindLanguage(model, "tgt_lang", tgt_lang, model.default_target));
  Frame frame;
  frame.source_suffix = config.source_suffix;
  (model.source_in_front ? frame.source_prefix : frame.source_suffix).push_back(source);
  if (model.target_follows_start) frame.decoder_start.push_back(config.decoder_start);
  frame.decoder_start.push_back(target);
  return frame;
}

}  // namespace nibu::internal
