// Reads character references of HTML and XML, and writes text so that it can stand between tags.
#ifndef NIBU_TOOLS_TEXT_MARKED_REFERENCES_H_
#define NIBU_TOOLS_TEXT_MARKED_REFERENCES_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "nibu/options.h"

namespace nibu::internal {

struct Reference {
  std::string character;  // in UTF-8; empty: it is unknown or may not stand in a text
  size_t size;            // bytes of the reference
};

// Returns the reference that `text` begins with, if it does: `&eacute;`, `&#233;` or `&#xe9;`. In
// HTML a name has two letters or more, unlike that of `R&D;`, and those of HTML 2 (`&copy`) and
// numbers need no `;` unless a letter, digit or `=` follows, as in attributes: `?a=1&copy=2` has
// none.
std::optional<Reference> ReadReference(Markup kind, absl::string_view text);

// Characters that are written as entities, each with its entity.
using Entities = std::map<std::string, std::string, std::less<>>;

// Escapes a text, so that it can stand between tags. Characters that the source has as entities are
// written as such (in ASCII only `& < > " '`), and so are a `<` and `&` that would be read as
// markup; in XML, all `<` and `&` are, unless the source has them bare.
std::string EscapeText(Markup kind, const Entities& entities, absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_REFERENCES_H_
