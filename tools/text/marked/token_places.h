// Finds where the tokens of markup stand in the text that they make: steps 4 and 6 of MarkupReader.
#ifndef NIBU_TOOLS_TEXT_MARKED_TOKEN_PLACES_H_
#define NIBU_TOOLS_TEXT_MARKED_TOKEN_PLACES_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "nibu/options.h"
#include "tokenizer/unicode/text_span.h"
#include "tools/text/marked/marked_text.h"
#include "tools/text/marked/markup_lexer.h"

namespace nibu::internal {

// The place of a token in the segment's text.
struct TokenPlace {
  TextSpan span;              // its own; for a tag, that of its element
  size_t partner = kNowhere;  // the token of the element's other tag
  size_t around =
      kNowhere;  // for a closing tag without a partner: the innermost open element's tag
};

// Finds the places of tokens, and appends them to the text and to its references.
std::vector<TokenPlace> FindPlaces(absl::Span<const MarkupToken> tokens, MarkedText* marked);

// Returns the annotations that the tokens [begin, end) make, outer before inner.
std::vector<Annotation> FindAnnotations(absl::Span<const MarkupToken> tokens, size_t begin,
                                        size_t end, absl::Span<const TokenPlace> places);

// Returns the characters of a segment that are written as entities, with these (see EscapeText).
// `has_escapes`: see MarkupLexer.
Entities FindEntities(Markup kind, bool has_escapes, absl::Span<const MarkupToken> tokens);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_TOKEN_PLACES_H_
