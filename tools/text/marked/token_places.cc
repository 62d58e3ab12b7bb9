// Makes a text of tokens, with elements, references and entities (see token_places.h).
#include "tools/text/marked/token_places.h"

#include <list>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/marked/markup_cuts.h"

namespace nibu::internal {
namespace {

constexpr absl::string_view kPlaceholder = "\uFFFC";

using Tokens = absl::Span<const MarkupToken>;

// Appends a token of text, or the placeholder of an element that is not translated.
void AppendText(const MarkupToken& token, std::string* text) {
  if (token.kind == MarkupToken::kProtected) {
    absl::StrAppend(text, kPlaceholder);
    return;
  }
  if (!token.collapses || !token.value.empty()) {
    absl::StrAppend(text, TextOf(token));
    return;
  }
  // Each run of white space becomes one space.
  bool in_blanks = false;
  for (const char c : token.raw) {
    const bool is_blank = absl::ascii_isspace(c);
    if (!is_blank || !in_blanks) text->push_back(is_blank ? ' ' : c);
    in_blanks = is_blank;
  }
}

}  // namespace

std::vector<TokenPlace> FindPlaces(Tokens tokens, MarkedText* marked) {
  std::string* text = &marked->text;
  std::vector<TokenPlace> places(tokens.size());
  std::vector<size_t> open;                   // opening tags without their closing ones so far
  std::map<absl::string_view, int> has_open;  // how many of them have a name
  for (size_t i = 0; i < tokens.size(); ++i) {
    const MarkupToken& token = tokens[i];
    TokenPlace& place = places[i];
    place.span = {text->size(), text->size()};
    if (token.kind == MarkupToken::kText || token.kind == MarkupToken::kProtected) {
      AppendText(token, text);
      place.span.end = text->size();
      if (token.kind == MarkupToken::kText && !token.value.empty()) {
        marked->references->push_back({place.span, std::string(token.raw), "", true});
      }
    } else if (token.kind == MarkupToken::kOpen) {
      open.push_back(i);
      ++has_open[token.value];
    } else if (token.kind == MarkupToken::kClose && has_open[token.value] == 0) {
      if (!open.empty()) place.around = open.back();
      place.span.begin = open.empty() ? 0 : places[open.back()].span.begin;
    } else if (token.kind == MarkupToken::kClose) {
      do {  // elements that are still open in this one end with it
        place.partner = open.back();
        places[open.back()].span.end = text->size();
        --has_open[tokens[open.back()].value];
        open.pop_back();
      } while (tokens[place.partner].value != token.value);
      places[place.partner].partner = i;
      place.span = places[place.partner].span;
    }
  }
  // Elements that are never closed go up to the end.
  for (size_t token : open) places[token].span.end = text->size();
  return places;
}

std::vector<Annotation> FindAnnotations(Tokens tokens, size_t begin, size_t end,
                                        absl::Span<const TokenPlace> places) {
  std::list<Annotation> found;
  std::vector<std::list<Annotation>::iterator> parts(tokens.size(), found.end());  // by opening tag
  auto opened = found.end();  // the last element that begins at the current end of the text
  std::string points;         // tokens at the current end of the text that enclose nothing
  const auto add_points = [&](size_t at) {
    if (!points.empty()) found.push_back({{at, at}, std::exchange(points, ""), "", false});
  };
  for (size_t i = begin; i < end; ++i) {
    const MarkupToken& token = tokens[i];
    const auto& [span, partner, around] = places[i];
    if (span.begin == span.end) {
      // It stays together with an opening tag in front of it, unless a blank behind it must stay,
      // too: <a><img> Save</a>.
      size_t next = i + 1;
      while (next < end && places[next].span.begin == places[next].span.end) ++next;
      const bool is_apart = next < end && tokens[next].kind == MarkupToken::kText &&
                            BlankPrefix(TextOf(tokens[next])) > 0;
      const bool joins = opened != found.end() && !is_apart;
      absl::StrAppend(joins ? &opened->before : &points, token.raw);
    } else if (token.kind == MarkupToken::kClose) {
      auto part = found.begin();
      if (partner != kNowhere) {
        part = parts[partner];
      } else {  // if there are several such tags, the last is outermost
        if (around != kNowhere && around >= begin) part = std::next(parts[around]);
        part = found.insert(part, {span, "", "", false});
      }
      part->after = absl::StrCat(std::exchange(points, ""), token.raw);
    } else {
      add_points(span.begin);
      opened = found.end();
      if (token.kind == MarkupToken::kText) continue;
      const bool replaces = token.kind == MarkupToken::kProtected;
      parts[i] = found.insert(opened, {span, std::string(token.raw), "", replaces});
      if (!replaces) opened = parts[i];
    }
  }
  add_points(places[end - 1].span.end);
  return {std::make_move_iterator(found.begin()), std::make_move_iterator(found.end())};
}

Entities FindEntities(Markup kind, bool has_escapes, Tokens tokens) {
  Entities entities;
  std::string bare;  // the text without its references
  for (const MarkupToken& token : tokens) {
    if (token.kind != MarkupToken::kText) continue;
    if (token.value.empty()) {
      absl::StrAppend(&bare, token.raw);
    } else if (token.value.size() > 1 || token.raw[0] == '\\' ||
               absl::StrContains("&<>\"'%/", token.value)) {
      entities.emplace(token.value, token.raw);
    }
  }
  // A string with escapes in place of typographic quotes would end at a bare one.
  for (const char* other : {"“", "”", "‘", "’", "„"}) {
    const auto quote = entities.find(other);
    if (quote != entities.end() && kind == Markup::kNone && !absl::StrContains(bare, '"')) {
      entities.emplace("\"", "\\\"");
    }
  }
  // A string whose quotes are escaped would end at a bare one, and typographic quotes are the
  // translation's own.
  if (const auto quote = entities.find("\""); kind == Markup::kNone && quote != entities.end()) {
    for (const char* other : {"„", "“", "”", "«", "»"}) {
      if (!absl::StrContains(bare, other)) entities.emplace(other, quote->second);
    }
  }
  // Where escapes are read, an apostrophe needs one, unless the whole text is in quotes.
  if (has_escapes && bare.find_first_of("'\"") == kNowhere) entities.emplace("'", "\\'");
  if (kind == Markup::kXml && !tokens.front().cdata) {
    if (!absl::StrContains(bare, '<')) entities.emplace("<", "&lt;");
    if (!absl::StrContains(bare, '&')) entities.emplace("&", "&amp;");
  }
  return entities;
}

}  // namespace nibu::internal
