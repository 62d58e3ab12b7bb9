// Reads the units of a translation, and finds its protected parts by their names.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/marked/placer.h"

namespace nibu::internal {
namespace {

// Returns whether a word may be a form of a name: another spelling or script ("Thomas", "Том").
bool MayBeName(absl::string_view word, absl::string_view name) {
  return !absl::ascii_isascii(word[0]) ||
         absl::ascii_tolower(word[0]) == absl::ascii_tolower(name[0]);
}

}  // namespace

TextSpan WithoutBlanks(absl::string_view text, TextSpan span) {
  text = text.substr(0, span.end);
  span.end = text.size();
  span.begin = std::min(span.begin, span.end);
  span.begin += BlankPrefix(text.substr(span.begin));
  while (span.begin < span.end && IsBlank(LastCharacter(text.substr(0, span.end)))) {
    do {
      --span.end;
    } while (!IsCharacterBorder(text, span.end));
  }
  return span;
}

void Placer::ReadUnits(absl::Span<const AlignedToken> tokens) {
  for (const AlignedToken& token : tokens) {
    TextSpan span = WithoutBlanks(target_, token.target);
    const size_t end = units_.empty() ? 0 : units_.back().target.end;
    span.begin = std::max(span.begin, end);
    if (span.begin >= span.end) continue;
    if (!IsCharacterBorder(target_, span.begin) && !units_.empty()) {
      units_.back().target.end = span.end;
      continue;
    }
    TextSpan source = WithoutBlanks(source_.text, token.source);
    // A mark that a token has at its end on both sides is a unit of its own: an element may end in
    // front of it ("<a>page 5</a>." with the token "5.").
    const char mark = target_[span.end - 1];
    const bool has_mark = absl::ascii_ispunct(static_cast<unsigned char>(mark)) &&
                          span.end > span.begin + 1 && source.end > source.begin + 1 &&
                          source_.text[source.end - 1] == mark;
    if (has_mark) {
      units_.push_back({{{span.begin, span.end - 1}, {source.begin, source.end - 1}}, root_});
      span.begin = span.end - 1;
      source.begin = source.end - 1;
    }
    units_.push_back({{span, source}, root_});
  }
}

// Of several words of the target that come from one word, the last or the first gets the word
// behind that or in front of it, if none comes from it: attention often gives both words of "Hello
// world" to one of them.
void Placer::SpreadWords() {
  const absl::string_view text = source_.text;
  std::vector<TextSpan> words = {{0, 0}};  // of the source, between two empty ones
  for (size_t at = 0; at < text.size();) {
    at += BlankPrefix(text.substr(at));
    TextSpan word = {at, at};
    while (at < text.size() && BlankPrefix(text.substr(at)) == 0) ++at;
    for (word.end = at; word.begin < at && absl::ascii_ispunct(text[word.begin]);) ++word.begin;
    while (word.begin < word.end && absl::ascii_ispunct(text[word.end - 1])) --word.end;
    if (word.begin < word.end) words.push_back(word);
  }
  words.push_back({text.size(), text.size()});
  std::vector<bool> is_free(words.size(), true);
  is_free.front() = is_free.back() = false;
  const auto first_behind = [&](size_t at) {  // the first word that ends behind a place
    return absl::c_partition_point(words, [at](const TextSpan& word) { return word.end <= at; }) -
           words.begin();
  };
  for (const Annotation& part : source_.annotations) {  // parts have names, which tell their place
    if (!part.replaces) continue;
    for (size_t i = first_behind(part.span.begin); i < words.size(); ++i) {
      if (words[i].begin >= part.span.end) break;
      is_free[i] = false;
    }
  }
  struct Said : UnitRun {
    size_t from;  // the word that the first of the units comes from
  };
  std::vector<Said> said = {{{0, 0}, 0}};  // words of the target, between two that are none
  for (size_t begin = 0, end = 0; begin < units_.size(); begin = end) {
    size_t from = 0;
    do {
      const TextSpan& source = units_[end].source;
      const size_t word = first_behind(source.begin);
      if (source.begin == source.end || word + 1 >= words.size()) continue;
      if (!HasWords(TextOf(end))) continue;
      if (from == 0) from = word;
      is_free[word] = false;
    } while (++end < units_.size() && units_[end].target.begin == units_[end - 1].target.end);
    if (from > 0) said.push_back({{begin, end}, from});
  }
  said.push_back({{0, 0}, 0});
  for (size_t i = 1; i + 1 < said.size(); ++i) {
    const size_t from = said[i].from;
    const bool is_last = said[i - 1].from == from && said[i + 1].from != from;
    const bool is_first = said[i + 1].from == from && said[i - 1].from != from;
    if (is_free[from + 1] == is_free[from - 1]) continue;
    const size_t other = is_free[from + 1] ? from + 1 : from - 1;
    if (!(other > from ? is_last : is_first)) continue;
    for (size_t unit = said[i].begin; unit < said[i].end; ++unit) {
      if (IsInside(units_[unit].source, words[from])) units_[unit].source = words[other];
    }
    is_free[other] = false;
  }
}

void Placer::ReadNodes() {
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

// Returns the units that have bytes of a span of the target.
UnitRun Placer::UnitsIn(const TextSpan& target) const {
  const auto begin = absl::c_partition_point(
      units_, [&](const Unit& unit) { return unit.target.end <= target.begin; });
  const auto end = std::partition_point(
      begin, units_.end(), [&](const Unit& unit) { return unit.target.begin < target.end; });
  return {static_cast<size_t>(begin - units_.begin()), static_cast<size_t>(end - units_.begin())};
}

// Merges the units at `target` into one, which is written as `text` and comes from `source`. If
// `text` is empty, they are removed. Returns false if there are no units.
bool Placer::Replace(TextSpan target, const TextSpan& source, std::string text) {
  const UnitRun run = UnitsIn(target);
  if (run.empty()) return false;
  const auto begin = units_.begin() + static_cast<std::ptrdiff_t>(run.begin);
  const auto end = units_.begin() + static_cast<std::ptrdiff_t>(run.end);
  begin->target.end = (end - 1)->target.end;
  units_.erase(begin + 1, end);
  if (!text.empty()) {
    begin->source = source;
    begin->is_part = true;
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
TextSpan Placer::NameBehind(const Unit& unit, absl::string_view name) const {
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

void Placer::FindName(size_t i) {
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

// Joins two words of the translation by the space without a line break (U+00A0) that joins the
// words that they come from.
void Placer::JoinWords() {
  constexpr absl::string_view kJoint = "\u00a0";
  const absl::string_view text = source_.text;
  for (size_t at = text.find(kJoint); at != text.npos; at = text.find(kJoint, at + 1)) {
    TextSpan words = {at, at + kJoint.size()};  // what stands on both sides, up to white space
    while (words.begin > 0 && !absl::ascii_isspace(text[words.begin - 1])) --words.begin;
    while (words.end < text.size() && !absl::ascii_isspace(text[words.end])) ++words.end;
    const auto join = [&](size_t space) {
      replaced_.push_back({{space, space + 1}, EscapeText(source_, kJoint), "", true});
    };
    bool is_joined = false;
    for (size_t u = 0; u + 1 < units_.size() && !is_joined; ++u) {
      const TextSpan between = {units_[u].target.end, units_[u + 1].target.begin};
      const TextSpan& left = units_[u].source;
      const TextSpan& right = units_[u + 1].source;
      is_joined = target_.substr(between.begin, between.end - between.begin) == " " &&
                  IsInside(left, {words.begin, at}) &&
                  IsInside(right, {at + kJoint.size(), words.end}) && left.begin < left.end &&
                  right.begin < right.end && between.begin >= prefix_;
      if (is_joined) join(between.begin);
    }
    if (is_joined) continue;
    // Where the attention does not tell, both words may be copied (New York).
    const std::string copy =
        absl::StrCat(text.substr(words.begin, at - words.begin), " ",
                     text.substr(at + kJoint.size(), words.end - at - kJoint.size()));
    const size_t found = target_.find(copy, prefix_);
    const size_t space = found + at - words.begin;
    const auto is_same = [&](const Annotation& each) { return each.span.begin == space; };
    if (found != target_.npos && absl::c_none_of(replaced_, is_same)) join(space);
  }
}

}  // namespace nibu::internal
