// Classifies characters and words for the sentence splitter, by Unicode's properties, by the word
// lists of sentence_words.txt and by CLDR's abbreviations.
#ifndef NIBU_TOKENIZER_SENTENCES_SENTENCE_RULES_H_
#define NIBU_TOKENIZER_SENTENCES_SENTENCE_RULES_H_

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace nibu::internal {

// A character's class. Most of them are values of Unicode's property Sentence_Break (UAX #29).
enum class CharacterKind : uint8_t {
  kOther,
  kBlank,
  kBreak,  // of a line or paragraph
  kUpper,
  kLower,
  kLetter,  // of a script without case
  kDigit,
  kMark,  // belongs to the character before it
  kFullStop,
  kStrong,    // "!", "?" and other marks that always end a sentence
  kContinue,  // , ; :
  kDash,
  kOpen,   // brackets, low quotes, inverted marks
  kClose,  // brackets
  kQuote,  // may open or close, or be an apostrophe
};

inline bool IsLetter(CharacterKind kind) {
  return kind == CharacterKind::kUpper || kind == CharacterKind::kLower ||
         kind == CharacterKind::kLetter;
}

constexpr int32_t kEllipsis = 0x2026;

// The form of a word that is not in the lists. The full stop behind the word is not part of it.
struct WordShape {
  int characters = 0;  // full stops included
  int parts = 1;       // between full stops: 2 in "z.B"
  int longest = 0;     // the most characters of a part
  // Each is true if the word has no other characters, apart from full stops.
  bool letters = true;
  bool digits = true;
  bool roman = true;  // I, V and X
  bool near = true;   // below U+0700: the scripts of Europe and the Middle East
  // Each is true if the word has one.
  bool vowel = false;
  bool lower = false;
  int capitals = 0;  // their number

  bool IsInitial() const { return characters == 1 && letters && near; }
  // "z.B", "U.S"
  bool IsDotted() const { return parts > 1 && letters && longest <= 2; }
  // "Mrs", "bzw"; not "BMW", which is a name.
  bool IsConsonants() const {
    return parts == 1 && letters && near && !vowel && lower && capitals <= 1 && longest <= 5;
  }
  // "3" or "XIV", which an ordinal's full stop may follow; not "1995".
  bool IsOrdinal() const {
    return (digits && longest <= 2) || (roman && parts == 1 && longest <= 5);
  }
};

// The rules of one language. Immutable: any number of threads may use one.
class SentenceRules {
 public:
  // The lists of sentence_words.txt, whose first lines explain them.
  enum List { kNever, kNumber, kSometimes, kCompounds, kEnds, kStarter, kCapital, kOrdinals };

  // `language`: the shortest code of ISO 639. One without lists gets those of all languages ("*").
  explicit SentenceRules(const std::string& language);

  // `character`: a code point; negative for bytes that are not UTF-8, which are of kind kOther.
  CharacterKind KindOf(int32_t character) const;
  WordShape ShapeOf(absl::string_view word) const;
  // `word`: in lower case.
  bool Has(List list, absl::string_view word) const {
    ABSL_ASSERT(absl::c_none_of(word, absl::ascii_isupper));
    return lists_[list].contains(word);
  }
  // Returns true for a compound that ends with an abbreviation ("hauptstr"). `word`: in lower case.
  bool EndsShort(absl::string_view word) const;
  // Returns true if CLDR lists the word as an abbreviation. `word`: as it is written.
  bool InCldr(absl::string_view word) const { return cldr_.contains(word); }
  // True if a full stop makes a number an ordinal in this language: "3. Mai".
  bool ordinals() const { return ordinals_; }

 private:
  // Abseil's sets are not used, because they do not survive a failed allocation.
  std::array<std::set<std::string, std::less<>>, kOrdinals + 1> lists_;
  std::set<std::string, std::less<>> cldr_;
  bool ordinals_ = false;
  std::array<CharacterKind, 128> ascii_;  // KindOf of each ASCII character
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SENTENCES_SENTENCE_RULES_H_
