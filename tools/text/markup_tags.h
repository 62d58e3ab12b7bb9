// The tags of HTML and XML, and what is known of their elements.
#ifndef NIBU_TOOLS_TEXT_MARKUP_TAGS_H_
#define NIBU_TOOLS_TEXT_MARKUP_TAGS_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "nibu/options.h"

namespace re2 {
class RE2;
}

namespace nibu::internal {

inline constexpr size_t kNowhere = absl::string_view::npos;
inline constexpr char kMarkupBlanks[] = " \t\r\n\f";

struct MarkupTag {
  std::string name = {};  // in small letters in HTML
  bool closing = false;
  bool self_closing = false;     // ends with `/>`
  bool no_translation = false;   // translate="no" or class="notranslate"
  bool preserves_space = false;  // xml:space="preserve"
  char quote = 0;                // that of the value in which the line ended
  bool values = false;           // the line has attributes with a value
  int words = 0;                 // the line's attributes without one
};

// Reads a tag from its `<` on. Returns where the tag ends; 0: it is none; kNowhere: not in this
// text. `is_whole`: no more of the text will come, so that a quote that it does not close was
// forgotten.
size_t BeginTag(Markup kind, absl::string_view text, size_t pos, bool is_whole, MarkupTag* tag);

// The same from `pos` on within a tag. Linear time: where tags begin in one another, only the last
// quotes are read twice.
size_t ReadAttributes(absl::string_view text, size_t pos, bool is_whole, MarkupTag* tag);

// Returns where the group of a pattern matches from `pos` on, or kNowhere.
size_t FindGroup(absl::string_view text, size_t pos, const re2::RE2& pattern);

// An element that separates texts.
bool IsBlockElement(absl::string_view name);
// An element of HTML that has no end tag.
bool IsVoidElement(absl::string_view name);
// An element of HTML in which nothing is markup but its end tag.
bool IsRawElement(absl::string_view name);
// An element that is not translated.
bool IsLeftAlone(Markup kind, absl::string_view name);
// An element of XLIFF or TMX that stands for an opening tag, or for a closing one. A name with a
// `/` behind it is that of an empty element.
bool IsOpeningCode(Markup kind, absl::string_view name);
bool IsClosingCode(Markup kind, absl::string_view name);

// The elements of HTML before which an element ends that may have no end tag, each between two
// spaces; empty: it needs one.
absl::string_view EndersOf(absl::string_view name);
// An element that may have others within it that need no end tag.
bool IsParent(absl::string_view name);
// Returns whether a name stands between two spaces of `names`.
bool IsIn(absl::string_view names, absl::string_view name);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKUP_TAGS_H_
