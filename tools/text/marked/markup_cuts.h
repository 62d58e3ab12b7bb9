// Tells which tokens of markup are a text of their own, and which are no words of one.
#ifndef NIBU_TOOLS_TEXT_MARKED_MARKUP_CUTS_H_
#define NIBU_TOOLS_TEXT_MARKED_MARKUP_CUTS_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/text/marked/markup_lexer.h"

namespace nibu::internal {

// Returns what a token of text says: that of a reference is a character.
inline absl::string_view TextOf(const MarkupToken& token) {
  return token.value.empty() ? token.raw : token.value;
}

// Returns whether a token is the tag of an element, or the whole of a protected one, rather than a
// code of XLIFF or TMX, a reference or a template.
inline bool IsElement(const MarkupToken& token, MarkupToken::Kind kind) {
  return token.kind == kind && !token.value.empty();
}

// Returns a text's span without a separator of a list at its beginning and at its end, and the
// white space around it: "| Dogs »".
TextSpan WithoutSeparators(absl::string_view text);
// Returns whether a part of a text is a separator that touches no word.
bool IsSeparator(absl::string_view text, const TextSpan& part);
// Returns whether a token is text with letters.
bool HasLetters(const MarkupToken& token);
// Returns whether a token has words of the text that it stands in, or ends its sentence. A template
// or an unknown reference stands for words; an element that is not translated does not.
bool HasWords(const MarkupToken& token);

// Returns where the tokens between two blocks are cut, so that an element is a text of its own
// unless it stands in a sentence: where nothing but white space and separators stand between
// elements, as in menus, lists of tags and forms. The last cut is behind the last token.
std::vector<size_t> FindCuts(Markup kind, absl::Span<const MarkupToken> tokens);

// Makes points of a text's footnotes: of elements behind words without letters in them, which are
// superscripts (<sup>2</sup>) or in brackets (<a>[2]</a>). They are no words of a sentence, and it
// may end in front of them.
void MarkFootnotes(absl::Span<MarkupToken> tokens);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_MARKUP_CUTS_H_
