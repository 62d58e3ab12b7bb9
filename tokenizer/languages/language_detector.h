// Tells which language of a list a text is in.
#ifndef NIBU_TOKENIZER_LANGUAGES_LANGUAGE_DETECTOR_H_
#define NIBU_TOKENIZER_LANGUAGES_LANGUAGE_DETECTOR_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace nibu::internal {

struct ScriptScores;  // language_scores.h

// A language that a text may be in.
struct DetectedLanguage {
  std::string code;  // as the list spells it
  // The probability, 0 to 1, that the text is in this language. It is low for a few letters, for a
  // text of several languages, and for one that reads like a language that is not in the list.
  float confidence = 0;
};

// Tells the languages of a list apart. Restricting the list helps: of short texts, a detector that
// may choose among two languages gets far more right than one that may choose among all.
// Immutable, so any number of threads may use it.
class LanguageDetector {
 public:
  // `among` has the languages that a text may be in, in any form that SameLanguage() understands.
  // Where there are several codes of one language ("pt-BR", "pt-PT"), the first is found. The only
  // language of a script is found even if nothing else is known of it; otherwise, languages that
  // are not in KnownLanguages() are never found. An empty list means KnownLanguages().
  explicit LanguageDetector(absl::Span<const std::string> among = {});

  // Returns the languages that a text may be in, the most probable first, with their codes as
  // `among` spells them. The result is empty if nothing can be told: the text has no letters, none
  // that any of the languages is written in, or too few to choose. With `is_html`, tags, scripts
  // and style sheets do not count, and entities are characters. Any bytes are text. Of a long text,
  // its first 32 KiB of letters decide (ScoreLanguages()).
  std::vector<DetectedLanguage> Detect(absl::string_view text, bool is_html = false) const;

  // The codes (BCP 47, sorted) of the languages that are told from all others.
  static std::vector<std::string> KnownLanguages();

 private:
  // A language of the list, in one script.
  struct Candidate {
    std::string script;       // as ScriptScores names it
    size_t entry = 0;         // in codes_
    std::vector<int> scored;  // in ScoredLanguages(); empty: found by its script alone
  };

  void AddProbabilities(const ScriptScores& script, float share,
                        std::vector<float>* probability) const;

  std::vector<std::string> codes_;
  std::vector<Candidate> candidates_;
  std::vector<bool> is_listed_;  // for each of ScoredLanguages()
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_LANGUAGES_LANGUAGE_DETECTOR_H_
