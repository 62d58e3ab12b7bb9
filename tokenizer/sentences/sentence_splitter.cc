// Splits a line into sentences: one pass from left to right with a decision at each stop.
//
// Scan::Run ends the current sentence at the first of these places:
//   A. a line feed or another break, and the end of the line;
//   B. a blank before the next item of a list: a sentence that begins with "1." ends before "2."
//      even if there is no mark between them (IsNextItem);
//   C. the end of a stop where Splits says so.
// B and C do not hold inside of a pair of brackets of at most 400 bytes (InBrackets).
//
// A stop (SentenceText::Stop) is a run of full stops or stronger marks with the quotes, brackets
// and footnotes that close behind them: `.`, `?!`, `. . .`, `.”[1]`. The follower is the first
// character behind it and behind blanks, opening quotes, brackets and dashes, with its word. Where
// "¡", "¿", a bullet or an ellipsis stands in front of the follower (Follower::begins), it counts
// as the beginning of a sentence: as a starter in 7c and 7d, never as lower case in 4 and 5. The
// first of these rules that applies decides (Splits):
//   1. Nothing follows, or a mark that goes on (comma, closing bracket), or another stop: no end.
//   2. No blank follows (SplitsGlued). An end behind a wide mark, which needs none ("好。好"),
//      behind a narrow ! or ? between a character that is not ASCII and an East Asian one
//      ("好吗?好"), and where a blank was forgotten: a word in lower case before the mark, a usual
//      first word of sentences behind it ("world.The"). No end in "index.html" and "3.5", and where
//      a quote or bracket ends inside of a Chinese or Japanese sentence.
//   3. The stop is the number of the list item that the sentence begins with ("1. First"), or
//      it stands right behind an opening bracket ("[...]"): no end.
//   4. A wide mark (。): an end. Another strong mark (! ?): an end, unless a lower-case letter
//      follows; even then if the sentence itself begins with one and no quote closes behind the
//      mark.
//   5. A lower-case letter follows a full stop: no end.
//   6. An ellipsis: an end before a capital, except a word of the list `capital` ("I"), and,
//      where Follower::begins holds, before anything else but a lower-case letter.
//   7. A full stop (SplitsAtFullStop), by the lists of sentence_words.txt. If no quote closes
//      behind it, the word before it is looked at:
//      a. it is of `number` ("No.") and a digit follows: no end;
//      b. it is of `ends` ("etc."): an end; it is of `never` ("Dr."): no end;
//      c. it is another short form (an initial, "z.B.", "Mrs.", one of `sometimes` or of CLDR, an
//         ordinal): an end only before a word of `starter`, which often begins sentences.
//      Otherwise:
//      d. a word of `starter`, a digit or a dash follows, or there is a footnote: an end;
//      e. ICU's sentence iterator decides. It sees a window around the stop alone, so that the
//         time is linear in the line's length.
#include "tokenizer/sentences/sentence_splitter.h"

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>
#include <unicode/utypes.h>

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/macros.h"
#include "absl/memory/memory.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/exception_status.h"
#include "tokenizer/sentences/sentence_rules.h"
#include "tokenizer/sentences/sentence_text.h"
#include "tokenizer/unicode/capitals.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

using Kind = CharacterKind;

// ICU sees so many bytes before a stop, and behind it and the blanks that follow it.
constexpr size_t kIcuBefore = 48;
constexpr size_t kIcuBehind = 32;
// The first of CJK's radicals; kana, ideographs and Hangul syllables come behind it.
constexpr UChar32 kFirstEastAsian = 0x2e80;

bool IsHiragana(UChar32 c) { return c >= 0x3040 && c < 0x30a0; }

// Splits one line, from left to right; see the top of this file. Refers to its arguments.
class Scan {
 public:
  using Stop = SentenceText::Stop;
  using Follower = SentenceText::Follower;
  using Item = SentenceText::Item;

  Scan(const SentenceRules& rules, const icu::BreakIterator& icu, absl::string_view line)
      : rules_(rules), prototype_(icu), line_(line), text_(rules, line) {}

  std::vector<TextSpan> Run();

