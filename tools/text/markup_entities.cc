#include <re2/re2.h>

#include <cstdint>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tools/text/markup.h"

namespace nibu {

namespace {

// Name and code: the 253 of HTML 4, HTML 5's for the rest of ASCII and Latin Extended-A, and a few
// more; and the numbers that HTML reads as Windows-1252.
constexpr char kNames[] =
#include "tools/text/markup_entities.inc"
    ;

// 0: there is none.
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

}  // namespace

MarkupReference ReadReference(Markup kind, absl::string_view text) {
  // No name of HTML is longer.
  static const LazyRE2 html = {"&(#[0-9A-Za-z]{1,31}|[A-Za-z][0-9A-Za-z]{1,31});"};
  static const LazyRE2 xml = {"&(#[0-9A-Za-z._-]{1,31}|[A-Za-z][0-9A-Za-z._-]{0,31});"};
  re2::StringPiece rest(text.data(), text.size());
  std::string name;
  if (!RE2::Consume(&rest, kind == Markup::kXml ? *xml : *html, &name)) return {};
  MarkupReference reference = {text.size() - rest.size(), ""};
  const uint32_t code = FindCode(name);
  const bool control = code < ' ' && code != '\t' && code != '\n' && code != '\r';
  if (control || !absl::CUnescape(absl::StrFormat("\\U%08x", code), &reference.character)) {
    reference.character.clear();
  }
  return reference;
}

}  // namespace nibu
