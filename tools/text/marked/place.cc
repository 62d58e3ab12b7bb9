// Places the tags and protected parts of a source in its translation, by the tokens' alignment.
//
// 1. ReadUnits: the tokens become units, which are disjoint spans of the target.
// 2. ReadNodes: the annotations become a tree. A node's parent is the innermost element around it.
// 3. FindName: a protected part replaces its name, or the words that come from the name.
// 4. PlaceStretch: an element, outer before inner, takes from its parent's units that no sibling
//    has the run with the greatest sum of +1 (a unit from inside of it), -1 and 0 (see there).
// 5. PlacePoint: all nodes without units become points between two units, inside of their parent's:
//    tags like <br>, parts whose name is missing, elements of whose words nothing was translated.
// 6. Write: writes the target with elements around their units, and points with blanks (AsPoint)
//    where the target has none (Padded).
//
// Why a run with the greatest sum, and not all between the first and the last unit from inside: the
// attention of a token is often off by a word, and a single stray one would stretch an element over
// the sentence. Why outer before inner, each within its parent's units: tags must come out nested,
// however the alignment crosses. Why parts are found by their names first: models copy a name more
// reliably than the attention points to it.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/marked/marked_text.h"

namespace nibu::internal {
namespace {

TextSpan WithoutBlanks(absl::string_view text, TextSpan span) {
  text = text.substr(0, span.end);
  const size_t begin = std::min(span.begin, text.size());
  text = absl::StripTrailingAsciiWhitespace(text.substr(begin));
  const auto words = absl::StripLeadingAsciiWhitespace(text);
  return {begin + text.size() - words.size(), begin + text.size()};
}

bool BeginsWord(absl::string_view text) { return !IsWordBorder(absl::StrCat("a", text), 1); }

bool EndsWord(absl::string_view text) {
  return !IsWordBorder(absl::StrCat(text, "a"), text.size());
}

// Returns whether a word may be a form of a name: another spelling or script ("Thomas", "Том").
bool MayBeName(absl::string_view word, absl::string_view name) {
  return !absl::ascii_isascii(word[0]) ||
         absl::ascii_tolower(word[0]) == absl::ascii_tolower(name[0]);
}

bool IsInside(const TextSpan& inner, const TextSpan& outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

// A token, or several that are not separated: they share a character or a replaced name.
struct Unit : AlignedToken {
  size_t owner;  // the innermost element around it
};

// An annotation, as a node of the tree: around the units [begin, end), a run inside of its parent's
// and disjoint from its siblings'; or one place, before unit `begin`, if these are none. So Write
// writes each tag once, and nested.
struct Node : Annotation {
  bool IsStretch() const { return !replaces && span.begin < span.end; }  // an element around text

  size_t parent;
  bool is_placed = false;  // FindName or PlaceStretch has found its place
  size_t begin = 0;
  size_t end = 0;
  std::string behind = "";  // the points at an element's end, in front of its closing tag
};

class Placer {
 public:
  Placer(const MarkedText& source, absl::string_view target, absl::Span<const AlignedToken> tokens,
         size_t prefix)
      : source_(source), target_(target), prefix_(prefix), root_(source.annotations.size()) {
    ReadUnits(tokens);
    ReadNodes();
    for (size_t i = 0; i < root_; ++i) FindName(i);
    nodes_[root_].end = units_.size();
    for (size_t i = 0; i < root_; ++i) PlaceStretch(i);
    for (size_t i = 0; i < root_; ++i) PlacePoint(i);
  }

  const Misplaced& misplaced() const { return misplaced_; }

  std::string Write() {
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
    return nibu::internal::Write(placed);
  }

 private:
  bool IsCut(size_t unit) const {  // returns whether a word begins there, or the text ends
    return unit == units_.size() || IsWordBorder(target_, units_[unit].target.begin);
  }

  absl::string_view TextOf(size_t unit) const {
    const TextSpan& span = units_[unit].target;
    return target_.substr(span.begin, span.end - span.begin);
  }

  void ReadUnits(absl::Span<const AlignedToken> tokens) {
    for (const AlignedToken& token : tokens) {
      TextSpan span = WithoutBlanks(target_, token.target);
      const size_t end = units_.empty() ? 0 : units_.back().target.end;
      span.begin = std::max(span.begin, end);
      if (span.begin >= span.end) continue;
      if (!IsCharacterBorder(target_, span.begin) && !units_.empty()) {
        units_.back().target.end = span.end;
      } else {
        units_.push_back({{span, WithoutBlanks(source_.text, token.source)}, root_});
      }
    }
  }

  void ReadNodes() {
    std::vector<size_t> open = {root_};
    for (const Annotation& annotation : source_.annotations) {
      while (open.back() != root_ && nodes_[open.back()].span.end <= annotation.span.begin) {
        open.pop_back();
      }
      nodes_.push_back({annotation, open.back()});
      if (nodes_.back().IsStretch()) open.push_back(nodes_.size() - 1);
    }
    nodes_.push_back({{{0, source_.text.size()}, "", "", false}, root_, /*is_placed=*/true});
  }

  // Merges the units at `target` into one, which is written as `text` and comes from `source`. If
  // `text` is empty, they are removed. Returns false if there are no units.
  bool Replace(TextSpan target, const TextSpan& source, std::string text) {
    const auto begin = absl::c_partition_point(
        units_, [&](const Unit& unit) { return unit.target.end <= target.begin; });
    const auto end = std::partition_point(
        begin, units_.end(), [&](const Unit& unit) { return unit.target.begin < target.end; });
    if (begin == end) return false;
    begin->target.end = (end - 1)->target.end;
    units_.erase(begin + 1, end);
    if (!text.empty()) {
      begin->source = source;
    } else {  // removes the blank in front, too; at the beginning, the one behind
      target.begin = absl::StripTrailingAsciiWhitespace(target_.substr(0, target.begin)).size();
      const auto behind = target_.substr(target.end);
      if (target.begin == 0) {
        target.end = target_.size() - absl::StripLeadingAsciiWhitespace(behind).size();
      }
    }
    replaced_.push_back({target, std::move(text), "", true});
    return true;
  }

  // Returns the source word that a unit comes from, if it is a name in its own right and no other
  // unit comes from it: the model may write "Tom" for "Thomas", too. Else returns an empty span.
  TextSpan NameBehind(const Unit& unit, absl::string_view name) const {
    const absl::string_view text = source_.text;
    TextSpan word = unit.source;
    while (!IsWordBorder(text, word.begin)) --word.begin;
    while (!IsWordBorder(text, word.end)) ++word.end;
    const absl::string_view own = text.substr(word.begin, word.end - word.begin);
    const bool is_part = absl::c_any_of(source_.annotations, [&](const Annotation& each) {
      return each.replaces && each.span.begin < word.end && word.begin < each.span.end;
    });
    const bool is_said = absl::c_any_of(units_, [&](const Unit& other) {
      return other.source.begin < other.source.end && IsInside(other.source, word) &&
             other.target.begin != unit.target.begin;
    });
    // In the first word of a sentence, the capital letter does not prove a name.
    const bool is_first = !HasWords(text.substr(0, word.begin));
    const bool is_name =
        own.size() > 1 && HasWords(own) && !absl::ascii_islower(own[0]) &&
        (!is_first || (MayBeName(own, name) && target_.find(name) != target_.rfind(name)));
    return is_name && !is_part && !is_said ? word : TextSpan{0, 0};
  }

  void FindName(size_t i) {
    const TextSpan span = nodes_[i].span;
    if (!nodes_[i].replaces || span.begin == span.end) return;
    const auto name = absl::string_view(source_.text).substr(span.begin, span.end - span.begin);
    constexpr size_t kLongestEnding = 3;  // bytes; allows "Toms", but not "Tomaten"
    std::vector<AlignedToken> found;      // `source`: the other name that it renders, or empty
    std::optional<size_t> best;           // the one that the part replaces
    for (size_t at = target_.find(name); at != target_.npos; at = target_.find(name, at + 1)) {
      if (!IsWordBorder(target_, at)) continue;
      size_t end = at + name.size();
      while (!IsWordBorder(target_, end)) ++end;
      const absl::string_view ending = target_.substr(at + name.size(), end - at - name.size());
      if (ending.size() > kLongestEnding || absl::c_any_of(ending, absl::ascii_isdigit)) continue;
      AlignedToken& place = found.emplace_back(AlignedToken{{at, end}, {0, 0}});
      const auto unit = absl::c_find_if(units_, [&](const Unit& u) {
        return IsInside({at, at + 1}, u.target);
      });
      const bool comes_from_it = unit != units_.end() && IsInside(unit->source, span);
      if (unit != units_.end() && at >= prefix_) place.source = NameBehind(*unit, name);
      if ((comes_from_it || at < prefix_) && !best.has_value()) best = found.size() - 1;
    }
    // If the target does not have the name: the words that come from it and may be a form of it.
    for (size_t u = 0; u < units_.size() && found.empty(); ++u) {
      size_t end = u;
      while (end < units_.size() && IsInside(units_[end].source, span) && HasWords(TextOf(end))) {
        ++end;
      }
      if (end > u && IsCut(u) && IsCut(end) && units_[u].target.begin >= prefix_ &&
          MayBeName(TextOf(u), name)) {
        found.push_back({{units_[u].target.begin, units_[end - 1].target.end}, {0, 0}});
      }
    }
    // One occurrence becomes the part; the others become what they render, or nothing.
    size_t of_it = 0;  // occurrences that render no other name
    for (size_t k = 0; k < found.size(); ++k) {
      const auto& [target, source] = found[k];
      const bool is_other = source.begin < source.end;
      if (!best.has_value() && !is_other) best = k;
      const bool is_it = k == best;
      of_it += is_it || !is_other ? 1 : 0;
      const bool ends_source = IsBlank(absl::string_view(source_.text).substr(span.end));
      if (is_it && ends_source && HasWords(target_.substr(target.end))) misplaced_.moved = i;
      const bool stands = Replace(
          target, is_it ? span : source,
          is_it ? nodes_[i].before : source_.text.substr(source.begin, source.end - source.begin));
      nodes_[i].is_placed |= is_it && stands;
    }
    if (!nodes_[i].is_placed || of_it != 1) misplaced_.parts.push_back(i);
  }

  void PlaceStretch(size_t i) {
    const absl::string_view text = source_.text;
    Node& stretch = nodes_[i];
    const Node& parent = nodes_[stretch.parent];
    if (!stretch.IsStretch() || !parent.is_placed) return;
    const auto is_free = [&](size_t unit) { return units_[unit].owner == stretch.parent; };
    size_t head = parent.begin;  // the parent's units before `head` and from `tail` on are free
    while (head < parent.end && is_free(head)) ++head;
    size_t tail = parent.end;
    while (tail > parent.begin && is_free(tail - 1)) --tail;
    const bool cuts_words =
        !IsWordBorder(text, stretch.span.begin) || !IsWordBorder(text, stretch.span.end);
    stretch.begin = stretch.end = parent.end;
    if (head == parent.end && IsInside(WithoutBlanks(text, parent.span), stretch.span)) {
      stretch.begin = parent.begin;
    } else {  // the run with the greatest sum (Kadane); it cuts a word only if the source's does
      int best = 0;
      int sum = 0;
      size_t start = parent.end;
      int forgiven = 0;
      for (size_t unit = parent.begin; unit < parent.end; ++unit) {
        if (!is_free(unit)) {
          start = parent.end;
        } else if ((start == parent.end || sum <= 0) && (cuts_words || IsCut(unit))) {
          start = unit;
          sum = 0;
        }
        if (start == parent.end) continue;
        // A word's units from outside count 0, not -1, as long as more of it came from inside.
        if (IsCut(unit)) forgiven = 0;
        if (IsInside(units_[unit].source, stretch.span)) {
          ++sum;
          ++forgiven;
        } else if (forgiven-- <= 0) {  // an ending may attend to the word that it agrees with
          --sum;
        }
        if (sum > best && (cuts_words || IsCut(unit + 1))) {
          best = sum;
          stretch.begin = start;
          stretch.end = unit + 1;
        }
      }
    }
    stretch.is_placed =
        stretch.begin < stretch.end || stretch.before.empty() || stretch.after.empty();
    if (stretch.capitals.has_value()) return TakeUnits(i);
    // An element with one tag began in front of the text, or goes on behind it.
    if (stretch.before.empty()) {
      stretch.end = stretch.begin < stretch.end ? std::min(stretch.end, head) : parent.begin;
      stretch.begin = parent.begin;
    } else if (stretch.after.empty()) {
      stretch.begin = std::max(stretch.begin, tail);
      stretch.end = parent.end;
    }
    TakeUnits(i);
  }

  void TakeUnits(size_t i) {
    for (size_t unit = nodes_[i].begin; unit < nodes_[i].end; ++unit) units_[unit].owner = i;
  }

  // Returns the unit before which a point goes: next to the unit whose source is nearest to it.
  size_t Anchor(const Annotation& point) const {
    const absl::string_view text = source_.text;
    const size_t at = point.span.begin;
    if (absl::StripAsciiWhitespace(text.substr(0, at)).empty() || units_.empty()) return 0;
    if (point.span.end == text.size()) return units_.size();
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

  void PlacePoint(size_t i) {
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
  std::string Padded(size_t i, absl::string_view text, size_t at) const {
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

  const MarkedText& source_;
  const absl::string_view target_;
  const size_t prefix_;
  const size_t root_;  // the last node: an element around all of the text
  std::vector<Unit> units_;
  std::vector<Node> nodes_;
  Misplaced misplaced_;
  std::vector<Annotation> replaced_;  // what Replace did, as protected parts of the target
};

}  // namespace

std::string PlaceAnnotations(const MarkedText& source, absl::string_view target,
                             absl::Span<const AlignedToken> tokens, size_t prefix) {
  return Placer(source, target, tokens, prefix).Write();
}

Misplaced FindMisplaced(const MarkedText& source, absl::string_view target,
                        absl::Span<const AlignedToken> tokens) {
  return Placer(source, target, tokens, 0).misplaced();
}

}  // namespace nibu::internal
