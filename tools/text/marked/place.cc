// Places points in a translation, and writes it (see placer.h).
#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/marked/placer.h"

namespace nibu::internal {
namespace {

bool BeginsWord(absl::string_view text) { return !IsWordBorder(absl::StrCat("a", text), 1); }

bool EndsWord(absl::string_view text) {
  return !IsWordBorder(absl::StrCat(text, "a"), text.size());
}

}  // namespace

Placer::Placer(const MarkedText& source, absl::string_view target,
               absl::Span<const AlignedToken> tokens, size_t prefix)
    : source_(source), target_(target), prefix_(prefix), root_(source.annotations.size()) {
  ReadUnits(tokens);
  SpreadWords();
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
    // The blank in front of a picture at an element's end: <a>Save <img></a>
    const bool has_blank = node.IsStretch() && !node.replaces && node.after.starts_with('<') &&
                           !node.after.starts_with("</") &&
                           absl::ascii_isspace(source_.text[node.span.end - 1]);
    placed.annotations.push_back({span, node.before,
                                  absl::StrCat(node.behind, has_blank ? " " : "", node.after),
                                  false, node.capitals});
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
