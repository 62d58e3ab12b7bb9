// Reads what stands at a byte of a line for the sentence splitter: a mark with the quotes that it
// closes, the word behind it, the number of a list item, pairs of brackets.
#ifndef NIBU_TOKENIZER_SENTENCES_SENTENCE_TEXT_H_
#define NIBU_TOKENIZER_SENTENCES_SENTENCE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <unicode/utf8.h>

#include "absl/base/macros.h"
#include "absl/strings/string_view.h"
#include "tokenizer/sentences/sentence_rules.h"
#include "tokenizer/unicode/text_span.h"

namespace nibu::internal {

// A line, read by the rules of one language. It refers to its arguments, which must outlive it.
// Every position is a byte at which a character begins, or the line's size.
class SentenceText {
 public:
  using Kind = CharacterKind;
  // In bytes. Longer words are not looked up, and not read to their ends.
  static constexpr size_t kLongestWord = 40;

  SentenceText(const SentenceRules& rules, absl::string_view line) : rules_(rules), line_(line) {}

  // A run of marks that may end a sentence, with the quotes, brackets and footnotes that close
  // behind them: `.`, `?!`, `. . .`, `.”[1]`.
  struct Stop {
    size_t begin = 0;       // of the first mark
    size_t end = 0;         // behind the last mark, quote, bracket or footnote
    size_t next = 0;        // behind the blanks that follow
    bool strong = false;    // has a mark other than a full stop
    bool wide = false;      // has a strong mark from U+0500 on, which needs no blank behind it: 。
    bool ellipsis = false;  // has "…" or several full stops; means nothing beside a strong mark
    bool quoted = false;    // has a closing quote, or a closing CJK bracket
    bool footnote = false;  // has a number in square brackets
  };
  // The beginning of the text behind a stop. Opening quotes, brackets and dashes are passed over.
  struct Follower {
    Kind kind = Kind::kOther;  // of the first other character; kDigit for a currency symbol, too
    bool begins = false;       // it stands behind "¿", a bullet or an ellipsis
    bool dash = false;         // it stands behind a dash
    absl::string_view word;    // its letters; empty for an initial ("A.")
  };
  // The beginning of an item of a list: "1.", "(b)", "•", "• 3)".
  struct Item {
    absl::string_view before;  // the bullet, blanks and bracket in front of the number
    // The number, or the code point of a single letter. 0: there is none that the next item
    // would count on from ("•", "2.1.", "ii.").
    int value = 0;
    absl::string_view behind;  // the full stop or bracket behind the number
    size_t end = 0;            // the byte behind all of it
  };

  // The character at i; 0, which is of kind kBreak, at the end of the line.
  int32_t At(size_t i) const { return i < line_.size() ? Next(&i) : 0; }
  Kind KindAt(size_t i) const { return i < line_.size() ? rules_.KindOf(At(i)) : Kind::kBreak; }
  // REQUIRES: i is not the end of the line.
  size_t Behind(size_t i) const {
    Next(&i);
    return i;
  }
  bool IsLetterAt(size_t i) const { return IsLetter(KindAt(i)); }
  bool IsSpaceAt(size_t i) const { return KindAt(i) == Kind::kBlank || KindAt(i) == Kind::kBreak; }
  absl::string_view Between(size_t begin, size_t end) const {
    return line_.substr(begin, end - begin);
  }

  // REQUIRES: a full stop or a stronger mark stands at i.
  Stop ReadStop(size_t i) const;
  Follower ReadFollower(size_t i) const;
  // Returns the list item that begins at i, if one does.
  std::optional<Item> ReadItem(size_t i) const;
  // Returns the outermost pairs of brackets of the line, in order. A pair that is longer than 400
  // bytes does not count: its first bracket was probably never meant to be closed.
  std::vector<TextSpan> ReadBrackets() const;

 private:
  size_t ReadMarks(size_t i, Stop* stop) const;
  size_t ReadClosing(size_t i, Stop* stop) const;

  int32_t Next(size_t* i) const {
    ABSL_ASSERT(*i < line_.size());
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
