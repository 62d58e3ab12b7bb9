// Lists the elements of HTML, XLIFF and TMX, and reads tags with their attributes.
#include "tools/text/marked/markup_tags.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tokenizer/unicode/language_code.h"

namespace nibu::internal {
namespace {

// Block elements. Those in the second list do not end a `p` that has no end tag.
constexpr absl::string_view kBlocks =
    " address article aside blockquote body caption center dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html li "
    "main menu nav ol p pre section summary table tbody td tfoot th thead tr ul xmp ";
constexpr absl::string_view kOtherBlocks =
    " base br button canvas col colgroup frame head iframe label legend link meta noembed noframes "
    "noscript optgroup option script select style template textarea title ";
// Elements that are not translated: in all formats; those whose content is no markup; those of HTML
// only; those of XLIFF (in Android's files, too) and TMX that stand for code; and those of RSS and
// Atom.
constexpr absl::string_view kProtected = " code math pre ";
constexpr absl::string_view kRaw = " iframe noembed noframes script style textarea xmp ";
constexpr absl::string_view kHtmlProtected = " svg template ";
constexpr absl::string_view kXmlProtected = " bpt ept it ph xliff:g ";
constexpr absl::string_view kFeedValues =
    " author cloud dc:creator dc:date dc:language docs email generator guid id language "
    "lastBuildDate "
    "link managingEditor name pubDate published ttl updated uri url webMaster ";
// Elements of XLIFF and TMX that stand for an opening tag, and for a closing one. A `/` behind the
// name says that the element is empty.
constexpr absl::string_view kXmlOpen = " bpt bpt/ bx/ sc/ ";
constexpr absl::string_view kXmlClose = " ept ept/ ex/ ec/ ";
constexpr absl::string_view kVoid =
    " area base br col embed frame hr img input link meta param source track wbr ";
// HTML's attributes without a value. In what looks like a tag and has no end in its line, other
// words suggest that it is text.
constexpr absl::string_view kNoValue =
    " / allowfullscreen async autofocus autoplay checked compact controls crossorigin default "
    "defer disabled download formnovalidate hidden inert ismap itemscope loop multiple muted "
    "nomodule noshade novalidate nowrap open playsinline readonly required reversed selected ";

// HTML's elements that may have no end tag, each with the elements whose tags end it. kParents are
// the elements that may contain them; the end tag of such a parent ends them, too.
constexpr std::pair<absl::string_view, absl::string_view> kEnders[] = {
    {" li ", " li "},
    {" dd dt ", " dd dt "},
    {" td th ", " tbody td tfoot th thead tr "},
    {" tr ", " tbody tfoot thead tr "},
    {" tbody tfoot thead ", " tbody tfoot thead "},
    {" option ", " optgroup option "},
    {" p ", kBlocks}};
constexpr absl::string_view kParents = " datalist dir dl menu ol select table ul ";

// Notes what an attribute says of its element.
void NoteAttribute(absl::string_view name, absl::string_view value, MarkupTag* tag) {
  if (absl::EqualsIgnoreCase(name, "class")) {
    tag->no_translation |=
        absl::c_linear_search(absl::StrSplit(value, absl::ByAnyChar(kMarkupBlanks)), "notranslate");
  } else if (absl::EqualsIgnoreCase(name, "lang") || name == "xml:lang") {
    tag->language = std::string(value);
  } else if (name == "xml:space") {
    tag->preserves_space |= value == "preserve";
  } else if (absl::EqualsIgnoreCase(name, "type")) {
    tag->is_choice |=
        absl::EqualsIgnoreCase(value, "radio") || absl::EqualsIgnoreCase(value, "checkbox");
  } else if (name == "translatable") {  // Android
    tag->no_translation |= value == "false";
  } else if (name == "mtype") {  // XLIFF
    tag->no_translation |= value == "protected";
  } else if (absl::ConsumePrefix(&name, "its:"); absl::EqualsIgnoreCase(name, "translate")) {
    tag->no_translation |= absl::EqualsIgnoreCase(value, "no");
    tag->translates |= absl::EqualsIgnoreCase(value, "yes") || value.empty();
  }
}

// Returns whether an attribute without a value is a mere word: it is none of HTML's, and has no
// sign in its name as the attributes of frameworks have (x-show, @click).
bool IsWordAttribute(absl::string_view attribute) {
  static const RE2& marked = *new RE2("[-:@.][A-Za-z]", RE2::Latin1);
  return !IsIn(kNoValue, absl::AsciiStrToLower(attribute)) &&
         !RE2::PartialMatch({attribute.data(), attribute.size()}, marked);
}

}  // namespace

bool IsIn(absl::string_view names, absl::string_view name) {
  if (name.empty()) return false;
  for (size_t at = names.find(name, 1); at != kNowhere; at = names.find(name, at + 1)) {
    if (names[at - 1] == ' ' && names[at + name.size()] == ' ') return true;
  }
  return false;
}

bool BeginsDeclaration(Markup kind, absl::string_view text) {
  static const RE2& xml = *new RE2(R"(<(!--|![A-Za-z[]|\?[A-Za-z=]))");
  static const RE2& html =
      *new RE2("<%(?:[^%<]|<+[^%<]|%+[^%<>])*%+>|</[^A-Za-z<>][^<>]*>", RE2::Latin1);
  re2::StringPiece rest(text.data(), text.size());
  return RE2::Consume(&rest, xml) || (kind == Markup::kHtml && RE2::Consume(&rest, html));
}

bool BeginsMarkup(Markup kind, absl::string_view text) {
  MarkupTag tag;
  return BeginsDeclaration(kind, text) || BeginTag(kind, text, 0, /*is_whole=*/true, &tag) + 1 > 1;
}

bool IsForeign(const MarkupTag& tag, absl::string_view source_language) {
  return tag.name != "html" && !source_language.empty() && IsLanguageCode(tag.language) &&
         LanguageCode(tag.language).language != LanguageCode(source_language).language;
}

bool IsBlockElement(absl::string_view name) {
  return IsIn(kBlocks, name) || IsIn(kOtherBlocks, name);
}
bool IsVoidElement(absl::string_view name) { return IsIn(kVoid, name); }
bool IsRawElement(absl::string_view name) { return IsIn(kRaw, name); }

bool IsPicture(Markup kind, absl::string_view name) {
  return kind == Markup::kHtml && name == "svg";
}

bool IsLeftAlone(Markup kind, absl::string_view name) {
  return IsIn(kProtected, name) || IsIn(kRaw, name) ||
         IsIn(kind == Markup::kXml ? kXmlProtected : kHtmlProtected, name);
}

bool IsFeedValue(absl::string_view name) { return IsIn(kFeedValues, name); }

bool IsOpeningCode(Markup kind, absl::string_view name) {
  return kind == Markup::kXml && IsIn(kXmlOpen, name);
}

bool IsClosingCode(Markup kind, absl::string_view name) {
  return kind == Markup::kXml && IsIn(kXmlClose, name);
}

absl::string_view EndersOf(absl::string_view name) {
  const auto* const enders =
      absl::c_find_if(kEnders, [&](const auto& names) { return IsIn(names.first, name); });
  return enders == std::end(kEnders) ? absl::string_view() : enders->second;
}

bool IsParent(absl::string_view name) { return IsIn(kParents, name); }

size_t FindGroup(absl::string_view text, size_t pos, const RE2& pattern) {
  re2::StringPiece found;
  const bool any = RE2::PartialMatch({text.data() + pos, text.size() - pos}, pattern, &found);
  return any ? found.data() - text.data() : kNowhere;
}

size_t ReadAttributes(absl::string_view text, size_t pos, bool is_whole, MarkupTag* tag,
                      std::vector<MarkupAttribute>* attributes) {
  // Finds the `>` that ends a tag whose quote was never closed, not that of `->`, `=>`, ` >=`, ` >
  // `.
  static const RE2& forgotten = *new RE2(R"(((?:^|[^-=\s])>|\s>(?:[^=\s]|\s*$)))", RE2::Latin1);
  tag->values = tag->quote != 0;
  tag->words = 0;
  while (true) {
    if (tag->quote != 0) {
      const size_t close = text.find(tag->quote, pos);
      if (close == kNowhere && !is_whole) return kNowhere;
      const size_t end =
          close != kNowhere ? close : text.find('>', FindGroup(text, pos, forgotten));
      if (end == kNowhere) return kNowhere;
      tag->quote = 0;
      pos = end + 1;
      if (close == kNowhere) return pos;  // the quote is never closed
    }
    pos = text.find_first_not_of(kMarkupBlanks, pos);
    if (pos == kNowhere) return kNowhere;
    if (text[pos] == '<') return 0;
    if (text[pos] == '>') return pos + 1;
    const size_t begin = pos;
    pos = std::min(text.find_first_of(" \t\r\n\f=/><", pos + 1), text.size());
    const absl::string_view name = text.substr(begin, pos - begin);
    tag->self_closing = absl::StartsWith(text.substr(pos - 1), "/>");
    size_t value = text.find_first_not_of(kMarkupBlanks, pos);
    if (value == kNowhere || text[value] != '=') {
      tag->words += IsWordAttribute(name) ? 1 : 0;
      continue;
    }
    tag->values = true;
    value = text.find_first_not_of(kMarkupBlanks, value + 1);
    if (value == kNowhere) return kNowhere;
    const bool quoted = text[value] == '"' || text[value] == '\'';
    if (quoted) tag->quote = text[value++];
    pos = quoted ? text.find(tag->quote, value) : text.find_first_of(" \t\r\n\f><", value);
    const absl::string_view given = text.substr(value, pos - value);
    NoteAttribute(name, given, tag);
    if (attributes != nullptr && pos != kNowhere) {
      attributes->push_back({name, given, quoted ? tag->quote : '\0'});
    }
    pos = quoted ? value : std::min(pos, text.size());
  }
}

size_t BeginTag(Markup kind, absl::string_view text, size_t pos, bool is_whole, MarkupTag* tag,
                std::vector<MarkupAttribute>* attributes) {
  *tag = {};
  tag->closing = absl::StartsWith(text.substr(pos), "</");
  pos += tag->closing ? 2 : 1;
  if (pos >= text.size() && !is_whole) return kNowhere;
  const char first = pos < text.size() ? text[pos] : 0;
  const bool xml_only = first == '_' || first == ':' || (first & 0x80) != 0;
  if (!absl::ascii_isalpha(first) && (kind == Markup::kHtml || !xml_only)) return 0;
  const size_t end = std::min(text.find_first_of(" \t\r\n\f/><", pos), text.size());
  tag->name = std::string(text.substr(pos, end - pos));
  if (kind == Markup::kHtml) absl::AsciiStrToLower(&tag->name);
  return ReadAttributes(text, end, is_whole, tag, attributes);
}

size_t BeginEscapedTag(absl::string_view text, MarkupTag* tag) {
  constexpr absl::string_view kEnd = "&gt;";
  const size_t end = text.substr(0, kMostEscaped).find(kEnd);
  if (end == kNowhere) return 0;
  const std::string written = absl::StrReplaceAll(text.substr(0, end + kEnd.size()),
                                                  {{"&lt;", "<"}, {kEnd, ">"}, {"&quot;", "\""}});
  const bool is_one = BeginTag(Markup::kHtml, written, 0, /*is_whole=*/true, tag) == written.size();
  return is_one ? end + kEnd.size() : 0;
}

}  // namespace nibu::internal
