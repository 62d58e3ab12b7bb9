#include "tools/text/markup.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tokenizer/characters.h"

namespace nibu {

namespace {

constexpr absl::string_view kPlaceholder = "\uFFFC";
constexpr size_t kNone = static_cast<size_t>(-1);

using Tokens = absl::Span<const MarkupToken>;

absl::string_view Text(const MarkupToken& token) {
  return token.value.empty() ? token.raw : token.value;
}

bool IsText(const MarkupToken& token) {
  return token.kind == MarkupToken::kText && !IsBlank(Text(token));
}

// What a token means in the text of all of them.
struct TokenPlace {
  TextSpan span;           // of an element: all of it, for both of its tags
  size_t partner = kNone;  // the other tag
  size_t around = kNone;   // of a closing tag without one: the innermost open element's
  size_t part = kNone;     // of FindCarried's parts
};

std::vector<TokenPlace> FindPlaces(Tokens tokens, std::string* text) {
  std::vector<TokenPlace> places(tokens.size());
  std::vector<size_t> open;                                  // tokens
  std::map<absl::string_view, std::vector<size_t>> by_name;  // indices of `open`
  for (size_t i = 0; i < tokens.size(); ++i) {
    const MarkupToken& token = tokens[i];
    TokenPlace& place = places[i];
    place.span = {text->size(), text->size()};
    if (token.kind == MarkupToken::kText || token.kind == MarkupToken::kProtected) {
      absl::StrAppend(text, token.kind == MarkupToken::kText ? Text(token) : kPlaceholder);
      place.span.end = text->size();
    } else if (token.kind == MarkupToken::kOpen) {
      by_name[token.value].push_back(open.size());
      open.push_back(i);
    } else if (token.kind == MarkupToken::kClose) {
      const std::vector<size_t>& same = by_name[token.value];
      if (same.empty()) {
        if (!open.empty()) place.around = open.back();
        place.span.begin = open.empty() ? 0 : places[open.back()].span.begin;
        continue;
      }
      // Elements that are still open in this one end with it.
      for (size_t depth = same.back(); open.size() > depth; open.pop_back()) {
        place.partner = open.back();
        places[open.back()].span.end = text->size();
        by_name[tokens[open.back()].value].pop_back();
      }
      places[place.partner].partner = i;
      place.span = places[place.partner].span;
    }
  }
  for (size_t token : open) places[token].span.end = text->size();
  return places;
}

// What the tokens [begin, end) carry, whose text is `own` of that of all.
std::vector<Carried> FindCarried(Tokens tokens, size_t begin, size_t end, const TextSpan& own,
                                 std::vector<TokenPlace>* places) {
  using Order = std::pair<size_t, size_t>;
  std::vector<std::pair<Order, Carried>> parts;
  const auto add = [&](Order order, TextSpan span, absl::string_view before) {
    for (size_t* at : {&span.begin, &span.end}) {
      *at = std::clamp(*at, own.begin, own.end) - own.begin;
    }
    parts.push_back({order, {span, std::string(before), "", false}});
    return parts.size() - 1;
  };
  size_t opened = kNone;  // the last part that begins at the text's current end
  std::string points;     // what stands there and encloses nothing
  for (size_t i = begin; i < end; ++i) {
    const MarkupToken& token = tokens[i];
    TokenPlace& place = (*places)[i];
    const bool encloses = place.span.end > place.span.begin;
    if (token.kind == MarkupToken::kClose && encloses) {
      // Of those without a partner the last is the outermost.
      const size_t part = place.partner == kNone
                              ? add({place.around + 1, kNone - i}, place.span, "")
                              : (*places)[place.partner].part;
      parts[part].second.after = absl::StrCat(std::exchange(points, ""), token.raw);
    } else if (encloses) {
      const size_t at = place.span.begin;
      if (!points.empty()) add({i, 0}, {at, at}, std::exchange(points, ""));
      if (token.kind != MarkupToken::kText) place.part = add({i + 1, 0}, place.span, token.raw);
      opened = token.kind == MarkupToken::kOpen ? place.part : kNone;
      if (token.kind == MarkupToken::kProtected) parts[place.part].second.replaces = true;
    } else if (opened != kNone) {
      absl::StrAppend(&parts[opened].second.before, token.raw);
    } else {
      absl::StrAppend(&points, token.raw);
    }
  }
  if (!points.empty()) add({end, 0}, {own.end, own.end}, points);
  absl::c_stable_sort(parts, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Carried> carried;
  carried.reserve(parts.size());
  for (auto& part : parts) carried.push_back(std::move(part.second));
  return carried;
}

// How a segment's characters are written.
std::map<std::string, std::string, std::less<>> FindEntities(Markup kind, Tokens tokens) {
  std::map<std::string, std::string, std::less<>> entities;
  std::string bare;
  for (const MarkupToken& token : tokens) {
    if (token.kind != MarkupToken::kText) continue;
    if (token.value.empty()) {
      absl::StrAppend(&bare, token.raw);
    } else {
      entities.emplace(token.value, token.raw);
    }
  }
  if (kind == Markup::kXml && !tokens.front().cdata) {
    if (!absl::StrContains(bare, '<')) entities.emplace("<", "&lt;");
    if (!absl::StrContains(bare, '&')) entities.emplace("&", "&amp;");
  }
  return entities;
}

}  // namespace

void MarkupReader::AddSegment(absl::Span<MarkupToken> tokens, absl::string_view line, size_t* done,
                              MarkedLine* marked) const {
  if (absl::c_none_of(tokens, IsText)) return;
  std::string text;
  std::vector<TokenPlace> places = FindPlaces(tokens, &text);
  // What stands around the text needs no place in it: blanks, points, tags, except those of
  // elements that end within.
  const auto stands_in_text = [](const MarkupToken& token) {
    return token.kind == MarkupToken::kProtected || IsText(token);
  };
  const size_t first = absl::c_find_if(tokens, stands_in_text) - tokens.begin();
  const size_t last =
      tokens.rend() - std::find_if(tokens.rbegin(), tokens.rend(), stands_in_text) - 1;
  const auto ends_within = [&](size_t token) { return token > first && token < last; };
  size_t begin = 0;
  size_t end = tokens.size();
  while (begin < first && !ends_within(places[begin].partner)) ++begin;
  while (end > last + 1 && !ends_within(places[end - 1].partner)) --end;
  absl::string_view& front = tokens[begin].raw;
  absl::string_view& back = tokens[end - 1].raw;
  TextSpan own = {places[begin].span.begin, places[end - 1].span.end};
  own.begin += front.size() - absl::StripLeadingAsciiWhitespace(front).size();
  front = absl::StripLeadingAsciiWhitespace(front);
  own.end -= back.size() - absl::StripTrailingAsciiWhitespace(back).size();
  back = absl::StripTrailingAsciiWhitespace(back);

  MarkedLine::Segment& segment = marked->segments.emplace_back();
  const size_t untouched = front.data() - line.data();
  segment.untouched = std::string(line.substr(*done, untouched - *done));
  segment.marked = {text.substr(own.begin, own.end - own.begin),
                    FindCarried(tokens, begin, end, own, &places), kind_,
                    FindEntities(kind_, tokens.subspan(begin, end - begin))};
  *done = back.data() + back.size() - line.data();
}

MarkedLine MarkupReader::Read(absl::string_view line) {
  MarkedLine marked;
  std::vector<MarkupToken> tokens = lexer_.Read(line);
  if (tokens.size() == 1 && IsText(tokens[0]) && tokens[0].value.empty()) {
    marked.segments.push_back({"", {std::string(line), {}, kind_, FindEntities(kind_, tokens)}});
    return marked;
  }
  size_t begin = 0;
  size_t done = 0;
  bool closed = false;  // by the last token but blanks
  const absl::Span<MarkupToken> all = absl::MakeSpan(tokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool block = tokens[i].kind == MarkupToken::kBlock;
    if (block || (kind_ == Markup::kXml && closed && tokens[i].kind == MarkupToken::kOpen)) {
      AddSegment(all.subspan(begin, i - begin), line, &done, &marked);
      begin = block ? i + 1 : i;
    }
    if (tokens[i].kind != MarkupToken::kText || IsText(tokens[i])) {
      closed = tokens[i].kind == MarkupToken::kClose;
    }
  }
  AddSegment(all.subspan(begin), line, &done, &marked);
  marked.untouched = std::string(line.substr(done));
  return marked;
}

std::string EscapeText(const MarkedText& source, absl::string_view text) {
  const Markup kind = source.markup;
  if (kind == Markup::kNone) return std::string(text);
  std::string escaped;
  escaped.reserve(text.size());
  for (size_t size; !text.empty(); text.remove_prefix(size)) {
    size = 1;
    while (size < 4 && !IsCharacterBorder(text, size)) ++size;
    const absl::string_view character = text.substr(0, size);
    if (auto entity = source.entities.find(character); entity != source.entities.end()) {
      absl::StrAppend(&escaped, entity->second);
    } else if (text[0] == '&' && ReadReference(kind, text).size > 0) {
      escaped += "&amp;";
    } else if (text[0] == '<' && BeginsMarkup(kind, text)) {
      escaped += "&lt;";
    } else {
      absl::StrAppend(&escaped, character);
    }
  }
  return escaped;
}

}  // namespace nibu
