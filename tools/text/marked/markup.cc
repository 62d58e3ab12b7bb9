// Makes segments of the lexer's tokens, and finds the elements in them.
#include "tools/text/marked/markup.h"

#include <algorithm>
#include <iterator>
#include <list>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {

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

// Appends a token of text, or the placeholder of an element that is not translated.
void AppendText(const MarkupToken& token, std::string* text) {
  if (token.kind == MarkupToken::kProtected) {
    absl::StrAppend(text, kPlaceholder);
    return;
  }
  if (!token.collapses || !token.value.empty()) {
    absl::StrAppend(text, Text(token));
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

// The place of a token in the segment's text.
struct TokenPlace {
  TextSpan span;           // its own; for a tag, that of its element
  size_t partner = kNone;  // the token of the element's other tag
  size_t around = kNone;   // for a closing tag without a partner: the innermost open element's tag
};

// Step 3: finds the places of tokens, and appends them to the text and to its references.
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

// Step 5: returns the annotations that the tokens [begin, end) make, outer before inner.
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
    if (span.begin == span.end) {  // stays together with an opening tag in front of it
      absl::StrAppend(opened != found.end() ? &opened->before : &points, token.raw);
    } else if (token.kind == MarkupToken::kClose) {
      auto part = found.begin();
      if (partner != kNone) {
        part = parts[partner];
      } else {  // if there are several such tags, the last is outermost
        if (around != kNone && around >= begin) part = std::next(parts[around]);
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

// Returns the characters of a segment that are written as entities, with these (see EscapeText).
Entities FindEntities(Markup kind, Tokens tokens) {
  Entities entities;
  std::string bare;  // the text without its references
  for (const MarkupToken& token : tokens) {
    if (token.kind != MarkupToken::kText) continue;
    if (token.value.empty()) {
      absl::StrAppend(&bare, token.raw);
    } else if (token.value.size() > 1 || absl::StrContains("&<>\"'%/", token.value)) {
      entities.emplace(token.value, token.raw);
    }
  }
  // A string whose quotes are escaped would end at a bare one, and typographic quotes are the
  // translation's own.
  if (const auto quote = entities.find("\""); kind == Markup::kNone && quote != entities.end()) {
    for (const char* other : {"„", "“", "”", "«", "»"}) {
      if (!absl::StrContains(bare, other)) entities.emplace(other, quote->second);
    }
  }
  if (kind == Markup::kXml && !tokens.front().cdata) {
    if (!absl::StrContains(bare, '<')) entities.emplace("<", "&lt;");
    if (!absl::StrContains(bare, '&')) entities.emplace("&", "&amp;");
  }
  return entities;
}

// Adds a segment of `tokens` to `marked`, if there is text in them, and moves `rest`, which is the
// line behind the segments so far, behind it. `is_line`: a line without markup keeps its blanks.
void AddSegment(Markup kind, absl::Span<MarkupToken> tokens, bool is_line, absl::string_view* rest,
                MarkedLine* marked) {
  if (absl::c_none_of(tokens, IsText)) return;
  MarkedText whole = {.text = "", .markup = kind, .references = std::vector<Annotation>()};
  const std::vector<TokenPlace> places = FindPlaces(tokens, &whole);
  // Step 4: tokens around the text (blanks, points, tags) are copied, except the tags of elements
  // of which one end is within the text.
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
  const auto size_in_text = [](const MarkupToken& token, size_t blanks) {
    return token.collapses ? std::min<size_t>(blanks, 1) : blanks;
  };
  if (!is_line || front.size() < rest->size()) {
    const size_t blanks = front.size() - absl::StripLeadingAsciiWhitespace(front).size();
    own.begin += size_in_text(tokens[begin], blanks);
    front.remove_prefix(blanks);
    const size_t blanks_behind = back.size() - absl::StripTrailingAsciiWhitespace(back).size();
    own.end -= size_in_text(tokens[end - 1], blanks_behind);
    back.remove_suffix(blanks_behind);
  }

  whole.annotations = FindAnnotations(tokens, begin, end, places);
  whole.entities = FindEntities(kind, tokens.subspan(begin, end - begin));
  const size_t untouched = front.data() - rest->data();
  marked->segments.push_back(
      {std::string(rest->substr(0, untouched)), std::move(Cut(whole, {own})[0])});
  rest->remove_prefix(back.data() + back.size() - rest->data());
}

}  // namespace

bool MarkupReader::IsBorder(const MarkupToken& token) {
  const bool is_element = !token.value.empty();
  const bool opens = token.kind == MarkupToken::kOpen && is_element;
  if (token.kind == MarkupToken::kBlock || (kind_ == Markup::kXml && closed_ && opens)) {
    closed_ = false;
    return true;
  }
  if (token.kind != MarkupToken::kText || IsText(token)) {
    closed_ = token.kind == MarkupToken::kClose && is_element;
  }
  return false;
}

MarkedLine MarkupReader::Read(absl::string_view line) {
  MarkedLine marked;
  lexer_.ReadLine(line);
  const absl::Span<MarkupToken> tokens = absl::MakeSpan(lexer_.tokens());
  size_t begin = 0;
  closed_ = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!IsBorder(tokens[i])) continue;
    AddSegment(kind_, tokens.subspan(begin, i - begin), /*is_line=*/true, &line, &marked);
    begin = tokens[i].kind == MarkupToken::kBlock ? i + 1 : i;
  }
  AddSegment(kind_, tokens.subspan(begin), /*is_line=*/true, &line, &marked);
  marked.untouched = std::string(line);
  return marked;
}

size_t MarkupReader::ReadPiece(absl::string_view text, bool is_end, MarkedLine* piece) {
  // With one byte more than max_piece_, the document is known to go on. So the pieces do not depend
  // on the size of the chunks in which it comes.
  const bool is_full = text.size() > max_piece_;
  text = text.substr(0, max_piece_);
  lexer_.SetText(text, is_end && !is_full);
  std::vector<MarkupToken>& tokens = lexer_.tokens();
  // Reads token after token until a segment ends. If the text is full, or ends, it is cut there.
  for (bool is_cut = false;;) {
    for (; seen_ < tokens.size(); ++seen_) {
      MarkupToken& token = tokens[seen_];
      token.raw = text.substr(token.span.begin, token.span.end - token.span.begin);
      if (!IsBorder(token)) continue;
      return TakePiece(text, token.kind == MarkupToken::kBlock ? seen_ + 1 : seen_, piece);
    }
    if (is_cut) return TakePiece(text, seen_, piece);
    if (lexer_.Advance(is_full)) continue;
    if (!is_full && (!is_end || text.empty())) return 0;
    is_full ? lexer_.Cut() : lexer_.End();
    is_cut = true;
  }
}

size_t MarkupReader::TakePiece(absl::string_view text, size_t count, MarkedLine* piece) {
  const absl::Span<MarkupToken> tokens = absl::MakeSpan(lexer_.tokens()).first(count);
  for (MarkupToken& token : tokens) {
    token.raw = text.substr(token.span.begin, token.span.end - token.span.begin);
  }
  const size_t size = tokens.back().span.end;
  const bool ends_in_block = tokens.back().kind == MarkupToken::kBlock;
  absl::string_view rest = text.substr(0, size);
  AddSegment(kind_, tokens.first(count - (ends_in_block ? 1 : 0)), /*is_line=*/false, &rest, piece);
  piece->untouched = std::string(rest);
  lexer_.Drop(count);
  seen_ = 0;
  closed_ = false;
  return size;
}

}  // namespace nibu::internal
