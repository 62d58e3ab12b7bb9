// Reads what stands for characters in the text between tags: references, escapes, and in feeds tags
// that are written with references.
#include <re2/re2.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/text/marked/markup_lexer.h"
#include "tools/text/marked/references.h"

namespace nibu::internal {
namespace {

constexpr size_t kMaxReference = 40;  // more than any reference has

}  // namespace

size_t MarkupLexer::ReadReferenceAt(size_t pos) {
  const absl::string_view rest = text_.substr(pos);
  if (!is_whole_ && rest.size() < kMaxReference) return kNowhere;
  std::optional<Reference> reference = ReadReference(kind_, rest);
  if (!reference.has_value()) return pos + 1;
  std::string character = std::move(reference->character);
  size_t end = pos + reference->size;
  const bool is_html = (is_feed_ || has_escapes_) && !cdata_;  // the text is, once it is read
  if (is_html && character == "<") {
    if (!is_whole_ && rest.size() < kMostEscaped) return kNowhere;
    if (const size_t escaped = ReadEscaped(pos)) return escaped;
  }
  if (is_html && character == "&") {
    if (!is_whole_ && rest.size() < 2 * kMaxReference) return kNowhere;
    // &amp;nbsp; is a reference of the text in a feed or a string of Android, which is HTML.
    reference = ReadReference(Markup::kHtml, absl::StrCat("&", text_.substr(end, kMaxReference)));
    if (reference.has_value() && !reference->character.empty()) {
      character = std::move(reference->character);
      end += reference->size - 1;
    }
  }
  const bool is_break = character == "\n" || character == "\r";
  const MarkupToken::Kind kind = character.empty() ? MarkupToken::kProtected
                                 : is_break        ? MarkupToken::kBlock
                                                   : MarkupToken::kText;
  Add(kind, pos, end, std::move(character));
  return end;
}

// Reads a tag of HTML that is text of a feed or of a string of Android. An element that is not
// translated is read whole. Returns 0 if none begins here.
size_t MarkupLexer::ReadEscaped(size_t pos) {
  MarkupTag tag;
  const size_t size = BeginEscapedTag(text_.substr(pos), &tag);
  if (size == 0) return 0;
  size_t end = pos + size;
  const bool is_empty = tag.self_closing || IsVoidElement(tag.name);
  MarkupToken::Kind kind = IsBlockElement(tag.name) ? MarkupToken::kBlock
                           : is_empty               ? MarkupToken::kPoint
                           : tag.closing            ? MarkupToken::kClose
                                                    : MarkupToken::kOpen;
  if (kind == MarkupToken::kOpen && (tag.no_translation || IsLeftAlone(Markup::kHtml, tag.name))) {
    const std::string close = absl::StrCat("&lt;/", tag.name, "&gt;");
    const size_t closed = text_.substr(0, pos + kMostEscaped).find(close, end);
    if (closed != kNowhere) {
      kind = MarkupToken::kProtected;
      end = closed + close.size();
    }
  }
  Add(kind, pos, end, is_empty || kind == MarkupToken::kBlock ? "" : tag.name);
  return end;
}

// Reads an escape of Android's files: \', \u2019, or \n, which separates texts.
size_t MarkupLexer::ReadEscape(size_t pos) {
  static const RE2& escape = *new RE2(R"((\\(?:[nNt'"@?\\]|u[0-9A-Fa-f]{4})))");
  constexpr size_t kMostBytes = 6;
  const absl::string_view rest = text_.substr(pos, kMostBytes);
  if (!is_whole_ && rest.size() < kMostBytes) return kNowhere;
  re2::StringPiece left(rest.data(), rest.size());
  std::string raw;
  if (!RE2::Consume(&left, escape, &raw)) return pos + 1;
  std::string character = raw.substr(1);
  if (raw[1] == 'u' && !absl::CUnescape(raw, &character)) return pos + 1;
  const bool is_break = absl::StrContains("nNt", raw[1]) || absl::ascii_iscntrl(character[0]);
  Add(is_break ? MarkupToken::kBlock : MarkupToken::kText, pos, pos + raw.size(),
      is_break ? "" : std::move(character));
  return pos + raw.size();
}

}  // namespace nibu::internal
