// Makes segments of the lexer's tokens, and finds the elements in them.
#include "tools/text/marked/markup.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/marked/markup_cuts.h"
#include "tools/text/marked/references.h"
#include "tools/text/marked/tag_values.h"
#include "tools/text/marked/token_places.h"

namespace nibu::internal {

namespace {

// The bytes of XML that are read together, if the element in which they stand has so many. Whether
// it is a sentence is known only at its end, and that of the whole document is no sentence.
constexpr size_t kLeastXml = 4096;

using Tokens = absl::Span<const MarkupToken>;

bool IsText(const MarkupToken& token) {
  return token.kind == MarkupToken::kText && !IsBlank(TextOf(token));
}

bool HasLetters(Tokens tokens) {
  return absl::c_any_of(tokens, [](const MarkupToken& each) { return HasLetters(each); });
}

absl::string_view Sub(absl::string_view text, const TextSpan& span) {
  return text.substr(span.begin, span.end - span.begin);
}

// How segments are made.
struct Rules {
  Markup kind = Markup::kNone;
  bool is_line = false;  // a line without markup keeps its blanks
  bool in_document = false;
  bool has_escapes = false;         // see MarkupLexer
  bool has_values = false;          // texts in tags are segments
  absl::string_view language = {};  // that of the source; empty: it is not known
};

// Returns the segment of a value in a tag, with nothing around it; none if it has no letters.
std::optional<MarkedLine::Segment> ReadValue(const TagValue& value, absl::string_view raw) {
  MarkedLine::Segment segment;
  segment.marked = {.text = std::string(raw), .page = value.kind};
  if (value.kind != PageValue::kNone) return segment;
  std::vector<MarkupToken> tokens;
  const auto add = [&](MarkupToken::Kind kind, size_t begin, size_t end, std::string character) {
    if (begin == end) return;
    tokens.push_back({kind, {begin, end}, std::move(character), false, /*collapses=*/true});
    tokens.back().raw = raw.substr(begin, end - begin);
  };
  size_t done = 0;
  for (size_t at = raw.find('&'); at != kNowhere; at = raw.find('&', at + 1)) {
    std::optional<Reference> reference = ReadReference(Markup::kHtml, raw.substr(at));
    if (!reference.has_value()) continue;
    std::string& character = reference->character;
    const bool is_text = !character.empty() && !absl::ascii_iscntrl(character[0]);
    add(MarkupToken::kText, done, at, "");
    done = at + reference->size;
    add(is_text ? MarkupToken::kText : MarkupToken::kProtected, at, done, std::move(character));
  }
  add(MarkupToken::kText, done, raw.size(), "");
  if (!HasLetters(tokens)) return std::nullopt;
  segment.marked = {.text = "", .markup = Markup::kHtml, .references = std::vector<Annotation>()};
  const std::vector<TokenPlace> places = FindPlaces(tokens, &segment.marked);
  segment.marked.annotations = FindAnnotations(tokens, 0, tokens.size(), places);
  segment.marked.entities = FindEntities(Markup::kHtml, /*has_escapes=*/false, tokens);
  if (value.quote == 0) {  // a value of several words needs quotes
    const TextSpan all = {0, segment.marked.text.size()};
    segment.marked.annotations.insert(segment.marked.annotations.begin(),
                                      Annotation{all, "\"", "\"", false});
  }
  segment.marked.entities.emplace(value.quote == '\'' ? "'" : "\"",
                                  value.quote == '\'' ? "&#39;" : "&quot;");
  return segment;
}

// Adds segments for the values in tags that are copied, and moves `rest` behind them.
void AddValues(const Rules& rules, Tokens tokens, absl::string_view* rest, MarkedLine* marked) {
  if (!rules.in_document || rules.kind != Markup::kHtml) return;
  for (const MarkupToken& token : tokens) {
    for (const TagValue& value : FindValues(token.raw, rules.has_values, rules.language)) {
      const absl::string_view raw = Sub(token.raw, value.span);
      std::optional<MarkedLine::Segment> segment = ReadValue(value, raw);
      if (!segment.has_value()) continue;
      const size_t untouched = raw.data() - rest->data();
      segment->untouched = std::string(rest->substr(0, untouched));
      segment->size = raw.size();
      rest->remove_prefix(untouched + raw.size());
      marked->segments.push_back(*std::move(segment));
    }
  }
}

// Adds segments for the values in tags of a text. Puts marks in their places, in copies of the tags
// that `changed` owns.
void MarkValues(const Rules& rules, absl::Span<MarkupToken> tokens,
                std::deque<std::string>* changed, MarkedLine* marked) {
  if (!rules.has_values) return;
  const auto has_mark = [](absl::string_view text) {
    return absl::StrContains(text, kValueMark) || absl::StrContains(text, kValueEnd);
  };
  const auto is_ambiguous = [&](const MarkupToken& token) {
    return has_mark(token.raw) || has_mark(token.value);
  };
  if (absl::c_any_of(tokens, is_ambiguous)) return;
  size_t count = 0;
  for (MarkupToken& token : tokens) {
    std::string with_marks;
    size_t copied = 0;
    for (const TagValue& value : FindValues(token.raw, /*has_texts=*/true, rules.language)) {
      std::optional<MarkedLine::Segment> segment = ReadValue(value, Sub(token.raw, value.span));
      if (!segment.has_value() || has_mark(segment->marked.text)) continue;
      segment->is_value = true;
      marked->segments.push_back(*std::move(segment));
      absl::StrAppend(&with_marks, Sub(token.raw, {copied, value.span.begin}), kValueMark, count++,
                      kValueMark);
      copied = value.span.end;
    }
    if (copied == 0) continue;
    absl::StrAppend(&with_marks, token.raw.substr(copied));
    token.raw = changed->emplace_back(std::move(with_marks));
  }
}

// Adds a segment of `tokens` to `marked`, if there is text in them, and moves `rest`, which is the
// line behind the segments so far, behind it.
void AddSegment(const Rules& rules, absl::Span<MarkupToken> tokens, absl::string_view* rest,
                MarkedLine* marked) {
  const Markup kind = rules.kind;
  if (absl::c_none_of(tokens, IsText)) return AddValues(rules, tokens, rest, marked);
  if (kind != Markup::kNone) MarkFootnotes(tokens);
  MarkedText whole = {.text = "", .markup = kind, .references = std::vector<Annotation>()};
  const std::vector<TokenPlace> places = FindPlaces(tokens, &whole);
  // Step 5: tokens around the text (blanks, points, tags) are copied, except the tags of elements
  // of which one end is within the text. So are separators, except French quotes.
  const bool has_letters = kind != Markup::kNone && HasLetters(tokens);
  const bool has_separators = has_letters && !absl::StrContains(whole.text, "«");
  const auto stands_in_text = [&](const MarkupToken& token) {
    const TextSpan& span = places[&token - tokens.data()].span;
    return token.kind == MarkupToken::kProtected ||
           (IsText(token) && !(has_separators && IsSeparator(whole.text, span)));
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
  const auto size_in_text = [](const MarkupToken& token, absl::string_view raw) {
    size_t size = raw.size();
    for (size_t i = 1; i < raw.size(); ++i) {
      size -= token.collapses && absl::ascii_isspace(raw[i]) && absl::ascii_isspace(raw[i - 1]);
    }
    return size;
  };
  // A token that stands in the text as it is written has its separators where they seem to be.
  const auto is_plain = [&](size_t i) {
    const TextSpan& span = places[i].span;
    const absl::string_view text = whole.text;
    return text.substr(span.begin, span.end - span.begin) == tokens[i].raw;
  };
  if (!rules.is_line || front.size() < rest->size()) {
    absl::string_view head = absl::StripLeadingAsciiWhitespace(front);
    absl::string_view tail = absl::StripTrailingAsciiWhitespace(back);
    if (rules.has_escapes && has_letters && absl::StartsWith(head, "\"") &&
        absl::EndsWith(tail, "\"")) {
      // Android keeps the blanks in these quotes.
      head = absl::StripLeadingAsciiWhitespace(head.substr(1));
      tail = absl::StripTrailingAsciiWhitespace(tail.substr(0, tail.size() - 1));
    } else if (has_separators && is_plain(begin) && is_plain(end - 1)) {
      head = head.substr(WithoutSeparators(head).begin);
      tail = tail.substr(0, WithoutSeparators(tail).end);
    }
    if (head.data() >= tail.data() + tail.size()) {  // nothing but separators, or a single quote
      head = absl::StripLeadingAsciiWhitespace(front);
      tail = absl::StripTrailingAsciiWhitespace(back);
    }
    const size_t in_front = front.size() - head.size();
    own.begin += size_in_text(tokens[begin], front.substr(0, in_front));
    own.end -= size_in_text(tokens[end - 1], back.substr(tail.size()));
    back = tail;
    front.remove_prefix(in_front);
  }

  AddValues(rules, tokens.first(begin), rest, marked);
  const size_t untouched = front.data() - rest->data();
  const size_t size = back.data() + back.size() - front.data();
  std::deque<std::string> changed;
  MarkValues(rules, tokens.subspan(begin, end - begin), &changed, marked);
  whole.annotations = FindAnnotations(tokens, begin, end, places);
  whole.entities = FindEntities(kind, rules.has_escapes, tokens.subspan(begin, end - begin));
  marked->segments.push_back(
      {std::string(rest->substr(0, untouched)), std::move(Cut(whole, {own})[0]), size});
  rest->remove_prefix(untouched + size);
  AddValues(rules, tokens.subspan(end), rest, marked);
}

// Adds the segments of the tokens between two blocks.
void AddSegments(const Rules& rules, absl::Span<MarkupToken> tokens, absl::string_view* rest,
                 MarkedLine* marked) {
  if (rules.kind == Markup::kNone || (rules.is_line && !HasLetters(tokens))) {
    return AddSegment(rules, tokens, rest, marked);
  }
  size_t begin = 0;
  for (const size_t end : FindCuts(rules.kind, tokens)) {
    const auto own = tokens.subspan(begin, end - begin);
    if (HasLetters(own)) {
      AddSegment(rules, own, rest, marked);
    } else {
      AddValues(rules, own, rest, marked);
    }
    begin = end;
  }
}

}  // namespace

bool MarkupReader::EndsTexts(const MarkupToken& token) {
  if (token.kind == MarkupToken::kBlock) return true;
  if (kind_ != Markup::kXml) return false;
  const bool opens = IsElement(token, MarkupToken::kOpen);
  const bool closes = IsElement(token, MarkupToken::kClose);
  if (opens && closed_ && sentences_ == 0 && token.span.begin >= kLeastXml) return true;
  if (opens) {
    has_words_.push_back(false);
  } else if (closes && !has_words_.empty()) {
    sentences_ -= has_words_.back() ? 1 : 0;
    has_words_.pop_back();
  } else if (HasWords(token)) {
    if (has_words_.empty()) has_words_.push_back(false);
    sentences_ += has_words_.back() ? 0 : 1;
    has_words_.back() = true;
  }
  closed_ = closes || (closed_ && !opens);
  return false;
}

MarkedLine MarkupReader::Read(absl::string_view line) {
  MarkedLine marked;
  lexer_.ReadLine(line);
  const absl::Span<MarkupToken> tokens = absl::MakeSpan(lexer_.tokens());
  const Rules rules = {.kind = kind_, .is_line = true, .has_escapes = lexer_.has_escapes()};
  size_t begin = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != MarkupToken::kBlock) continue;
    AddSegments(rules, tokens.subspan(begin, i - begin), &line, &marked);
    begin = i + 1;
  }
  AddSegments(rules, tokens.subspan(begin), &line, &marked);
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
  // Reads token after token until texts end. If the text is full, or ends, it is cut there.
  for (bool is_cut = false;;) {
    for (; seen_ < tokens.size(); ++seen_) {
      MarkupToken& token = tokens[seen_];
      token.raw = text.substr(token.span.begin, token.span.end - token.span.begin);
      if (!EndsTexts(token)) continue;
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
  const Rules rules = {.kind = kind_,
                       .in_document = true,
                       .has_escapes = lexer_.has_escapes(),
                       .has_values = has_values_,
                       .language = lexer_.language()};
  const size_t own = count - (ends_in_block ? 1 : 0);
  AddSegments(rules, tokens.first(own), &rest, piece);
  AddValues(rules, tokens.subspan(own), &rest, piece);
  piece->untouched = std::string(rest);
  lexer_.Drop(count);
  seen_ = 0;
  closed_ = false;
  has_words_.clear();
  sentences_ = 0;
  return size;
}

}  // namespace nibu::internal
