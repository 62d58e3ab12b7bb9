// Finds menus, forms and footnotes in the tokens of markup.
#include "tools/text/marked/markup_cuts.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tokenizer/unicode/characters.h"
#include "tokenizer/unicode/typesetting.h"

namespace nibu::internal {
namespace {

using Tokens = absl::Span<const MarkupToken>;

// Returns whether a sentence goes on from one element to the next, between which nothing stands:
// <i>The dog</i><i> is big.</i>
bool GoesOn(Tokens tokens, size_t i) {
  if (i < 3 || tokens[i].kind != MarkupToken::kText ||
      !IsElement(tokens[i - 1], MarkupToken::kOpen) || tokens[i - 2].kind != MarkupToken::kClose ||
      tokens[i - 3].kind != MarkupToken::kText) {
    return false;
  }
  const absl::string_view text = TextOf(tokens[i]);
  const size_t blanks = BlankPrefix(text);
  return BeginsSmall(text.substr(blanks)) &&
         (blanks > 0 || IsBlank(LastCharacter(TextOf(tokens[i - 3]))));
}

// Describes what stands in an element, or in none: a sentence, or other elements with nothing but
// white space and separators between them (a menu, a list of tags, a form).
struct Content {
  bool is_sentence = false;
  bool has_separators = false;
  int texts = 0;  // the elements and items in it with letters
  bool has_letters = false;
  bool is_behind_sentence = false;  // the rest stands behind a sentence
  size_t cuts = 0;                  // the number of cuts in front of it

  // A label ("Tags:") stands in front of other elements; it is no sentence with several of them.
  bool IsSentence() const {
    return is_sentence || ((has_separators || is_behind_sentence) && texts < 2);
  }
};

// Returns whether a text has words, or ends a sentence.
bool HasWordsOrEnd(absl::string_view text) {
  return HasWords(text) || text.find_first_of(".!?") != kNowhere;
}

// Returns whether a text ends in a word of three letters or more, or in a mark behind a word.
bool IsLongWordAtEnd(absl::string_view text) {
  static const RE2& word = *new RE2(R"(\pL{3}[.,;:!?"”’)]*$)");
  return RE2::PartialMatch({text.data(), text.size()}, word);
}

}  // namespace

TextSpan WithoutSeparators(absl::string_view text) {
  static const RE2& front = *new RE2(R"([\s\x{a0}]*[|/>·•›»→][\s\x{a0}]+)");
  static const RE2& end = *new RE2(R"(([\s\x{a0}]+[|/>·•›»→][\s\x{a0}]*)$)");
  constexpr size_t kMostAtEnd = 64;
  if (absl::StrContains(text, "«")) return {0, text.size()};
  re2::StringPiece rest(text.data(), text.size());
  RE2::Consume(&rest, front);
  TextSpan span = {text.size() - rest.size(), text.size()};
  re2::StringPiece found;
  rest.remove_prefix(rest.size() - std::min(rest.size(), kMostAtEnd));
  if (RE2::PartialMatch(rest, end, &found)) span.end -= found.size();
  return span;
}

bool IsSeparator(absl::string_view text, const TextSpan& part) {
  static const RE2& pattern = *new RE2(R"([\s\x{a0}]*([|/>·•›»→])[\s\x{a0}]*)");
  re2::StringPiece sign;
  if (!RE2::FullMatch({text.data() + part.begin, part.end - part.begin}, pattern, &sign)) {
    return false;
  }
  const absl::string_view before = text.substr(0, sign.data() - text.data());
  const absl::string_view behind = text.substr(before.size() + sign.size());
  return (before.empty() || IsBlank(LastCharacter(before))) &&
         (behind.empty() || IsBlank(FirstCharacter(behind)));
}

bool HasLetters(const MarkupToken& token) {
  return token.kind == MarkupToken::kText && HasLetters(TextOf(token));
}

bool HasWords(const MarkupToken& token) {
  if (token.kind == MarkupToken::kProtected) return token.value.empty();
  if (token.kind != MarkupToken::kText) return false;
  return HasWordsOrEnd(TextOf(token));
}

