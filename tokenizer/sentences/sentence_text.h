// What stands at a place of a line, as far as it matters to the splitter of sentences.
#ifndef NIBU_TOKENIZER_SENTENCES_SENTENCE_TEXT_H_
#define NIBU_TOKENIZER_SENTENCES_SENTENCE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <unicode/utf8.h>

#include "absl/strings/string_view.h"
#include "tokenizer/sentences/sentence_rules.h"
#include "tokenizer/unicode/text_span.h"

namespace nibu::internal {

// Refers to both, which must outlive it. Places are bytes where characters begin.
class SentenceText {
 public:
  using Kind = CharacterKind;
  static constexpr size_t kLongestWord = 40;  // of which anything is known

  SentenceText(const SentenceRules& rules, absl::string_view line) : rules_(rules), line_(line) {}

  // Marks that may end a sentence.
  struct Stop {
    size_t begin = 0;  // of the first mark
    size_t end = 0;    // behind the last one and what it closes
    size_t next = 0;   // behind white space
    bool strong = false;
    bool wide = false;  // strong, and of a script that needs no blank behind it
    bool ellipsis = false;
    bool quoted = false;
    bool footnote = false;
  };
  // What begins behind a stop.
  struct Follower {
    Kind kind = Kind::kOther;  // of the first character that is no quote, bracket or dash
    bool begins = false;       // behind an inverted mark, a bullet, an ellipsis
    bool dash = false;         // behind a dash
    absl::string_view word;    // but for initials
  };
  // The beginning of an item of a list: "1.", "(b)", "•", "• 3)".
  struct Item {
    absl::string_view before;  // bullet and bracket
    int value = 0;             // of a number or letter; 0: none that can be counted on from
    absl::string_view behind;
    size_t end = 0;
  };

  // 0, and a break, at the end.
  int32_t At(size_t i) const { return i < line_.size() ? Next(&i) : 0; }
  Kind KindAt(size_t i) const { return i < line_.size() ? rules_.KindOf(At(i)) : Kind::kBreak; }
  size_t Behind(size_t i) const {
    Next(&i);
    return i;
  }
  bool IsLetterAt(size_t i) const { return IsLetter(KindAt(i)); }
  bool IsSpaceAt(size_t i) const { return KindAt(i) == Kind::kBlank || KindAt(i) == Kind::kBreak; }
  absl::string_view Between(size_t begin, size_t end) const {
    return line_.substr(begin, end - begin);
  }

  // The one that begins at i with a full stop or a stronger mark.
  Stop ReadStop(size_t i) const;
  Follower ReadFollower(size_t i) const;
  std::optional<Item> ReadItem(size_t i) const;
  // The outermost pairs, in order. What is open for long was never meant to be closed.
  std::vector<TextSpan> ReadBrackets() const;

 private:
  size_t ReadMarks(size_t i, Stop* stop) const;
  size_t ReadClosing(size_t i, Stop* stop) const;

  int32_t Next(size_t* i) const {
    int32_t c;
    U8_NEXT(line_.data(), *i, line_.size(), c);
    return c;
  }
  size_t Skip(size_t i, Kind kind) const {
    while (KindAt(i) == kind) i = Behind(i);
    return i;
  }
  bool IsStopAt(size_t i) const {
    return KindAt(i) == Kind::kFullStop || KindAt(i) == Kind::kStrong;
  }

  const SentenceRules& rules_;
  const absl::string_view line_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SENTENCES_SENTENCE_TEXT_H_
