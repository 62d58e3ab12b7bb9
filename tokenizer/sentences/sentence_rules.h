// What characters and words mean to the splitter of sentences.
#ifndef NIBU_TOKENIZER_SENTENCES_SENTENCE_RULES_H_
#define NIBU_TOKENIZER_SENTENCES_SENTENCE_RULES_H_

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// After Unicode's property Sentence_Break.
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
  kStrong,    // ! ? and what else ends a sentence without doubt
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

// What a word is like, its last full stop left out.
struct WordShape {
  int characters = 0;
  int parts = 1;    // between full stops
  int longest = 0;  // of them, characters
  // Nothing but these, and full stops.
  bool letters = true;
  bool digits = true;
  bool roman = true;
  bool near = true;  // letters of Europe and the Middle East
  bool vowel = false;
  bool lower = false;
  int capitals = 0;

  bool IsInitial() const { return characters == 1 && letters && near; }
  bool IsDotted() const { return parts > 1 && letters && longest <= 2; }
  bool IsConsonants() const {
    return parts == 1 && letters && near && !vowel && lower && capitals <= 1 && longest <= 5;
  }
  bool IsOrdinal() const {
    return (digits && longest <= 2) || (roman && parts == 1 && longest <= 5);
  }
};

std::string ToLower(absl::string_view text);

// Of one language; constant after construction.
class SentenceRules {
 public:
  // The lists of sentence_words.txt.
  enum List { kNever, kNumber, kSometimes, kCompounds, kEnds, kStarter, kCapital, kOrdinals };

  // `language`: ISO 639, the shortest code.
  explicit SentenceRules(const std::string& language);

  // `character`: negative where there is no UTF-8.
  CharacterKind KindOf(int32_t character) const;
  WordShape ShapeOf(absl::string_view word) const;
  // `word`: in lower case.
  bool Has(List list, absl::string_view word) const { return lists_[list].contains(word); }
  // Returns whether it is a compound with an abbreviation at its end. `word`: in lower case.
  bool EndsShort(absl::string_view word) const;
  // Whether CLDR knows the word, as it is written, for an abbreviation.
  bool InCldr(absl::string_view word) const { return cldr_.contains(word); }
  // Whether a full stop makes a number an ordinal.
  bool ordinals() const { return ordinals_; }

 private:
  // Not Abseil's, whose sets do not survive a failed allocation.
  std::array<std::set<std::string, std::less<>>, kOrdinals + 1> lists_;
  std::set<std::string, std::less<>> cldr_;
  bool ordinals_ = false;
  std::array<CharacterKind, 128> ascii_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SENTENCES_SENTENCE_RULES_H_
