#include <cstdint>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tools/text/markup_lexer.h"

namespace nibu {

namespace {

constexpr size_t kMaxSize = 34;  // of HTML's longest name, with `&` and `;`

// Name and code: the 253 of HTML 4, HTML 5's for the rest of ASCII and Latin Extended-A, and a few
// more; and the numbers that HTML reads as Windows-1252.
constexpr char kNames[] =
#include "tools/text/markup_entities.inc"
    ;

std::map<absl::string_view, uint32_t> ReadNames() {
  std::map<absl::string_view, uint32_t> names;
  for (absl::string_view line : absl::StrSplit(kNames, '\n', absl::SkipEmpty())) {
    const size_t blank = line.find(' ');
    if (!absl::SimpleAtoi(line.substr(blank), &names[line.substr(0, blank)])) names.clear();
  }
  return names;
}

// 0: there is none.
uint32_t FindCode(absl::string_view name) {
  static const auto* names = new auto(ReadNames());
  if (auto it = names->find(name); it != names->end()) return it->second;
  uint32_t code = 0;
  const bool is_number =
      absl::ConsumePrefix(&name, "#") &&
      (absl::StartsWithIgnoreCase(name, "x") ? absl::SimpleHexAtoi(name.substr(1), &code)
                                             : absl::SimpleAtoi(name, &code));
  return is_number ? code : 0;
}

}  // namespace

MarkupReference ReadReference(Markup kind, absl::string_view text) {
  text = text.substr(0, kMaxSize);
  const bool number = absl::StartsWith(text, "&#");
  size_t end = number ? 2 : 1;
  const size_t least = end + (number || kind == Markup::kXml ? 1 : 2);
  if (!number && (text.size() < 2 || !absl::ascii_isalpha(text[1]))) return {};
  while (end < text.size() && (absl::ascii_isalnum(text[end]) ||
                               (kind == Markup::kXml && absl::StrContains("._-", text[end])))) {
    ++end;
  }
  if (end < least || end == text.size() || text[end] != ';') return {};
  MarkupReference reference = {end + 1, ""};
  const uint32_t code = FindCode(text.substr(1, end - 1));
  const bool control = code < ' ' && code != '\t' && code != '\n' && code != '\r';
  if (control || !absl::CUnescape(absl::StrFormat("\\U%08x", code), &reference.character)) {
    reference.character.clear();
  }
  return reference;
}

}  // namespace nibu
