// Finds the words of a translation that elements are around (see placer.h).
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "tokenizer/unicode/characters.h"
#include "tokenizer/unicode/typesetting.h"
#include "tools/text/marked/placer.h"

namespace nibu::internal {
namespace {

// Returns where a text has a phrase, as whole words, or a number, perhaps with an ending.
std::vector<size_t> FindPhrase(absl::string_view text, absl::string_view phrase) {
  const bool is_number = absl::c_all_of(phrase, absl::ascii_isdigit);
  std::vector<size_t> found;
  for (size_t at = text.find(phrase); at != text.npos; at = text.find(phrase, at + 1)) {
    const absl::string_view behind = text.substr(at + phrase.size());
    const bool ends = is_number ? behind.empty() || !absl::ascii_isdigit(behind[0])
                                : IsWordBorder(text, at + phrase.size());
    if (IsWordBorder(text, at) && ends) found.push_back(at);
  }
  return found;
}

// Returns whether a phrase begins or ends with a sign, such as that of a currency.
bool IsSignOf(absl::string_view phrase, absl::string_view sign) {
  return !sign.empty() && !HasWords(sign) && !absl::StrContains(".,:;!?()[]", sign) &&
         (absl::StartsWith(phrase, sign) || absl::EndsWith(phrase, sign));
}

// Returns the part of a span between its first and last digit, or an empty one.
TextSpan NumberIn(absl::string_view text, TextSpan span) {
  while (span.begin < span.end && !absl::ascii_isdigit(text[span.begin])) ++span.begin;
  while (span.begin < span.end && !absl::ascii_isdigit(text[span.end - 1])) --span.end;
  return span;
}

// Returns where the target has a part of the text: the n-th copy for the n-th one in the text. A
// number may have its points and commas exchanged: 5.99, 5,99
std::optional<size_t> CopyOf(absl::string_view text, const TextSpan& part,
                             absl::string_view target) {
  const absl::string_view phrase = text.substr(part.begin, part.end - part.begin);
  if (!HasWords(phrase)) return std::nullopt;
  const std::vector<size_t> originals = FindPhrase(text, phrase);
  std::vector<size_t> copies = FindPhrase(target, phrase);
  if (copies.empty() && phrase.find_first_not_of("0123456789.,") == phrase.npos) {
    copies = FindPhrase(target, absl::StrReplaceAll(phrase, {{".", ","}, {",", "."}}));
  }
  const size_t n = absl::c_find(originals, part.begin) - originals.begin();
  if (n == originals.size() || copies.size() != originals.size()) return std::nullopt;
  return copies[n];
}

}  // namespace

// Makes two units of the one around a byte of the target, if that begins in front of the byte.
void Placer::CutUnit(size_t at) {
  const auto around = absl::c_find_if(units_, [&](const Unit& unit) {
    return unit.target.begin < at && at < unit.target.end && !unit.is_part;
  });
  if (around == units_.end()) return;
  Unit behind = *around;
  around->target.end = behind.target.begin = at;
  const size_t cut = around - units_.begin();
  units_.insert(around + 1, behind);
  for (Node& node : nodes_) {
    node.begin += node.begin > cut ? 1 : 0;
    node.end += node.end > cut ? 1 : 0;
  }
}

// Cuts units at the ends of a span of the target, and returns those in it.
UnitRun Placer::CutOut(const TextSpan& target) {
  CutUnit(target.begin);
  CutUnit(target.end);
  return UnitsIn(target);
}

// Returns whether no sibling of an element has a unit of a run.
bool Placer::IsFree(const Node& element, const UnitRun& run) const {
  const auto units = absl::MakeSpan(units_).subspan(run.begin, run.end - run.begin);
  return absl::c_all_of(units, [&](const Unit& unit) { return unit.owner == element.parent; });
}

// Returns the unit of the ending that the target has behind a number: 21<sup>st</sup> becomes
// 21<sup>.</sup>.
UnitRun Placer::FindEnding(const TextSpan& number) {
  const absl::string_view text = source_.text;
  const bool is_number = number == NumberIn(text, number);
  const std::optional<size_t> copy = is_number ? CopyOf(text, number, target_) : std::nullopt;
  if (!copy.has_value()) return {};
  const size_t begin = *copy + number.end - number.begin;
  static const RE2& pattern = *new RE2(R"((-?\pL{1,4}|\.))");
  re2::StringPiece rest(target_.data() + begin, target_.size() - begin);
  re2::StringPiece ending;
  if (!RE2::Consume(&rest, pattern, &ending)) return {};
  const UnitRun run = CutOut({begin, begin + ending.size()});
  for (size_t unit = run.begin; unit < run.end; ++unit) units_[unit].is_part = true;
  return run;
}

// Returns the units of an element in a word (H<sub>2</sub>O, x<sub>i</sub>) that the target has,
// too.
UnitRun Placer::FindPartOfWord(const Node& element) {
  const absl::string_view text = source_.text;
  const TextSpan own = WithoutBlanks(text, element.span);
  TextSpan word = own;
  while (!IsWordBorder(text, word.begin)) --word.begin;
  while (!IsWordBorder(text, word.end)) ++word.end;
  if (word == own) return {};
  const std::optional<size_t> copy = CopyOf(text, word, target_);
  if (!copy.has_value()) return FindEnding({word.begin, own.begin});
  const TextSpan target = {*copy + own.begin - word.begin, *copy + own.end - word.begin};
  const UnitRun run = CutOut(target);
  for (size_t unit = run.begin; unit < run.end; ++unit) {
    if (!IsInside(units_[unit].target, target)) return {};
  }
  return IsFree(element, run) ? run : UnitRun();
}

// Returns the units that are a copy of an element's text, if this is a number or name, or a part of
// a word.
UnitRun Placer::FindCopy(const Node& element) {
  const absl::string_view text = source_.text;
  const TextSpan own = WithoutBlanks(text, element.span);
  if (const UnitRun run = FindPartOfWord(element); !run.empty()) return run;
  if (BeginsSmall(text.substr(own.begin))) return {};
  for (const TextSpan& part : {own, NumberIn(text, own)}) {
    const std::optional<size_t> at = CopyOf(text, part, target_);
    if (!at.has_value()) continue;
    UnitRun run = CutOut({*at, *at + part.end - part.begin});
    const UnitRun copy = run;
    // A sign of currency beside the number is that of the element, or comes from such a sign.
    const absl::string_view phrase = text.substr(own.begin, own.end - own.begin);
    bool has_sign = false;
    const auto is_own = [&](size_t unit) {
      const TextSpan& from = units_[unit].source;
      if (part == own || units_[unit].owner != element.parent) return false;
      if (IsInside(from, own)) return true;
      const bool is_sign = IsSignOf(phrase, TextOf(unit)) ||
                           IsSignOf(phrase, text.substr(from.begin, from.end - from.begin));
      return is_sign && !std::exchange(has_sign, true);
    };
    while (run.begin > 0 && is_own(run.begin - 1)) --run.begin;
    while (run.end < units_.size() && is_own(run.end)) ++run.end;
    while (run.begin < copy.begin && !IsCut(run.begin)) ++run.begin;
    while (run.end > copy.end && !IsCut(run.end)) --run.end;
    if (IsFree(element, run)) return run;
  }
  return {};
}

// Returns a run with the signs at its ends that the element has at its own: neither the full stop
// of <b>3</b>. nor a comma in front of a clause, but both brackets of <b>(big)</b>.
UnitRun Placer::WithOwnSigns(const Node& element, const UnitRun& run) {
  constexpr absl::string_view kClosing = ".,:;!?)]";
  constexpr absl::string_view kOpening = ",;:([";
  if (run.empty()) return run;
  const TextSpan own = WithoutBlanks(source_.text, element.span);
  const auto has = [](absl::string_view signs, char c) { return absl::StrContains(signs, c); };
  const TextSpan whole = {units_[run.begin].target.begin, units_[run.end - 1].target.end};
  TextSpan span = whole;
  const char last = source_.text[own.end - 1];
  const char first = source_.text[own.begin];
  if (!has(kClosing, last)) {
    while (span.end > span.begin && has(kClosing, target_[span.end - 1])) --span.end;
  } else if (last == ')' && target_.substr(span.end, 1) == ")") {
    ++span.end;
  }
  if (!has(kOpening, first)) {
    while (span.begin < span.end &&
           (has(kOpening, target_[span.begin]) || target_[span.begin] == ' ')) {
      ++span.begin;
    }
  } else if (first == '(' && span.begin > 0 && target_[span.begin - 1] == '(') {
    --span.begin;
  }
  if (!HasWords(target_.substr(span.begin, span.end - span.begin))) return run;
  const UnitRun own_run = CutOut(span);
  return IsFree(element, own_run) ? own_run : UnitsIn(whole);
}

// Returns the run with the greatest sum of +1 (a unit is aligned with the element), -1 (with what
// is outside) or 0 (outside, in a word of which more units so far were inside), by Kadane's
// algorithm. It cuts a word only if the source's does. Why not all between the first and the last
// unit from inside: the attention of a token is often off by a word, and a single stray one would
// stretch an element over the sentence.
UnitRun Placer::FindRun(const Node& element) const {
  const absl::string_view text = source_.text;
  const Node& parent = nodes_[element.parent];
  const bool cuts_words =
      !IsWordBorder(text, element.span.begin) || !IsWordBorder(text, element.span.end);
  UnitRun found;
  bool found_behind = false;  // siblings in front of the element are in front of what was found
  bool is_behind = false;
  int best = 0;
  int sum = 0;
  size_t start = parent.end;
  int forgiven = 0;
  for (size_t unit = parent.begin; unit < parent.end; ++unit) {
    if (units_[unit].owner != element.parent) {
      is_behind = nodes_[units_[unit].owner].span.begin < element.span.begin;
      start = parent.end;
    } else if ((start == parent.end || sum <= 0) && (cuts_words || IsCut(unit))) {
      start = unit;
      sum = 0;
    }
    if (start == parent.end) continue;
    if (IsCut(unit)) forgiven = 0;
    if (IsInside(units_[unit].source, element.span)) {
      ++sum;
      ++forgiven;
    } else if (forgiven-- <= 0) {  // an ending may attend to the word that it agrees with
      --sum;
    }
    const bool is_better = sum > best || (sum == best && is_behind && !found_behind);
    if (sum > 0 && is_better && (cuts_words || IsCut(unit + 1))) {
      best = sum;
      found_behind = is_behind;
      found = {start, unit + 1};
    }
  }
  return found;
}

// Returns whether units [begin, end) have words or protected parts.
bool Placer::HasWordsIn(size_t begin, size_t end) const {
  while (begin < end && !units_[begin].is_part && !HasWords(TextOf(begin))) ++begin;
  return begin < end;
}

// Returns the word whose source is nearest to the element; of several, the one that stands where
// the element stood. A sibling of several words gives away the first or last of them.
UnitRun Placer::FindNearest(const Node& element) {
  const Node& parent = nodes_[element.parent];
  if (parent.begin == parent.end) return {};
  const TextSpan own = WithoutBlanks(source_.text, element.span);
  const size_t first = units_[parent.begin].target.begin;
  const auto share = static_cast<double>(units_[parent.end - 1].target.end - first) /
                     static_cast<double>(parent.span.end - parent.span.begin);
  const double place = static_cast<double>(first) + (static_cast<double>(own.begin + own.end) / 2 -
                                                     static_cast<double>(parent.span.begin)) *
                                                        share;
  UnitRun nearest;
  std::pair<size_t, double> least;
  for (size_t begin = parent.begin, end = begin; begin < parent.end; begin = end) {
    size_t distance = source_.text.size();  // if the alignment is not known
    const size_t owner = units_[begin].owner;
    bool is_one = true;  // has one owner
    do {
      const TextSpan& from = units_[end].source;
      is_one = is_one && units_[end].owner == owner && !units_[end].is_part;
      if (from.begin < from.end) {
        distance = std::min(distance, from.end <= own.begin   ? own.begin - from.end
                                      : own.end <= from.begin ? from.begin - own.end
                                                              : 0);
      }
    } while (++end < parent.end && !IsCut(end));
    const Node& other = nodes_[owner];
    const bool is_given =
        owner == element.parent ||
        (other.parent == element.parent && ((begin == other.begin && HasWordsIn(end, other.end)) ||
                                            (end == other.end && HasWordsIn(other.begin, begin))));
    if (!is_one || !is_given || !HasWordsIn(begin, end)) continue;
    const auto middle =
        static_cast<double>(units_[begin].target.begin + units_[end - 1].target.end);
    const std::pair<size_t, double> cost = {distance, std::abs(middle / 2 - place)};
    if (!nearest.empty() && least < cost) continue;
    nearest = {begin, end};
    least = cost;
  }
  if (nearest.empty() || units_[nearest.begin].owner == element.parent) return nearest;
  Node& giver = nodes_[units_[nearest.begin].owner];
  (nearest.begin == giver.begin ? giver.begin : giver.end) =
      nearest.begin == giver.begin ? nearest.end : nearest.begin;
  return nearest;
}

// Gives an element the word behind it or in front of it, which is its parent's, so that two
// elements in it have a word each. Returns false if there is none.
bool Placer::Widen(size_t i) {
  if (i == root_ || nodes_[i].begin == nodes_[i].end) return false;
  Node& element = nodes_[i];
  const Node& parent = nodes_[element.parent];
  const auto is_free = [&](size_t unit) {
    return units_[unit].owner == element.parent && !units_[unit].is_part;
  };
  size_t begin = element.begin;
  size_t end = element.end;
  while (end < parent.end && is_free(end) && (end == element.end || !IsCut(end))) ++end;
  if (!IsCut(end) || !HasWordsIn(element.end, end)) {
    end = element.end;
    while (begin > parent.begin && is_free(begin - 1) &&
           (begin == element.begin || !IsCut(begin))) {
      --begin;
    }
    if (!IsCut(begin) || !HasWordsIn(begin, element.begin)) {
      const bool is_all = element.begin == parent.begin && element.end == parent.end;
      return is_all && Widen(element.parent) && Widen(i);
    }
  }
  element.begin = begin;
  element.end = end;
  for (size_t unit = begin; unit < end; ++unit) {
    if (units_[unit].owner == element.parent) units_[unit].owner = i;
  }
  return true;
}

// Returns whether an element is around words.
bool Placer::HasOwnWords(const Node& element) const {
  const TextSpan& span = element.span;
  return element.IsStretch() && !element.capitals.has_value() &&
         HasWords(absl::string_view(source_.text).substr(span.begin, span.end - span.begin));
}

// Places an element: in pass 0 only where its text is copied, and in pass 2 next to anything.
void Placer::PlaceElement(size_t i, int pass) {
  Node& element = nodes_[i];
  const Node& parent = nodes_[element.parent];
  if (!element.IsStretch() || element.is_placed || !parent.is_placed) return;
  const auto is_free = [&](size_t unit) { return units_[unit].owner == element.parent; };
  const auto head_of_free = [&] {  // the parent's units in front of it are free
    size_t head = parent.begin;
    while (head < parent.end && is_free(head)) ++head;
    return head;
  };
  const bool has_words = HasOwnWords(element);
  UnitRun run;
  if (head_of_free() == parent.end &&
      IsInside(WithoutBlanks(source_.text, parent.span), element.span)) {
    run = {parent.begin, parent.end};  // as it does in the source, it encloses all of its parent
  } else {
    run = FindCopy(element);
    if (run.empty() && pass > 0) run = FindRun(element);
    if (has_words && !HasWordsIn(run.begin, run.end)) run = {};
  }
  if (run.empty() && pass > 1 && has_words) {
    run = FindNearest(element);
    if (run.empty() && Widen(element.parent)) run = FindNearest(element);
  }
  if (has_words && element.IsWhole() && run != UnitRun{parent.begin, parent.end}) {
    run = WithOwnSigns(element, run);
  }
  if (run.empty()) run = {parent.end, parent.end};
  if (pass == 0 && (run.empty() || !element.IsWhole())) return;
  element.begin = run.begin;
  element.end = run.end;
  element.is_placed = !run.empty() || !element.IsWhole();
  if (!element.capitals.has_value()) {
    // An element with one tag began in front of the text, or goes on behind it. If nothing is
    // aligned with its words, it has the first or last word.
    const size_t head = head_of_free();
    size_t tail = parent.end;  // the parent's units from here on are free
    while (tail > parent.begin && is_free(tail - 1)) --tail;
    if (element.before.empty()) {
      element.end = run.empty() ? parent.begin : std::min(run.end, head);
      element.begin = parent.begin;
      while (has_words && element.end < head &&
             (!HasWordsIn(element.begin, element.end) || !IsCut(element.end))) {
        ++element.end;
      }
    } else if (element.after.empty()) {
      element.begin = std::max(run.begin, tail);
      element.end = parent.end;
      while (has_words && element.begin > tail &&
             (!HasWordsIn(element.begin, element.end) || !IsCut(element.begin))) {
        --element.begin;
      }
    }
  }
  for (size_t unit = element.begin; unit < element.end; ++unit) units_[unit].owner = i;
}

}  // namespace nibu::internal
