// Reads the tags of HTML and XML, and knows which elements separate texts, are empty, or are not
// translated. Pure functions, which threads may call at the same time.
#ifndef NIBU_TOOLS_TEXT_MARKED_MARKUP_TAGS_H_
#define NIBU_TOOLS_TEXT_MARKED_MARKUP_TAGS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "nibu/options.h"

namespace re2 {
class RE2;
}

namespace nibu::internal {

inline constexpr size_t kNowhere = absl::string_view::npos;
inline constexpr char kMarkupBlanks[] = " \t\r\n\f";

struct MarkupTag {
  std::string name = {};  // in lower case in HTML
  bool closing = false;
  bool self_closing = false;     // ends with `/>`
  bool no_translation = false;   // translate="no" or class="notranslate"
  bool preserves_space = false;  // xml:space="preserve"
  char quote = 0;                // the quote of the value in which the line ended; 0: none
  bool values = false;           // the line has attributes with a value
  int words = 0;                 // number of attributes in the line without a value
  bool translates = false;       // translate="yes"
  bool is_choice = false;        // type="radio" or "checkbox"
  std::string language = {};     // the value of `lang` or `xml:lang`
};

struct MarkupAttribute {
  absl::string_view name;
  absl::string_view value;  // without quotes
  char quote = 0;           // the quote around it; 0: none
};

// Reads a tag from its `<` on. Returns where the tag ends, 0 if it is no tag, and kNowhere if it
// does not end in this text. `is_whole`: no more of the text will come, so a quote that is still
// open was never closed. `attributes` gets the attributes with values.
size_t BeginTag(Markup kind, absl::string_view text, size_t pos, bool is_whole, MarkupTag* tag,
                std::vector<MarkupAttribute>* attributes = nullptr);

// Reads a tag of HTML that is written as text, as feeds do: &lt;b&gt;. Returns where it ends, or 0
// if there is none, or none of at most kMostEscaped bytes.
inline constexpr size_t kMostEscaped = 2048;
size_t BeginEscapedTag(absl::string_view text, MarkupTag* tag);

// Reads on from `pos` within a tag; returns the same. This takes linear time: where tags begin in
// one another, only the last quotes are read twice.
size_t ReadAttributes(absl::string_view text, size_t pos, bool is_whole, MarkupTag* tag,
                      std::vector<MarkupAttribute>* attributes = nullptr);

// Returns whether a comment, document type or processing instruction begins here, or in HTML what
// ends in the text and contains no other: a template's <% ... %>, or </ b>, which is a comment.
bool BeginsDeclaration(Markup kind, absl::string_view text);
// Returns whether a text that begins with `<` would be read as markup.
bool BeginsMarkup(Markup kind, absl::string_view text);

// Returns where the group of a pattern matches from `pos` on, or kNowhere.
size_t FindGroup(absl::string_view text, size_t pos, const re2::RE2& pattern);

// Returns whether an element of HTML is in another language than the source, which may not be
// known.
bool IsForeign(const MarkupTag& tag, absl::string_view source_language);
// Returns whether an element separates texts.
bool IsBlockElement(absl::string_view name);
// Returns whether an element of HTML never has an end tag.
bool IsVoidElement(absl::string_view name);
// Returns whether nothing in an element of HTML is markup except its end tag.
bool IsRawElement(absl::string_view name);
// Returns whether an element of HTML that is not translated is a picture, and no word.
bool IsPicture(Markup kind, absl::string_view name);
// Returns whether an element is not translated.
bool IsLeftAlone(Markup kind, absl::string_view name);
// Returns whether the content of an element of RSS or Atom is a name, date, link or the like.
bool IsFeedValue(absl::string_view name);
// Return whether an element of XLIFF or TMX stands for an opening tag, or for a closing one. A name
// with a `/` behind it is that of an empty element.
bool IsOpeningCode(Markup kind, absl::string_view name);
bool IsClosingCode(Markup kind, absl::string_view name);

// Returns the names of HTML's elements that end an element without an end tag, each between two
// spaces: an `li` ends before the next `li`. The list is empty if the element needs an end tag.
absl::string_view EndersOf(absl::string_view name);
// Returns whether an element may contain elements that need no end tag.
bool IsParent(absl::string_view name);
// Returns whether a name stands between two spaces of `names`.
bool IsIn(absl::string_view names, absl::string_view name);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_MARKUP_TAGS_H_
