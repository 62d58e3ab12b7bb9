// Places elements and points in a translation, and writes it (see placer.h).
#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tokenizer/unicode/characters.h"
#include "tokenizer/unicode/typesetting.h"
#include "tools/text/marked/placer.h"

namespace nibu::internal {
namespace {

bool BeginsWord(absl::string_view text) { return !IsWordBorder(absl::StrCat("a", text), 1); }

bool EndsWord(absl::string_view text) {
  return !IsWordBorder(absl::StrCat(text, "a"), text.size());
}

// Returns where a text has a phrase, as whole words.
std::vector<size_t> FindPhrase(absl::string_view text, absl::string_view phrase) {
  std::vector<size_t> found;
  for (size_t at = text.find(phrase); at != text.npos; at = text.find(phrase, at + 1)) {
    if (IsWordBorder(text, at) && IsWordBorder(text, at + phrase.size())) found.push_back(at);
  }
  return found;
}

// Returns the part of a span between its first and last digit, or an empty one.
TextSpan NumberIn(absl::string_view text, TextSpan span) {
  while (span.begin < span.end && !absl::ascii_isdigit(text[span.begin])) ++span.begin;
  while (span.begin < span.end && !absl::ascii_isdigit(text[span.end - 1])) --span.end;
  return span;
}

}  // namespace

Placer::Placer(const MarkedText& source, absl::string_view target,
               absl::Span<const AlignedToken> tokens, size_t prefix)
    : source_(source), target_(target), prefix_(prefix), root_(source.annotations.size()) {
  ReadUnits(tokens);
  ReadNodes();
  for (size_t i = 0; i < root_; ++i) FindName(i);
  JoinWords();
  nodes_[root_].end = units_.size();
  for (int pass = 0; pass < 3; ++pass) {
    for (size_t i = 0; i < root_; ++i) PlaceElement(i, pass);
  }
  for (size_t i = 0; i < root_; ++i) {
    has_emptied_ = has_emptied_ || (HasOwnWords(nodes_[i]) && !nodes_[i].is_placed);
    PlacePoint(i);
  }
}

bool Placer::IsCut(size_t unit) const {
  return unit == units_.size() || IsWordBorder(target_, units_[unit].target.begin);
}

absl::string_view Placer::TextOf(size_t unit) const {
  const TextSpan& span = units_[unit].target;
  return target_.substr(span.begin, span.end - span.begin);
}

// Returns the units that are a copy of an element's text, if this is a number or name: the n-th
// copy in the target for the n-th one in the source.
UnitRun Placer::FindCopy(const Node& element) const {
  const absl::string_view text = source_.text;
  const TextSpan own = WithoutBlanks(text, element.span);
  if (BeginsSmall(text.substr(own.begin))) return {};
  for (const TextSpan& part : {own, NumberIn(text, own)}) {
    const absl::string_view phrase = text.substr(part.begin, part.end - part.begin);
    if (!HasWords(phrase)) continue;
    const std::vector<size_t> originals = FindPhrase(text, phrase);
    const std::vector<size_t> copies = FindPhrase(target_, phrase);
    const size_t n = absl::c_find(originals, part.begin) - originals.begin();
    if (n == originals.size() || copies.size() != originals.size()) continue;
    UnitRun run = UnitsIn({copies[n], copies[n] + phrase.size()});
    const UnitRun copy = run;
    const auto is_own = [&](size_t unit) {  // a sign of currency beside the number
      return part != own && units_[unit].owner == element.parent &&
             IsInside(units_[unit].source, own);
    };
    while (run.begin > 0 && is_own(run.begin - 1)) --run.begin;
    while (run.end < units_.size() && is_own(run.end)) ++run.end;
    while (run.begin < copy.begin && !IsCut(run.begin)) ++run.begin;
    while (run.end > copy.end && !IsCut(run.end)) --run.end;
    const auto units = absl::MakeSpan(units_).subspan(run.begin, run.end - run.begin);
    if (absl::c_all_of(units, [&](const Unit& u) { return u.owner == element.parent; })) return run;
  }
  return {};
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
  int best = 0;
  int sum = 0;
  size_t start = parent.end;
  int forgiven = 0;
  for (size_t unit = parent.begin; unit < parent.end; ++unit) {
    if (units_[unit].owner != element.parent) {
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
    if (sum > best && (cuts_words || IsCut(unit + 1))) {
      best = sum;
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
  size_t head = parent.begin;  // the parent's units before `head` and from `tail` on are free
  while (head < parent.end && is_free(head)) ++head;
  size_t tail = parent.end;
  while (tail > parent.begin && is_free(tail - 1)) --tail;
  const bool has_words = HasOwnWords(element);
  UnitRun run;
  if (head == parent.end && IsInside(WithoutBlanks(source_.text, parent.span), element.span)) {
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
  if (run.empty()) run = {parent.end, parent.end};
  if (pass == 0 && (run.empty() || !element.IsWhole())) return;
  element.begin = run.begin;
  element.end = run.end;
  element.is_placed = !run.empty() || !element.IsWhole();
  if (!element.capitals.has_value()) {
    // An element with one tag began in front of the text, or goes on behind it. If nothing is
    // aligned with its words, it has the first or last word.
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

// Returns the unit before which a point goes: next to the unit whose source is nearest to it.
size_t Placer::Anchor(const Annotation& point) const {
  const absl::string_view text = source_.text;
  const size_t at = point.span.begin;
  if (absl::StripAsciiWhitespace(text.substr(0, at)).empty() || units_.empty()) return 0;
  if (point.span.end == text.size()) return units_.size();
  if (!HasWords(text.substr(point.span.end))) {  // in front of the full stop
    size_t anchor = units_.size();
    while (anchor > 0 && !HasWords(TextOf(anchor - 1))) --anchor;
    return anchor > 0 ? anchor : units_.size();
  }
  size_t nearest = SIZE_MAX;  // twice the bytes; plus 1 if the unit is behind the point
  size_t anchor = 0;
  for (size_t unit = 0; unit < units_.size(); ++unit) {
    const TextSpan source = units_[unit].source;
    if (source.begin == source.end) continue;
    const bool behind = source.begin < at;
    const size_t distance =
        behind ? 2 * (at - std::min(at, source.end)) : 2 * (source.begin - at) + 1;
    if (distance < nearest || (distance == nearest && behind)) {
      nearest = distance;
      anchor = behind ? unit + 1 : unit;
    }
  }
  const bool is_behind = nearest % 2 == 0;  // the point cuts no word unless it did in the source
  while (anchor > 0 && IsWordBorder(text, at) && !IsCut(anchor)) anchor += is_behind ? 1 : -1;
  return anchor;
}

void Placer::PlacePoint(size_t i) {
  Node& point = nodes_[i];
  if (point.is_placed) return;
  const Node& parent = nodes_[point.parent];
  size_t at = Anchor(point);
  while (at < units_.size() && units_[at].target.begin < prefix_) ++at;
  at = std::clamp(at, parent.begin, parent.end);
  if (at < parent.end && units_[at].owner != point.parent) {  // leaves the sibling that it is in
    size_t sibling = units_[at].owner;
    while (nodes_[sibling].parent != point.parent) sibling = nodes_[sibling].parent;
    if (nodes_[sibling].begin < at) at = nodes_[sibling].end;
  }
  point.begin = point.end = at;
}

// Returns the text of a point for byte `at` of the target. A blank at its ends (see AsPoint)
// stays only where the target has none, and not in an element without content. A protected part
// gets blanks where it would touch a word or a sign that it does not touch in the source.
std::string Placer::Padded(size_t i, absl::string_view text, size_t at) const {
  const Node& point = nodes_[i];
  const absl::string_view source = source_.text;
  const absl::string_view left = target_.substr(0, at);
  const absl::string_view right = target_.substr(at);
  std::string padded(absl::StripAsciiWhitespace(text));
  if (padded.empty() || (point.IsStretch() && nodes_[i + 1].parent != i)) return padded;
  const absl::string_view before = source.substr(0, point.span.begin);
  const absl::string_view last = left.substr(left.empty() ? 0 : left.size() - 1);
  const bool is_glued = EndsWord(left)
                            ? !EndsWord(before)
                            : absl::StrContains(".,:;!?", last) && !absl::EndsWith(before, last);
  if ((text.front() == ' ' && !IsBlank(last)) || (point.replaces && !left.empty() && is_glued)) {
    padded.insert(0, 1, ' ');
  }
  if ((text.back() == ' ' && !right.empty() && !absl::ascii_isspace(right[0]) &&
       !absl::ascii_ispunct(right[0])) ||
      (point.replaces && !BeginsWord(source.substr(point.span.end)) && BeginsWord(right))) {
    padded += ' ';
  }
  return padded;
}

std::string Placer::Write() {
  MarkedText placed = {std::string(target_), std::move(replaced_), source_.markup,
                       source_.entities};
  // Before these units, points stand behind the blank; elsewhere, in front of it.
  std::vector<bool> is_front(units_.size() + 1);
  std::vector<size_t> open;                  // open elements without units, at byte `at`
  std::string* out = &nodes_[root_].before;  // where the text of a point goes
  size_t at = 0;
  for (size_t i = 0; i <= root_; ++i) {
    const Node& node = nodes_[i];
    for (; !open.empty() && open.back() != node.parent; open.pop_back()) {
      const Node& stretch = nodes_[open.back()];
      *out += Padded(open.back(), AsPoint(source_.text, stretch).after, at);
    }
    if (i == root_ || node.begin < node.end || (node.replaces && node.is_placed)) continue;
    Annotation point = node;
    if (node.span.begin < node.span.end) point = AsPoint(source_.text, std::move(point));
    const std::string text = absl::StrCat(point.before, point.after);
    // The point stands at `at`: in empty elements open there, else by a parent's tag, else alone.
    if (open.empty()) {
      Node& parent = nodes_[node.parent];
      const bool leads = text.starts_with(' ') && !text.ends_with(' ') &&
                         BeginsWord(absl::string_view(source_.text).substr(node.span.end));
      is_front[node.begin] = is_front[node.begin] || node.begin == parent.begin || leads;
      if (is_front[node.begin] && node.begin < parent.end) {
        at = units_[node.begin].target.begin;
      } else {
        at = node.begin > 0 ? units_[node.begin - 1].target.end : 0;
      }
      if (node.parent != root_ && node.begin == parent.begin) {
        out = &parent.before;
      } else if (node.parent != root_ && node.begin == parent.end) {
        out = &parent.behind;
      } else {
        out = &placed.annotations.emplace_back(Annotation{{at, at}, "", "", false}).before;
      }
    }
    *out += Padded(i, node.IsStretch() ? point.before : text, at);
    if (node.IsStretch()) open.push_back(i);
  }
  nodes_.pop_back();  // the root
  for (const Node& node : nodes_) {
    if (node.begin == node.end) continue;
    const TextSpan span = {units_[node.begin].target.begin, units_[node.end - 1].target.end};
    placed.annotations.push_back(
        {span, node.before, node.behind + node.after, false, node.capitals});
  }
  // At the same byte, points come first, and outer annotations before inner ones.
  absl::c_stable_sort(placed.annotations, [](const Annotation& a, const Annotation& b) {
    return std::tuple(a.span.begin, a.span.begin < a.span.end, b.span.end, a.replaces) <
           std::tuple(b.span.begin, b.span.begin < b.span.end, a.span.end, b.replaces);
  });
  return internal::Write(placed);
}

std::string PlaceAnnotations(const MarkedText& source, absl::string_view target,
                             absl::Span<const AlignedToken> tokens, size_t prefix,
                             bool* has_emptied) {
  Placer placer(source, target, tokens, prefix);
  if (has_emptied != nullptr) *has_emptied = placer.has_emptied();
  return placer.Write();
}

Misplaced FindMisplaced(const MarkedText& source, absl::string_view target,
                        absl::Span<const AlignedToken> tokens) {
  return Placer(source, target, tokens, 0).misplaced();
}

}  // namespace nibu::internal