 private:
  size_t Begin(size_t i);
  bool IsNextItem(size_t i) const;
  bool Splits(const Stop& stop);
  bool SplitsGlued(const Stop& stop, const Follower& follower);
  bool SplitsAtFullStop(const Stop& stop, const Follower& follower);
  bool IcuSplits(const Stop& stop);
  const TextSpan* Brackets(size_t at);
  bool InBrackets(size_t at) { return Brackets(at) != nullptr; }
  bool ClosesBrackets(const Stop& stop);

  const SentenceRules& rules_;
  const icu::BreakIterator& prototype_;
  const absl::string_view line_;
  const SentenceText text_;
  // The current sentence.
  size_t begin_ = 0;          // its first byte
  std::optional<Item> item_;  // the number or bullet that it begins with
  size_t word_ = 0;           // where the word before the current byte begins
  // These two are made when they are first needed, since a line of one sentence seldom needs them.
  std::unique_ptr<icu::BreakIterator> icu_;  // this thread's copy of prototype_
  std::optional<std::vector<TextSpan>> brackets_;
  size_t bracket_ = 0;  // the first pair that ends behind the place that was asked for last
};

std::vector<TextSpan> Scan::Run() {
  std::vector<TextSpan> spans;
  size_t content = 0;  // behind the last character that is not white space
  for (size_t i = Begin(0); i <= line_.size();) {
    const size_t at = i;
    const Kind kind = text_.KindAt(i);  // kBreak at the end of the line
    bool ends = kind == Kind::kBreak;   // A
    if (i < line_.size()) i = text_.Behind(i);
    if (kind == Kind::kBlank) {
      word_ = i;
      ends = item_ && IsNextItem(i) && !InBrackets(i);  // B
    } else if (kind == Kind::kFullStop || kind == Kind::kStrong) {
      const Stop stop = text_.ReadStop(at);
      i = content = stop.end;
      ends = Splits(stop) && !InBrackets(i);  // C
      // A single mark without quotes may stand inside of a word: "z.B.", "Yahoo!".
      if (i > at + 1) word_ = i;
    } else if (!ends) {
      content = i;
      // Any other sign begins a new word, except a degree sign, which may be a part of one: "N°.".
      if (!text_.IsLetterAt(at) && kind != Kind::kDigit && kind != Kind::kMark &&
          text_.At(at) != 0xb0) {
        word_ = i;
      }
    }
    if (!ends) continue;
    if (content > begin_) spans.push_back({begin_, content});
    if (i == line_.size()) break;
    i = content = Begin(i);
  }
  return spans;
}

// Begins a sentence behind the white space at i. Returns its first byte.
size_t Scan::Begin(size_t i) {
  while (i < line_.size() && text_.IsSpaceAt(i)) i = text_.Behind(i);
  begin_ = word_ = i;
  item_ = text_.ReadItem(i);
  return i;
}

// Returns true if the next item of the sentence's list begins at i: in the same form, and with the
// next number or letter, or a bullet without one. REQUIRES: item_.
bool Scan::IsNextItem(size_t i) const {
  ABSL_ASSERT(item_.has_value());
  // An item has text behind its number; initials ("A. B. Smith") have nothing between them.
  if (i <= item_->end || IsBlank(line_.substr(item_->end, i - item_->end))) return false;
  const std::optional<Item> next = text_.ReadItem(i);
  if (!next || next->before != item_->before || next->behind != item_->behind) return false;
  return item_->value == 0 ? item_->behind.empty() : next->value == item_->value + 1;
}

