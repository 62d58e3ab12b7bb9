// Scores how well each language explains the letters of a text, by CLD2's tables.
#ifndef NIBU_TOKENIZER_LANGUAGES_LANGUAGE_SCORES_H_
#define NIBU_TOKENIZER_LANGUAGES_LANGUAGE_SCORES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// A language that CLD2 has data for.
struct ScoredLanguage {
  std::string code;                  // BCP 47: "en", "zh", "zh-Hant"
  std::vector<std::string> scripts;  // in which it is recognized, as ScriptScores names them
};

// Returns all languages that have scores. The vector lives until the process ends.
const std::vector<ScoredLanguage>& ScoredLanguages();

// The scores of those letters of a text that belong to one script.
struct ScriptScores {
  std::string script;  // ISO 15924: "Latn", "Cyrl"; "Hani" is Chinese, Japanese and Korean together
  size_t bytes = 0;    // the letters' bytes
  // One score for each of ScoredLanguages(), in the same order: a sum over groups of letters, with
  // 1 for a factor of three in probability. It is 0 for a language to which no group points.
  std::vector<int> scores;
};

// Scores the first kScoredLetters bytes of letters within the first kScoredText bytes of `text`;
// longer texts are not read further. Bytes that are not UTF-8 count as blanks. With `is_html`,
// tags, scripts and style sheets are skipped, and entities stand for their characters.
// Thread-safe.
std::vector<ScriptScores> ScoreLanguages(absl::string_view text, bool is_html);
inline constexpr size_t kScoredLetters = 32 << 10;
inline constexpr size_t kScoredText = 1 << 20;

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_LANGUAGES_LANGUAGE_SCORES_H_
