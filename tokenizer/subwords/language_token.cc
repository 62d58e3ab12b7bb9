// Recognizes language tokens by their brackets, and then by the vocabulary.
#include "tokenizer/subwords/language_token.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace nibu::internal {
namespace {

// Returns the bytes of the language token that a text begins with; 0 if there is none. A token has
// no blanks and is not empty inside of its brackets.
size_t TokenLength(absl::string_view text) {
  const bool marian = absl::StartsWith(text, ">>");
  if (!marian && !absl::StartsWith(text, "<2")) return 0;
  const absl::string_view last = marian ? "<<" : ">";
  const size_t end = text.find(last, 2);
  const size_t blank = text.find_first_of(" \t");
  return end == absl::string_view::npos || end == 2 || blank < end ? 0 : end + last.size();
}

}  // namespace

absl::string_view LanguageTokenOf(absl::string_view text) {
  const absl::string_view line = absl::StripLeadingAsciiWhitespace(text);
  return line.substr(0, TokenLength(line));
}

std::string TakeLanguageToken(const Vocabulary& vocabulary, absl::string_view* text) {
  const absl::string_view token = LanguageTokenOf(*text);
  if (token.empty() || !vocabulary.Contains(token)) return "";
  text->remove_prefix(static_cast<size_t>(token.data() - text->data()) + token.size());
  *text = absl::StripLeadingAsciiWhitespace(*text);
  return std::string(token);
}

size_t LanguagePrefix(const Vocabulary& vocabulary, absl::Span<const std::string> pieces) {
  const size_t start = !pieces.empty() && pieces[0] == "▁" ? 1 : 0;
  if (start == pieces.size()) return 0;
  const std::string& piece = pieces[start];
  const size_t length = TokenLength(piece);
  return length > 0 && length == piece.size() && vocabulary.Contains(piece) ? start + 1 : 0;
}

}  // namespace nibu::internal
