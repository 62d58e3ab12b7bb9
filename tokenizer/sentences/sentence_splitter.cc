#include "tokenizer/sentences/sentence_splitter.h"

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>
#include <unicode/utypes.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/exception_status.h"
#include "tokenizer/sentences/sentence_rules.h"
#include "tokenizer/sentences/sentence_text.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

using Kind = CharacterKind;

// What ICU sees of the text on both sides of a full stop.
constexpr size_t kIcuBefore = 48;
constexpr size_t kIcuBehind = 32;
constexpr UChar32 kFirstEastAsian = 0x2e80;

bool IsHiragana(UChar32 c) { return c >= 0x3040 && c < 0x30a0; }

// One line, from left to right.
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
  // Of the sentence: where it begins, whether as an item of a list; where its last word begins.
  size_t begin_ = 0;
  std::optional<Item> item_;
  size_t word_ = 0;
  // Made when they are needed.
  std::unique_ptr<icu::BreakIterator> icu_;
  std::optional<std::vector<TextSpan>> brackets_;
  size_t bracket_ = 0;  // the first pair that does not end before what was asked for last
};

std::vector<TextSpan> Scan::Run() {
  std::vector<TextSpan> spans;
  size_t content = 0;  // behind the last character that is not white space
  for (size_t i = Begin(0); i <= line_.size();) {
    const size_t at = i;
    const Kind kind = text_.KindAt(i);
    bool ends = kind == Kind::kBreak;
    if (i < line_.size()) i = text_.Behind(i);
    if (kind == Kind::kBlank) {
      word_ = i;
      ends = item_ && IsNextItem(i) && !InBrackets(i);
    } else if (kind == Kind::kFullStop || kind == Kind::kStrong) {
      const Stop stop = text_.ReadStop(at);
      i = content = stop.end;
      ends = Splits(stop) && !InBrackets(i);
      if (i > at + 1) word_ = i;
    } else if (!ends) {
      content = i;
      // A degree sign may be a part of a word: N°.
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

// Begins a sentence behind the white space at i, and returns where.
size_t Scan::Begin(size_t i) {
  while (i < line_.size() && text_.IsSpaceAt(i)) i = text_.Behind(i);
  begin_ = word_ = i;
  item_ = text_.ReadItem(i);
  return i;
}

// Whether the item that the sentence begins with is followed by the next one at i.
bool Scan::IsNextItem(size_t i) const {
  // Initials and the like have nothing between them: "A. B. Smith"
  if (i <= item_->end || IsBlank(line_.substr(item_->end, i - item_->end))) return false;
  const std::optional<Item> next = text_.ReadItem(i);
  if (!next || next->before != item_->before || next->behind != item_->behind) return false;
  return item_->value == 0 ? item_->behind.empty() : next->value == item_->value + 1;
}

bool Scan::Splits(const Stop& stop) {
  const Follower follower = text_.ReadFollower(stop.next);
  switch (follower.kind) {
    case Kind::kBreak:  // which ends the sentence itself
    case Kind::kBlank:
    case Kind::kContinue:
    case Kind::kClose:
    case Kind::kFullStop:
    case Kind::kStrong:
      return false;
    default:
      break;
  }
  if (stop.next == stop.end) return SplitsGlued(stop, follower);
  // The number of an item: "1. First"
  if (item_ && stop.begin < item_->end) return false;
  // Words left out: "[...]"
  const char before = stop.begin > begin_ ? line_[stop.begin - 1] : ' ';
  if (before == '[' || before == '(') return false;
  const bool lower = follower.kind == Kind::kLower && !follower.begins;
  // In a text without capitals a small letter says nothing.
  if (stop.strong) {
    return stop.wide || !lower || (!stop.quoted && text_.KindAt(begin_) == Kind::kLower);
  }
  if (lower) return false;
  if (stop.ellipsis) {
    if (follower.kind == Kind::kUpper) {
      return !rules_.Has(SentenceRules::kCapital, ToLower(follower.word));
    }
    return follower.begins && follower.kind != Kind::kLower;
  }
  return SplitsAtFullStop(stop, follower);
}

// No blank stands behind the marks.
bool Scan::SplitsGlued(const Stop& stop, const Follower& follower) {
  // "「行こう。」と言った。", "书（很新。）很好。"
  if (stop.quoted && IsHiragana(text_.At(stop.end))) return false;
  if (stop.quoted && ClosesBrackets(stop)) return false;
  // "好吗?好!", but not "Yahoo!ニュース"
  if (stop.wide || (stop.strong && stop.begin > 0 && U8_IS_TRAIL(line_[stop.begin - 1]) &&
                    text_.At(stop.end) >= kFirstEastAsian)) {
    return true;
  }
  const absl::string_view word = text_.Between(word_, stop.begin);
  if (word.size() > SentenceText::kLongestWord || follower.kind != Kind::kUpper) return false;
  // "world.The", but not "index.html" and not "B.In"
  const WordShape shape = rules_.ShapeOf(word);
  return shape.lower && shape.letters && shape.parts == 1 && shape.characters > 1 &&
         rules_.Has(SentenceRules::kStarter, ToLower(follower.word));
}

bool Scan::SplitsAtFullStop(const Stop& stop, const Follower& follower) {
  const bool number = follower.kind == Kind::kDigit;
  const bool begins =
      follower.begins || rules_.Has(SentenceRules::kStarter, ToLower(follower.word));
  const absl::string_view word = text_.Between(word_, stop.begin);
  if (!stop.quoted && !word.empty() && word.size() <= SentenceText::kLongestWord) {
    const std::string lower = ToLower(word);
    if (number && rules_.Has(SentenceRules::kNumber, lower)) return false;
    if (rules_.Has(SentenceRules::kEnds, lower)) return true;
    if (rules_.Has(SentenceRules::kNever, lower)) return false;
    const WordShape shape = rules_.ShapeOf(word);
    // The "t" of "don't" is neither.
    const absl::string_view before = text_.Between(begin_, word_);
    const bool joined = absl::EndsWith(before, "'") || absl::EndsWith(before, "’");
    const bool short_form = !joined && (shape.IsInitial() || shape.IsConsonants());
    if (short_form || shape.IsDotted() || rules_.Has(SentenceRules::kSometimes, lower) ||
        rules_.EndsShort(lower) || rules_.InCldr(word) ||
        (rules_.ordinals() && shape.IsOrdinal())) {
      return begins && !number;
    }
  }
  return begins || number || follower.dash || stop.footnote || IcuSplits(stop);
}

bool Scan::IcuSplits(const Stop& stop) {
  size_t begin = std::max(begin_, stop.begin - std::min(stop.begin, kIcuBefore));
  size_t end = std::min(line_.size(), stop.next + kIcuBehind);
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

// The outermost brackets around a place, or null; never asked for an earlier place than before.
const TextSpan* Scan::Brackets(size_t at) {
  if (!brackets_) brackets_ = text_.ReadBrackets();
  while (bracket_ < brackets_->size() && (*brackets_)[bracket_].end <= at) ++bracket_;
  if (bracket_ == brackets_->size() || (*brackets_)[bracket_].begin >= at) return nullptr;
  return &(*brackets_)[bracket_];
}

// Whether the stop closes wide brackets, not quotes, that opened behind the sentence's beginning.
bool Scan::ClosesBrackets(const Stop& stop) {
  const TextSpan* brackets = Brackets(stop.begin);
  return brackets != nullptr && brackets->begin > begin_ && brackets->end <= stop.end &&
         text_.At(brackets->begin) == 0xff08;
}

icu::Locale LocaleOf(absl::string_view language) {
  icu::Locale locale = icu::Locale::createCanonical(std::string(language).c_str());
  return locale.isBogus() ? icu::Locale::getRoot() : locale;
}

}  // namespace

struct SentenceSplitter::Language {
  SentenceRules rules;
  std::unique_ptr<const icu::BreakIterator> icu;
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
