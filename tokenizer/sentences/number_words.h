// Recognizes numbers that a translation writes as words.
#ifndef NIBU_TOKENIZER_SENTENCES_NUMBER_WORDS_H_
#define NIBU_TOKENIZER_SENTENCES_NUMBER_WORDS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// Spells a language's numbers by the rules of CLDR in ICU (RuleBasedNumberFormat). Threads may
// share it. The rules are read when they are first needed, which takes milliseconds.
class NumberWords {
 public:
  // `language`: any code ("de", "de-DE", "deu_Latn").
  explicit NumberWords(std::string language);
  ~NumberWords();

  // Returns whether ICU has rules for the language.
  bool AreKnown() const;

  // Returns true if the text says these digits in words: as a cardinal or an ordinal, in any
  // gender or case, perhaps with an ending of one or two letters (25: "fünfundzwanzig",
  // "fünfundzwanzigster"). False for digits that are no int64. REQUIRES: AreKnown().
  bool Say(absl::string_view digits, absl::string_view text) const;

  // Returns true if the text names the currency that a sign stands for ('$': "Dollar", "US-Dollar",
  // "dolarów"), or has its code ("USD"). True, too, if ICU has no name for it.
  bool SayCurrency(int32_t sign, absl::string_view text) const;

 private:
  struct Rules;

  const std::string language_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<const Rules> rules_;  // null: ICU has none for the language
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SENTENCES_NUMBER_WORDS_H_