// Returns true if the sentence ends behind the stop, by rules 1 to 7, brackets left aside.
bool Scan::Splits(const Stop& stop) {
  const Follower follower = text_.ReadFollower(stop.next);
  switch (follower.kind) {  // 1
    case Kind::kBreak:      // Run ends the sentence there
    case Kind::kBlank:
    case Kind::kContinue:
    case Kind::kClose:
    case Kind::kFullStop:
    case Kind::kStrong:
      return false;
    default:
      break;
  }
  if (stop.next == stop.end) return SplitsGlued(stop, follower);  // 2
  // 3. "1. First"; "[...]" stands for words that were left out.
  if (item_ && stop.begin < item_->end) return false;
  const char before = stop.begin > begin_ ? line_[stop.begin - 1] : ' ';
  if (before == '[' || before == '(') return false;
  const bool lower = follower.kind == Kind::kLower && !follower.begins;
  // 4. A wide mark (。) ends a sentence before any letter. So does another mark if the sentence
  // itself begins with a lower-case letter, because its author writes no capitals then. But behind
  // a quote the sentence goes on: "wait!" he said.
  if (stop.strong) {
    return stop.wide || !lower || (!stop.quoted && text_.KindAt(begin_) == Kind::kLower);
  }
  if (lower) return false;  // 5
  if (stop.ellipsis) {      // 6. "Well... Then", but not "Well... I think".
    if (follower.kind == Kind::kUpper) {
      return !rules_.Has(SentenceRules::kCapital, ToLower(follower.word));
    }
    return follower.begins && follower.kind != Kind::kLower;
  }
  return SplitsAtFullStop(stop, follower);  // 7
}

// Rule 2: no blank stands behind the stop.
bool Scan::SplitsGlued(const Stop& stop, const Follower& follower) {
  // The sentence goes on behind a quote before Hiragana, in which particles are written
  // ("「行こう。」と言った。"), and behind brackets that opened inside of it
  // ("书（很新。）很好。").
  if (stop.quoted && IsHiragana(text_.At(stop.end))) return false;
  if (stop.quoted && ClosesBrackets(stop)) return false;
  // A narrow mark counts as a wide one before an East Asian character, unless ASCII stands in front
  // of it: "好吗?好!", but not "Yahoo!ニュース".
  if (stop.wide || (stop.strong && stop.begin > 0 && U8_IS_TRAIL(line_[stop.begin - 1]) &&
                    text_.At(stop.end) >= kFirstEastAsian)) {
    return true;
  }
  const absl::string_view word = text_.Between(word_, stop.begin);
  if (word.size() > SentenceText::kLongestWord || follower.kind != Kind::kUpper) return false;
  // A blank was forgotten in "world.The", "25.She", "world.Second line" and "now!Go", but not in
  // "index.html", "B.In", "window.Open()" and "Yahoo!Mail".
  const WordShape shape = rules_.ShapeOf(word);
  const bool starts = rules_.Has(SentenceRules::kStarter, ToLower(follower.word));
  if (shape.digits) return starts && !word.empty();
  if (!shape.lower || !shape.letters || shape.parts != 1 || shape.characters < 2) return false;
  if (starts || stop.strong) return true;
  static constexpr absl::string_view kEndings =
      " com doc docx exe html json net org pdf php txt xml ";
  const absl::string_view behind =
      line_.substr(std::min(line_.size(), stop.end + follower.word.size()));
  const bool is_name = shape.capitals > 0 || absl::StartsWith(behind, "(") ||
                       absl::StartsWith(behind, "_") ||
                       (behind.size() > 1 && behind[0] == '.' && absl::ascii_isalnum(behind[1])) ||
                       absl::StrContains(kEndings, absl::StrCat(" ", ToLower(follower.word), " "));
  return follower.word.size() > 2 && HasSmallLetters(follower.word) && !is_name;
}

// Rule 7: a full stop and a blank, with no lower-case letter behind them.
bool Scan::SplitsAtFullStop(const Stop& stop, const Follower& follower) {
  const bool number = follower.kind == Kind::kDigit;
  const bool begins =
      follower.begins || rules_.Has(SentenceRules::kStarter, ToLower(follower.word));
  const absl::string_view word = text_.Between(word_, stop.begin);
  if (!stop.quoted && !word.empty() && word.size() <= SentenceText::kLongestWord) {
    const std::string lower = ToLower(word);
    if (number && rules_.Has(SentenceRules::kNumber, lower)) return false;  // a
    if (rules_.Has(SentenceRules::kEnds, lower)) return true;               // b
    if (rules_.Has(SentenceRules::kNever, lower)) return false;
    const WordShape shape = rules_.ShapeOf(word);
    // c. The "t" of "don't." is neither an initial nor a word of consonants.
    const absl::string_view before = text_.Between(begin_, word_);
    const bool joined = absl::EndsWith(before, "'") || absl::EndsWith(before, "’");
    const bool short_form = !joined && (shape.IsInitial() || shape.IsConsonants());
    if (short_form || shape.IsDotted() || rules_.Has(SentenceRules::kSometimes, lower) ||
        rules_.EndsShort(lower) || rules_.InCldr(word) ||
        (rules_.ordinals() && shape.IsOrdinal())) {
      return begins && !number;
    }
  }
  return begins || number || follower.dash || stop.footnote || IcuSplits(stop);  // d, e
}