std::vector<size_t> FindCuts(Markup kind, Tokens tokens) {
  std::vector<size_t> cuts;
  std::vector<Content> open(1);
  std::vector<absl::string_view> names;
  std::map<absl::string_view, int> has_open;
  // Ends the text since the last tag. It makes a sentence of what it is in, unless it is a label or
  // an item of a list, as the elements beside it are: <a>Home</a> | Dogs
  std::string text;
  bool ends_sentence = false;
  const auto end_text = [&](bool is_last) {
    Content& content = open.back();
    const absl::string_view own = absl::StripAsciiWhitespace(text);
    const TextSpan item = WithoutSeparators(own);
    const bool has_front = item.begin > 0;
    const bool has_end = item.end < own.size();
    const bool is_first = content.texts == 0 && !content.has_letters;
    ends_sentence = !own.empty() && absl::StrContains(".!?", own.back());
    const bool is_item =
        !ends_sentence && (has_front || has_end) && (has_front || is_first) && (has_end || is_last);
    const bool is_label = content.texts == 0 && absl::EndsWith(own, ":");
    const bool has_letters = HasLetters(own);
    content.is_sentence |= HasWordsOrEnd(own) && !is_label && !is_item;
    content.has_separators |= !IsBlank(own);
    content.has_letters |= has_letters;
    content.texts += is_item && has_letters ? 1 : 0;
    text.clear();
  };
  // Ends the innermost content. In a sentence, nothing is cut.
  const auto end = [&](size_t behind) {
    const Content inner = open.back();
    open.pop_back();
    if (inner.IsSentence()) cuts.resize(inner.cuts);
    cuts.push_back(behind);
    if (open.empty()) open.push_back({});
    open.back().has_letters |= inner.has_letters;
    open.back().texts += inner.has_letters ? 1 : 0;
  };
  // Ends the elements up to the innermost one with a name, or, if there is none, what they are in.
  const auto close = [&](absl::string_view name, size_t behind) {
    bool is_last = names.empty();
    do {
      end(behind);
      if (is_last) break;
      is_last = names.back() == name;
      --has_open[names.back()];
      names.pop_back();
    } while (!is_last);
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const MarkupToken& token = tokens[i];
    const bool closes = IsElement(token, MarkupToken::kClose);
    if (closes || IsElement(token, MarkupToken::kOpen)) end_text(closes);
    if (IsElement(token, MarkupToken::kOpen)) {
      // What follows a sentence may be a menu: Are you sure? <a>Save</a> <a>Cancel</a>
      if (ends_sentence && open.back().is_sentence) {
        Content& content = open.back();
        cuts.resize(content.cuts);
        content = {.has_letters = true, .is_behind_sentence = true, .cuts = content.cuts};
      }
      // In HTML, a link ends where the next one begins.
      if (kind == Markup::kHtml && token.value == "a" && has_open["a"] > 0) close("a", i);
      cuts.push_back(i);
      open.push_back({.cuts = cuts.size()});
      names.push_back(token.value);
      ++has_open[token.value];
    } else if (closes) {
      // A tag that was opened in front of the tokens closes what they are in.
      if (names.empty() || has_open[token.value] > 0) close(token.value, i + 1);
    } else if (token.kind == MarkupToken::kText) {
      absl::StrAppend(&text, TextOf(token));
      if (GoesOn(tokens, i)) open[open.size() - 2].is_sentence = true;
    } else {
      open.back().is_sentence |= HasWords(token);
    }
  }
  end_text(true);
  while (open.size() > 1) end(tokens.size());
  end(tokens.size());
  return cuts;
}

void MarkFootnotes(absl::Span<MarkupToken> tokens) {
  constexpr size_t kMost = 16;  // tokens of a footnote, which keeps this linear
  bool is_behind_words = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    is_behind_words |= HasLetters(tokens[i]);
    if (!is_behind_words || !IsElement(tokens[i], MarkupToken::kOpen)) continue;
    std::string text;
    bool is_raised = false;
    int depth = 0;
    size_t end = i;
    do {
      const MarkupToken& token = tokens[end];
      if (token.kind == MarkupToken::kText) absl::StrAppend(&text, TextOf(token));
      is_raised |= token.kind == MarkupToken::kOpen && token.value == "sup";
      depth += token.kind == MarkupToken::kOpen ? 1 : token.kind == MarkupToken::kClose ? -1 : 0;
    } while (depth > 0 && ++end < tokens.size() && end < i + kMost &&
             tokens[end].kind != MarkupToken::kProtected);
    text = std::string(absl::StripAsciiWhitespace(text));
    // A number in brackets behind a space may be a word: see [2] for more. One that touches a word
    // is none: dog<a>2</a>
    const absl::string_view before =
        tokens[i - 1].kind == MarkupToken::kText ? TextOf(tokens[i - 1]) : " ";
    const bool touches = !IsBlank(LastCharacter(before)) && !absl::EndsWith(before, "[") &&
                         !absl::EndsWith(before, "(");
    const bool is_last = end + 1 >= tokens.size() ||
                         absl::StrContains(".,:;!?)", TextOf(tokens[end + 1]).substr(0, 1));
    const bool is_bracketed =
        absl::StartsWith(text, "[") && absl::EndsWith(text, "]") && (touches || is_last);
    const bool is_link =
        touches && tokens[i].value == "a" && absl::c_all_of(text, absl::ascii_isdigit);
    // A letter is one behind a word or a full stop (town<sup>a</sup>), but not behind x or 1.
    const bool is_letter = is_raised && touches && text.size() == 1 && IsLongWordAtEnd(before);
    const bool is_note = is_raised && absl::StartsWith(text, "[") && absl::EndsWith(text, "]");
    // Alone in brackets, it is what they are around: (<sup>1</sup>)
    const bool is_content = absl::EndsWith(before, "(");
    const bool is_number =
        !HasLetters(text) && ((is_raised && !is_content) || is_bracketed || is_link);
    if (depth > 0 || text.empty() || !(is_number || is_letter || is_note)) continue;
    for (; i <= end; ++i) tokens[i].kind = MarkupToken::kPoint;
    --i;
  }
}

}  // namespace nibu::internal
