// Numbers written as words.
#ifndef NIBU_TOKENIZER_SENTENCES_NUMBER_WORDS_H_
#define NIBU_TOKENIZER_SENTENCES_NUMBER_WORDS_H_

#include <memory>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// How a language says numbers, by the rules of CLDR that ICU has (RuleBasedNumberFormat). Threads
// may share it. The rules are read when they are first needed, which takes milliseconds.
class NumberWords {
 public:
  // `language`: any code ("de", "de-DE", "deu_Latn").
  explicit NumberWords(std::string language);
  ~NumberWords();

  // Returns whether ICU has rules for the language.
  bool AreKnown() const;

  // Returns whether a word of the text is what the language says for these digits, perhaps with an
  // ending of one or two letters, in any gender, case or order (25: "fünfundzwanzig",
  // "fünfundzwanzigster"). REQUIRES: AreKnown().
  bool Say(absl::string_view digits, absl::string_view text) const;

 private:
  struct Rules;

  const std::string language_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<const Rules> rules_;  // null: there are none
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SENTENCES_NUMBER_WORDS_H_