// Rule 7e. Returns true if a sentence begins at stop.next for ICU, and if ICU fails.
bool Scan::IcuSplits(const Stop& stop) {
  size_t begin = std::max(begin_, stop.begin - std::min(stop.begin, kIcuBefore));
  size_t end = std::min(line_.size(), stop.next + kIcuBehind);
  // The window begins and ends between characters.
  while (begin < stop.begin && U8_IS_TRAIL(line_[begin])) ++begin;
  while (end < line_.size() && end > stop.next + 1 && U8_IS_TRAIL(line_[end])) --end;
  if (icu_ == nullptr) icu_.reset(prototype_.clone());
  if (icu_ == nullptr) return true;
  UErrorCode status = U_ZERO_ERROR;
  UText text = UTEXT_INITIALIZER;
  utext_openUTF8(&text, line_.data() + begin, static_cast<int64_t>(end - begin), &status);
  icu_->setText(&text, status);
  const bool splits =
      U_FAILURE(status) || icu_->isBoundary(static_cast<int32_t>(stop.next - begin)) != 0;
  utext_close(&text);
  return splits;
}

// Returns the outermost pair of brackets around byte `at`, or null. REQUIRES: no pair that earlier
// calls have passed ends behind `at`. So all calls of a line together are linear in its length.
const TextSpan* Scan::Brackets(size_t at) {
  if (!brackets_) brackets_ = text_.ReadBrackets();
  ABSL_ASSERT(bracket_ == 0 || (*brackets_)[bracket_ - 1].end <= at);
  while (bracket_ < brackets_->size() && (*brackets_)[bracket_].end <= at) ++bracket_;
  if (bracket_ == brackets_->size() || (*brackets_)[bracket_].begin >= at) return nullptr;
  return &(*brackets_)[bracket_];
}

// Returns true if the stop closes wide round brackets that opened behind the sentence's beginning.
bool Scan::ClosesBrackets(const Stop& stop) {
  const TextSpan* brackets = Brackets(stop.begin);
  return brackets != nullptr && brackets->begin > begin_ && brackets->end <= stop.end &&
         text_.At(brackets->begin) == 0xff08;
}

// Returns ICU's locale for a language code in any common form; the root locale for other strings.
icu::Locale LocaleOf(absl::string_view language) {
  icu::Locale locale = icu::Locale::createCanonical(std::string(language).c_str());
  return locale.isBogus() ? icu::Locale::getRoot() : locale;
}

}  // namespace

struct SentenceSplitter::Language {
  SentenceRules rules;
  std::unique_ptr<const icu::BreakIterator> icu;  // each Scan works on a copy
};

absl::StatusOr<std::unique_ptr<SentenceSplitter>> SentenceSplitter::Create(
    absl::string_view language) try {
  const icu::Locale locale = LocaleOf(language.empty() ? "en" : language);
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<icu::BreakIterator> icu(
      icu::BreakIterator::createSentenceInstance(locale, status));
  if (U_FAILURE(status)) {
    return absl::FailedPreconditionError(
        absl::StrCat("ICU cannot split sentences (", u_errorName(status), "); is its data there?"));
  }
  return absl::WrapUnique(new SentenceSplitter(std::unique_ptr<const Language>(
      new Language{SentenceRules(locale.getLanguage()), std::move(icu)})));
} catch (const std::bad_alloc&) {
  return StatusOfException();
}

SentenceSplitter::SentenceSplitter(std::unique_ptr<const Language> language)
    : language_(std::move(language)) {}

SentenceSplitter::~SentenceSplitter() = default;

std::vector<TextSpan> SentenceSplitter::Split(absl::string_view line) const {
  return Scan(language_->rules, *language_->icu, line).Run();
}

}  // namespace nibu::internal
