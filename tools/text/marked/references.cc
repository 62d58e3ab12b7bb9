// Looks up the names and numbers of characters, and escapes text.
#include "tools/text/marked/references.h"

#include <re2/re2.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/marked/markup_tags.h"

namespace nibu::internal {
namespace {

// Names of characters, each with its code: the 253 of HTML 4, HTML 5's for the rest of ASCII and
// for Latin Extended-A, and a few more; and the numbers that HTML reads as Windows-1252.
constexpr char kNames[] =
#include "tools/text/marked/markup_entities.inc"
    ;

// Returns the code point of a character reference's name or number, or 0 if it has none.
uint32_t FindCode(absl::string_view name) {
  static const auto* codes = new std::map<absl::string_view, absl::string_view>(
      absl::StrSplit(kNames, absl::ByAnyChar(" \n"), absl::SkipEmpty()));
  if (auto it = codes->find(name); it != codes->end()) {
    name = it->second;
  } else if (!absl::ConsumePrefix(&name, "#")) {
    return 0;
  }
  uint32_t code = 0;
  const bool is_number = absl::StartsWithIgnoreCase(name, "x")
                             ? absl::SimpleHexAtoi(name.substr(1), &code)
                             : absl::SimpleAtoi(name, &code);
  return is_number ? code : 0;
}

// Returns whether a character had a name in HTML 2, which needs no `;`: those of Latin-1 and of
// markup.
bool IsOldName(uint32_t code) {
  return (code >= 160 && code <= 255) ||
         (code > 0 && code < 64 && absl::StrContains("\"&<>", static_cast<char>(code)));
}

}  // namespace

std::optional<Reference> ReadReference(Markup kind, absl::string_view text) {
  // The bounds keep this linear; no name of HTML is longer.
  static const RE2& html =
      *new RE2("&(#[0-9A-Za-z]{1,31}|[A-Za-z][0-9A-Za-z]{1,31})(;|[^;=0-9A-Za-z]|$)", RE2::Latin1);
  static const RE2& xml = *new RE2("&(#[0-9A-Za-z._-]{1,31}|[A-Za-z][0-9A-Za-z._-]{0,31})(;)");
  re2::StringPiece rest(text.data(), text.size());
  std::string name;
  std::string behind;
  if (!RE2::Consume(&rest, kind == Markup::kXml ? xml : html, &name, &behind)) return std::nullopt;
  const uint32_t code = FindCode(name);
  const bool ends = behind == ";";
  if (!ends && (name[0] == '#' ? name.size() < 4 : !IsOldName(code))) return std::nullopt;
  const bool control = code < ' ' && code != '\t' && code != '\n' && code != '\r';
  Reference reference = {"", 1 + name.size() + (ends ? 1 : 0)};
  std::string character;
  const bool is_one = absl::CUnescape(absl::StrFormat("\\U%08x", code), &character);
  if (is_one && !control) reference.character = std::move(character);
  return reference;
}

std::string EscapeText(Markup kind, const Entities& entities, absl::string_view text) {
  if (kind == Markup::kNone && entities.empty()) return std::string(text);
  const bool is_markup = kind != Markup::kNone;
  std::string escaped;
  escaped.reserve(text.size());
  for (size_t size; !text.empty(); text.remove_prefix(size)) {
    size = 1;
    while (size < 4 && !IsCharacterBorder(text, size)) ++size;
    const absl::string_view character = text.substr(0, size);
    if (auto entity = entities.find(character); entity != entities.end()) {
      absl::StrAppend(&escaped, entity->second);
    } else if (is_markup && text[0] == '&' && ReadReference(kind, text).has_value()) {
      escaped += "&amp;";
    } else if (is_markup && text[0] == '<' &&
               (absl::StrContains("!?/", text.substr(1, 1)) || BeginsMarkup(kind, text))) {
      escaped += "&lt;";
    } else {
      absl::StrAppend(&escaped, character);
    }
  }
  return escaped;
}

}  // namespace nibu::internal
