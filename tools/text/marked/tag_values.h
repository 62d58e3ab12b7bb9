// Finds the values in HTML's tags that change with the language of a page: texts, such as that of
// `alt`, and the language itself.
#ifndef NIBU_TOOLS_TEXT_MARKED_TAG_VALUES_H_
#define NIBU_TOOLS_TEXT_MARKED_TAG_VALUES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tokenizer/unicode/text_span.h"
#include "tools/text/marked/marked_text.h"

namespace nibu::internal {

struct TagValue {
  TextSpan span;   // bytes of the tag, without quotes
  char quote = 0;  // the quote around it; 0: none
  PageValue kind = PageValue::kNone;
};

// Returns the values in the tag of HTML with which a text begins, in order; none if there is none,
// or its element is not translated. `has_texts`: texts are among them, unless the element is in
// another language than `source`; else, only the language of <html> is.
std::vector<TagValue> FindValues(absl::string_view tag, bool has_texts, absl::string_view source);

// Returns what stands in place of a value of <html> in a page that has been translated into
// `language`; empty: that is not known.
std::string WritePageValue(const MarkedText& value, const std::string& language);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_TAG_VALUES_H_
