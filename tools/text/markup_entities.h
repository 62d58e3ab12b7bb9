// Character references of HTML and XML.
#ifndef NIBU_TOOLS_TEXT_MARKUP_ENTITIES_H_
#define NIBU_TOOLS_TEXT_MARKUP_ENTITIES_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "tools/text/marked_text.h"

namespace nibu {

struct MarkupReference {
  size_t size = 0;        // bytes of the reference; 0: there is none
  std::string character;  // UTF-8; empty: not known, or not to stand in a text
};

// The reference that `text` begins with: `&eacute;`, `&#233;` or `&#xe9;`. Its `;` may not be left
// out; in HTML a name has two letters or more, unlike `R&D;`.
MarkupReference ReadReference(Markup kind, absl::string_view text);

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_MARKUP_ENTITIES_H_
