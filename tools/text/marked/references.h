// Reads character references of HTML and XML, and writes text so that it can stand between tags.
#ifndef NIBU_TOOLS_TEXT_MARKED_REFERENCES_H_
#define NIBU_TOOLS_TEXT_MARKED_REFERENCES_H_

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "nibu/options.h"

namespace nibu::internal {

// Returns the character (UTF-8) of the reference that `text` begins with: `&eacute;`, `&#233;` or
// `&#xe9;`. Returns an empty string if the character is unknown or may not stand in a text, and
// nullopt if there is no reference. A reference has to end in `;`. In HTML a name has two letters
// or more, unlike that of `R&D;`.
std::optional<std::string> ReadReference(Markup kind, absl::string_view text);

// Characters that are written as entities, each with its entity.
using Entities = std::map<std::string, std::string, std::less<>>;

// Escapes a text, so that it can stand between tags. Characters that the source has as entities are
// written as such (in ASCII only `& < > " '`), and so are a `<` and `&` that would be read as
// markup; in XML, all `<` and `&` are, unless the source has them bare.
std::string EscapeText(Markup kind, const Entities& entities, absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_REFERENCES_H_
