// Puts what a text carries into its translation.
#ifndef NIBU_TOOLS_TEXT_PLACE_H_
#define NIBU_TOOLS_TEXT_PLACE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tokenizer/text_span.h"
#include "tools/text/marked_text.h"

namespace nibu {

// A token of a translation, and the source that it attends to most.
struct AlignedToken {
  TextSpan target;
  TextSpan source;
};

// The translation of a text (of WithNames) with all that the text carries, each once, nested as it
// was:
// - A protected part stands in place of its name, or of the word that comes from it; names too many
//   are left out.
// - A stretch is around the words for which the sum over their tokens of +1 (comes from inside of
//   it) or -1 is the greatest; one of all of its parent's text is around all of the parent's. One
//   without `after` or `before` goes on behind, or began in front, of the text.
// - All else is a point, behind the word of what is in front of it in the source.
std::string Place(const MarkedText& source, absl::string_view target,
                  absl::Span<const AlignedToken> tokens);

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_PLACE_H_
