// Reads marks, what follows them, list items and brackets of a line for the sentence splitter.
#include "tokenizer/sentences/sentence_text.h"

#include <unicode/uchar.h>

#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

using Kind = CharacterKind;

// In bytes, from the opening bracket to the closing one.
constexpr size_t kLongestBrackets = 400;

constexpr std::u32string_view kBullets = U"\u2022\u2023\u2043\u25aa\u25cf\u25e6";

}  // namespace

// Reads full stops, question marks and so on, in any mixture, from i on. Returns the byte behind
// them.
size_t SentenceText::ReadMarks(size_t i, Stop* stop) const {
  const size_t begin = i;
  for (; IsStopAt(i); i = Behind(i)) {
    const bool strong = KindAt(i) == Kind::kStrong;
    stop->wide |= strong && At(i) >= 0x500;
    stop->strong |= strong;
    stop->ellipsis |= !strong && (i > begin || At(i) == kEllipsis);
  }
  return i;
}

// Reads closing quotes, closing brackets and footnotes (.”[1]) from i on. Returns the byte behind
// them.
size_t SentenceText::ReadClosing(size_t i, Stop* stop) const {
  for (; true; i = Behind(i)) {
    const UChar32 c = At(i);
    if (c == '[' && KindAt(i + 1) == Kind::kDigit) {
      const size_t end = Skip(i + 1, Kind::kDigit);
      if (At(end) != ']') return i;
      stop->footnote = true;
      i = end;
    } else if (KindAt(i) == Kind::kQuote) {
      // In some languages (German “) an initial quote closes, but not right before a word.
      if (u_charType(c) == U_INITIAL_PUNCTUATION && IsLetterAt(Behind(i))) return i;
      stop->quoted = true;
    } else if (KindAt(i) == Kind::kClose) {
      stop->quoted |= c >= 0x3000;  // 」 and the other brackets of CJK are its quotes
    } else {
      return i;
    }
  }
}

SentenceText::Stop SentenceText::ReadStop(size_t i) const {
  ABSL_ASSERT(IsStopAt(i));
  Stop stop;
  stop.begin = i;
  while (true) {
    // Marks and closing signs may take turns: "(Yes!)."
    do {
      stop.end = i;
      i = ReadClosing(ReadMarks(i, &stop), &stop);
    } while (stop.end < i);
    stop.next = Skip(i, Kind::kBlank);
    if (stop.next == i || stop.next == line_.size()) return stop;
    // More of it may stand behind a blank: ". . .", "! ?", "« Oui. »", ". [1]"; but ". .net" and
    // ". « Non" begin something new, as the letter or opening quote in them shows.
    Stop more;
    const UChar32 c = At(stop.next);
    const bool closes = c == '[' || c == 0xbb || c == 0x203a || c == 0x201d;
    const size_t end = closes || KindAt(stop.next) == Kind::kClose ? ReadClosing(stop.next, &more)
                                                                   : ReadMarks(stop.next, &more);
    const Kind behind = KindAt(end);
    if (end == stop.next || IsLetterAt(end) || behind == Kind::kDigit || behind == Kind::kOpen) {
      return stop;
    }
    stop.ellipsis |= !stop.strong && IsStopAt(stop.next);
    i = stop.next;
  }
}

SentenceText::Follower SentenceText::ReadFollower(size_t i) const {
  Follower follower;
  bool opened = false;
  for (const size_t limit = i + kLongestWord; i < limit; i = Behind(i)) {
    const UChar32 c = At(i);
    follower.kind = KindAt(i);
    if (follower.kind == Kind::kOpen || follower.kind == Kind::kQuote) {
      follower.begins |= c == 0xa1 || c == 0xbf;
      opened = true;
      // A Dutch sentence may begin with a small letter behind an apostrophe: "'s Morgens".
      const size_t next = Behind(i) + 1;
      follower.begins |= KindAt(next - 1) == Kind::kLower && KindAt(next) == Kind::kBlank &&
                         KindAt(next + 1) == Kind::kUpper;
    } else if (follower.kind == Kind::kDash) {
      follower.dash = true;
    } else if (IsOneOf(c, kBullets) || c == kEllipsis || (c == '.' && At(i + 1) == '.')) {
      follower.begins = true;
    } else if (follower.kind == Kind::kBlank) {
      if (!opened && !follower.dash && !follower.begins) break;
    } else if (follower.kind != Kind::kMark && !(c == '.' && follower.begins)) {
      break;
    }
  }
  // A comma right behind an opening quote or bracket counts as text.
  if (opened && follower.kind == Kind::kContinue) follower.kind = Kind::kOther;
  if (u_charType(At(i)) == U_CURRENCY_SYMBOL) follower.kind = Kind::kDigit;
  size_t end = i;
  while (end - i < kLongestWord && (IsLetterAt(end) || KindAt(end) == Kind::kMark)) {
    end = Behind(end);
  }
  // A letter before a full stop is an initial and no word: "A. Smith" and not "A man".
  if (At(end) != '.' || end > Behind(i)) follower.word = Between(i, end);
  return follower;
}

// An item is a bullet, a number, or both:
//   bullet? "("? (number | letter | Roman number) "."? ")"? blank
// with a full stop or a bracket at least behind the number.
std::optional<SentenceText::Item> SentenceText::ReadItem(size_t i) const {
  const size_t begin = i;
  if (IsOneOf(At(i), kBullets)) i = Skip(Behind(i), Kind::kBlank);
  const size_t bullet = i;
  if (At(i) == '(') ++i;
  const size_t number = i;
  int value = 0;
  while (i < number + 6 && (IsLetterAt(i) || KindAt(i) == Kind::kDigit ||
                            (At(i) == '.' && KindAt(i + 1) == Kind::kDigit))) {
    if (KindAt(i) == Kind::kDigit) value = 10 * value + u_charDigitValue(At(i));
    i = Behind(i);
  }
  const absl::string_view text = Between(number, i);
  const WordShape shape = rules_.ShapeOf(text);
  const size_t behind = i;
  if (At(i) == '.') ++i;
  if (At(i) == ')') ++i;
  const bool roman = text.find_first_not_of("ivxIVX") == text.npos;
  if (i > behind && IsSpaceAt(i) && !text.empty() &&
      (shape.IsInitial() || roman || (shape.digits && shape.longest <= 3))) {
    if (shape.parts > 1) value = 0;
    if (shape.IsInitial()) value = At(number);
    return Item{Between(begin, number), value, Between(behind, i), i};
  }
  if (bullet == begin) return std::nullopt;
  return Item{Between(begin, bullet), 0, "", bullet};
}

// A stack of open brackets, read once. A closing bracket counts if it is the partner of the one
// that was opened last.
std::vector<TextSpan> SentenceText::ReadBrackets() const {
  std::vector<TextSpan> pairs;
  std::vector<size_t> open;
  for (size_t i = 0; i < line_.size(); i = Behind(i)) {
    const Kind kind = KindAt(i);
    if (kind == Kind::kOpen) open.push_back(i);
    if (kind != Kind::kClose || open.empty()) continue;
    const size_t begin = open.back();
    if (u_getBidiPairedBracket(At(i)) != At(begin)) continue;
    open.pop_back();
    if (i - begin > kLongestBrackets) continue;
    // Pairs inside of this one are dropped.
    while (!pairs.empty() && pairs.back().begin > begin) pairs.pop_back();
    pairs.push_back({begin, Behind(i)});
  }
  return pairs;
}

}  // namespace nibu::internal
