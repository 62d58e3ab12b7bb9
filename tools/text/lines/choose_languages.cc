// Finds the languages that a user names among those of a model, and makes a frame of them.
#include "tools/text/lines/choose_languages.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/errors.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "models/vocabulary/vocabulary_file.h"
#include "tokenizer/unicode/language_code.h"
#include "tools/text/options/nearest.h"

namespace nibu::internal {
namespace {

using Known = std::vector<ModelLanguages::Language>;

std::vector<std::string> CodesOf(const Known& known) {
  std::vector<std::string> codes;
  for (const auto& language : known) {
    if (IsLanguageCode(language.code)) codes.push_back(language.code);
  }
  return codes;
}

// Returns the token of a language. `option`: "src_lang" or "tgt_lang". `own`: the model's default,
// or empty.
absl::StatusOr<int> FindLanguage(const Known& known, const char* option, const std::string& given,
                                 const std::string& own) {
  const std::string& code = given.empty() ? own : given;
  for (const auto& language : known) {
    if (language.code == code) return language.token;
  }
  const std::vector<std::string> codes = CodesOf(known);
  const std::vector<std::string> same = SameLanguage(given, codes);
  if (same.size() == 1) return FindLanguage(known, option, same[0], own);
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

// Checks a language that the user names for a side of a model without a choice there. `own`: the
// language of its files, or empty.
absl::Status CheckOnlyLanguage(const char* option, const std::string& given,
                               const std::string& own) {
  if (given.empty() || !SameLanguage(given, {own}).empty()) return absl::OkStatus();
  return InvalidOption(option, "=", given, " is not for this model, which ",
                       own.empty() ? "has no languages to choose from" : "is for " + own);
}

// Checks the source language of a model whose sources need no token. Of a model for a family of
// languages, no file says which these are; one that reads what it writes has the same on both
// sides.
absl::Status CheckSource(const ModelVocabulary& vocabulary, const std::string& given) {
  const std::string& own = vocabulary.source_language;
  const std::vector<std::string> targets = CodesOf(vocabulary.language_tokens);
  const bool is_open = own.empty() ? !SameLanguage(given, targets).empty()
                                   : !IsOneLanguage(own) && IsLanguageCode(given);
  if (is_open || given.empty()) return absl::OkStatus();
  if (own.empty() && !targets.empty()) {
    return FindLanguage(vocabulary.language_tokens, "src_lang", given, "").status();
  }
  return CheckOnlyLanguage("src_lang", given, own);
}

// Returns the token of the target language for ChosenLanguages::target_token, or -1.
absl::StatusOr<int> ChooseToken(const ModelVocabulary& vocabulary, const std::string& given) {
  const std::string& own = vocabulary.target_language;
  const Known& known = vocabulary.language_tokens;
  if (known.empty()) NIBU_RETURN_IF_ERROR(CheckOnlyLanguage("tgt_lang", given, own));
  if (known.empty() || given.empty()) return -1;
  const Known bracketed = LanguageTokens({given});  // the user may name the token itself
  const absl::StatusOr<int> token =
      FindLanguage(known, "tgt_lang", bracketed.empty() ? given : bracketed[0].code, "");
  // A model for one language may have tokens for its variants, as one for Chinese has. It
  // translates without any, too.
  const bool is_own = IsOneLanguage(own) && !SameLanguage(given, {own}).empty();
  return !token.ok() && is_own ? -1 : token;
}

}  // namespace

absl::StatusOr<ChosenLanguages> ChooseLanguages(const ModelVocabulary& vocabulary,
                                                const ModelConfig& config,
                                                const std::string& src_lang,
                                                const std::string& tgt_lang) {
  const ModelLanguages& model = vocabulary.languages;
  ChosenLanguages chosen;
  if (model.languages.empty()) {
    NIBU_RETURN_IF_ERROR(CheckSource(vocabulary, src_lang));
    NIBU_ASSIGN_OR_RETURN(chosen.target_token, ChooseToken(vocabulary, tgt_lang));
    return chosen;
  }
  NIBU_ASSIGN_OR_RETURN(const int source,
                        FindLanguage(model.languages, "src_lang", src_lang, model.default_source));
  NIBU_ASSIGN_OR_RETURN(const int target,
                        FindLanguage(model.languages, "tgt_lang", tgt_lang, model.default_target));
  Frame& frame = chosen.frame.emplace();
  frame.source_suffix = config.source_suffix;
  (model.source_in_front ? frame.source_prefix : frame.source_suffix).push_back(source);
  if (model.target_follows_start) frame.decoder_start.push_back(config.decoder_start);
  frame.decoder_start.push_back(target);
  return chosen;
}

void AddForcedToken(const ModelDefaults& defaults, const ModelConfig& config,
                    std::optional<Frame>* frame) {
  if (frame->has_value() || !defaults.forced_bos.has_value()) return;
  *frame = Frame{{}, config.source_suffix, {config.decoder_start, *defaults.forced_bos}};
}

}  // namespace nibu::internal
