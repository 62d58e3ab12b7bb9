// How lines are cut into tokens; character references.
#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tools/text/markup.h"

namespace nibu::internal {

namespace {

constexpr int kMaxTagLines = 100;
constexpr size_t kNowhere = absl::string_view::npos;
constexpr char kBlank[] = " \t\r\n\f";

// Blocks; those that do not end a paragraph.
constexpr absl::string_view kBlocks =
    " address article aside blockquote body caption center dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html li "
    "main menu nav ol p pre section summary table tbody td tfoot th thead tr ul xmp ";
constexpr absl::string_view kOtherBlocks =
    " base br canvas col colgroup frame head iframe legend link meta noembed noframes noscript "
    "optgroup option script select style template textarea title ";
// Elements that are left alone; those whose text is no markup; those of HTML alone; those of XLIFF
// and TMX for code.
constexpr absl::string_view kProtected = " code math pre ";
constexpr absl::string_view kRaw = " iframe noembed noframes script style textarea xmp ";
constexpr absl::string_view kHtmlProtected = " svg template ";
constexpr absl::string_view kXmlProtected = " bpt ept it ph ";
// XLIFF's and TMX's code for an opening tag, and for a closing one; `/`: an empty element.
constexpr absl::string_view kXmlOpen = " bpt bpt/ bx/ sc/ ";
constexpr absl::string_view kXmlClose = " ept ept/ ex/ ec/ ";
constexpr absl::string_view kVoid =
    " area base br col embed frame hr img input link meta param source track wbr ";
// Attributes without a value.
constexpr absl::string_view kNoValue =
    " / allowfullscreen async autofocus autoplay checked compact controls crossorigin default "
    "defer disabled download formnovalidate hidden inert ismap itemscope loop multiple muted "
    "nomodule noshade novalidate nowrap open playsinline readonly required reversed selected ";

// HTML's elements that may have no end tag, and what they end before; and in which elements there
// may be others of them: before such a one's end tag they end, too.
constexpr std::pair<absl::string_view, absl::string_view> kEnders[] = {
    {" li ", " li "},
    {" dd dt ", " dd dt "},
    {" td th ", " tbody td tfoot th thead tr "},
    {" tr ", " tbody tfoot thead tr "},
    {" tbody tfoot thead ", " tbody tfoot thead "},
    {" option ", " optgroup option "},
    {" p ", kBlocks}};
constexpr absl::string_view kParents = " datalist dir dl menu ol select table ul ";

bool IsIn(absl::string_view names, absl::string_view name) {
  return absl::StrContains(names, absl::StrCat(" ", name, " "));
}

bool IsProtected(Markup kind, absl::string_view name) {
  return IsIn(kProtected, name) || IsIn(kRaw, name) ||
         IsIn(kind == Markup::kXml ? kXmlProtected : kHtmlProtected, name);
}

// `other`: where an element is no code for a tag.
MarkupToken::Kind CodeKind(Markup kind, absl::string_view name, MarkupToken::Kind other) {
  if (kind != Markup::kXml) return other;
  if (IsIn(kXmlOpen, name)) return MarkupToken::kOpen;
  return IsIn(kXmlClose, name) ? MarkupToken::kClose : other;
}

bool SaysNoTranslation(absl::string_view name, absl::string_view value) {
  if (absl::EqualsIgnoreCase(name, "class")) {
    return absl::c_linear_search(absl::StrSplit(value, absl::ByAnyChar(kBlank)), "notranslate");
  }
  absl::ConsumePrefix(&name, "its:");
  return absl::EqualsIgnoreCase(name, "translate") && absl::EqualsIgnoreCase(value, "no");
}

// Frameworks' attributes have marks in their names: x-show, @click.
bool IsWord(absl::string_view attribute) {
  static const RE2& marked = *new RE2("[-:@.][A-Za-z]", RE2::Latin1);
  return !IsIn(kNoValue, absl::AsciiStrToLower(attribute)) &&
         !RE2::PartialMatch({attribute.data(), attribute.size()}, marked);
}

// As find, for a pattern's group.
size_t Find(absl::string_view line, size_t pos, const RE2& pattern) {
  re2::StringPiece found;
  const bool any = RE2::PartialMatch({line.data() + pos, line.size() - pos}, pattern, &found);
  return any ? found.data() - line.data() : kNowhere;
}

// Reads a tag's attributes from `pos` on. Where the tag ends; 0: it is none; kNowhere: not in this
// line. Of tags that begin in one another only the last quotes are read twice: linear time.
size_t ReadAttributes(absl::string_view line, size_t pos, MarkupReader::Tag* tag) {
  // The `>` that ends a tag whose quote was forgotten: not that of `->`, `=>`, ` >=`, ` > `.
  static const RE2& forgotten = *new RE2(R"(((?:^|[^-=\s])>|\s>(?:[^=\s]|\s*$)))", RE2::Latin1);
  tag->values = tag->quote != 0;
  tag->words = 0;
  while (true) {
    if (tag->quote != 0) {
      const size_t close = line.find(tag->quote, pos);
      if (close == kNowhere && tag->goes_on) return kNowhere;
      const size_t end = close != kNowhere ? close : line.find('>', Find(line, pos, forgotten));
      if (end == kNowhere) return kNowhere;
      tag->quote = 0;
      pos = end + 1;
      if (close == kNowhere) return pos;  // the quote was forgotten
    }
    pos = line.find_first_not_of(kBlank, pos);
    if (pos == kNowhere) return kNowhere;
    if (line[pos] == '<') return 0;
    if (line[pos] == '>') return pos + 1;
    const size_t begin = pos;
    pos = std::min(line.find_first_of(" \t\r\n\f=/><", pos + 1), line.size());
    const absl::string_view name = line.substr(begin, pos - begin);
    tag->self_closing = absl::StartsWith(line.substr(pos - 1), "/>");
    size_t value = line.find_first_not_of(kBlank, pos);
    if (value == kNowhere || line[value] != '=') {
      tag->words += IsWord(name) ? 1 : 0;
      continue;
    }
    tag->values = true;
    value = line.find_first_not_of(kBlank, value + 1);
    if (value == kNowhere) return kNowhere;
    const bool quoted = line[value] == '"' || line[value] == '\'';
    if (quoted) tag->quote = line[value++];
    pos = quoted ? line.find(tag->quote, value) : line.find_first_of(" \t\r\n\f><", value);
    tag->no_translation |= SaysNoTranslation(name, line.substr(value, pos - value));
    pos = quoted ? value : std::min(pos, line.size());
  }
}

// As ReadAttributes: a tag from its `<` on.
size_t BeginTag(Markup kind, absl::string_view line, size_t pos, MarkupReader::Tag* tag) {
  *tag = {.goes_on = tag->goes_on};
  tag->closing = absl::StartsWith(line.substr(pos), "</");
  pos += tag->closing ? 2 : 1;
  const char first = pos < line.size() ? line[pos] : 0;
  const bool xml_only = first == '_' || first == ':' || (first & 0x80) != 0;
  if (!absl::ascii_isalpha(first) && (kind == Markup::kHtml || !xml_only)) return 0;
  const size_t end = std::min(line.find_first_of(" \t\r\n\f/><", pos), line.size());
  tag->name = std::string(line.substr(pos, end - pos));
  if (kind == Markup::kHtml) absl::AsciiStrToLower(&tag->name);
  return ReadAttributes(line, end, tag);
}

// Or a template's <% ... %>, of which none is within, if it ends in the line.
bool BeginsDeclaration(Markup kind, absl::string_view text) {
  static const RE2& xml = *new RE2(R"(<(!--|![A-Za-z[]|\?[A-Za-z=]))");
  static const RE2& html = *new RE2("<%(?:[^%<]|<+[^%<]|%+[^%<>])*%+>", RE2::Latin1);
  re2::StringPiece rest(text.data(), text.size());
  return RE2::Consume(&rest, xml) || (kind == Markup::kHtml && RE2::Consume(&rest, html));
}

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

std::optional<std::string> ReadReference(Markup kind, absl::string_view text) {
  // No name of HTML is longer.
  static const RE2& html = *new RE2("&(#[0-9A-Za-z]{1,31}|[A-Za-z][0-9A-Za-z]{1,31});");
  static const RE2& xml = *new RE2("&(#[0-9A-Za-z._-]{1,31}|[A-Za-z][0-9A-Za-z._-]{0,31});");
  re2::StringPiece rest(text.data(), text.size());
  std::string name;
  if (!RE2::Consume(&rest, kind == Markup::kXml ? xml : html, &name)) return std::nullopt;
  const uint32_t code = FindCode(name);
  const bool control = code < ' ' && code != '\t' && code != '\n' && code != '\r';
  std::string character;
  const bool is_one = absl::CUnescape(absl::StrFormat("\\U%08x", code), &character);
  return is_one && !control ? character : "";
}

bool BeginsMarkup(Markup kind, absl::string_view text) {
  MarkupReader::Tag tag;
  return BeginsDeclaration(kind, text) || BeginTag(kind, text, 0, &tag) + 1 > 1;
}

void MarkupReader::AddText(size_t end) {
  if (end > done_) {
    tokens_.push_back({MarkupToken::kText, line_.substr(done_, end - done_), "", cdata_});
  }
  done_ = end;
}

void MarkupReader::Add(MarkupToken::Kind kind, size_t begin, size_t end, std::string value) {
  if (skipped_depth_ > 0) return;
  AddText(begin);
  tokens_.push_back({kind, line_.substr(begin, end - begin), std::move(value), cdata_});
  done_ = end;
}

void MarkupReader::ReadTokens(absl::string_view line) {
  line_ = line;
  tokens_.clear();
  done_ = 0;
  skipped_inline_ = false;  // not in one line
  size_t pos = tag_lines_ > 0 ? ReadTag(0) : 0;
  while (pos < line.size() && kind_ != Markup::kNone) pos = Next(pos);
  if (skipped_depth_ > 0) {
    tokens_.push_back({MarkupToken::kBlock, line.substr(done_)});
  } else {
    AddText(line.size());
  }
}

size_t MarkupReader::EndOfBlocks(absl::string_view text) const {
  MarkupReader reader(*this);
  reader.tag_.goes_on = true;
  reader.ReadTokens(text);
  // An element that is left alone and has not ended is a block up to the end of the text.
  if (reader.skipped_depth_ > 0) reader.tokens_.pop_back();
  for (auto token = reader.tokens_.rbegin(); token != reader.tokens_.rend(); ++token) {
    if (token->kind != MarkupToken::kBlock) continue;
    return static_cast<size_t>(token->raw.data() + token->raw.size() - text.data());
  }
  return 0;
}

size_t MarkupReader::Next(size_t pos) {
  if (!until_.empty()) return ReadUntil(pos, pos);
  const bool html = kind_ == Markup::kHtml;
  const bool raw = skipped_depth_ > 0 && html && IsIn(kRaw, skipped_);
  pos = raw ? line_.find("</", pos) : line_.find_first_of(cdata_ ? "<&]" : "<&", pos);
  if (pos == kNowhere) return line_.size();
  const absl::string_view rest = line_.substr(pos);
  if (raw) {  // only its own end tag is one
    const absl::string_view name = rest.substr(2, rest.find_first_of(" \t\r\n\f/>", 2) - 2);
    return absl::EqualsIgnoreCase(name, skipped_) ? ReadTag(pos) : pos + 2;
  }
  const bool begins_cdata = !html && absl::StartsWith(rest, "<![CDATA[");
  if (begins_cdata || absl::StartsWith(rest, "]]>")) {
    const size_t end = pos + (begins_cdata ? 9 : 3);
    Add(MarkupToken::kBlock, pos, end);
    cdata_ = begins_cdata;
    return end;
  }
  if (BeginsDeclaration(kind_, rest)) {
    until_ = rest[1] == '%' ? "%>" : ">";
    // Office's `<?xml:namespace ... />` has no other end.
    if (rest[1] == '?' && (!html || !absl::StartsWith(rest, "<?xml"))) until_ = "?>";
    if (!html && absl::StartsWith(rest, "<!DOCTYPE")) until_ = "[>";
    if (!absl::StartsWith(rest, "<!--")) return ReadUntil(pos, pos + 2);
    until_ = html ? "--" : "-->";
    // In HTML these are comments.
    const bool empty = absl::StartsWith(rest, "<!-->") || absl::StartsWith(rest, "<!--->");
    return ReadUntil(pos, pos + (html && empty ? 2 : 4));
  }
  if (rest[0] == '<') return ReadTag(pos);
  std::optional<std::string> character = ReadReference(kind_, rest);
  if (!character.has_value()) return pos + 1;
  const size_t end = line_.find(';', pos) + 1;
  const bool is_break = *character == "\n" || *character == "\r";
  const MarkupToken::Kind kind = character->empty() ? MarkupToken::kProtected
                                 : is_break         ? MarkupToken::kBlock
                                                    : MarkupToken::kText;
  Add(kind, pos, end, *std::move(character));
  return end;
}

size_t MarkupReader::ReadUntil(size_t begin, size_t pos) {
  // PHP's <?= $name ?> stands for words, and so does <%= name %>.
  const absl::string_view start = line_.substr(begin, pos - begin);
  const bool words = kind_ == Markup::kHtml && (start == "<?" || start == "<%");
  static const RE2& comment_end = *new RE2("(--)!?>", RE2::Latin1);
  while (!until_.empty()) {
    const bool either = until_ == "[>";   // a document type, perhaps with declarations in [ ]
    const bool comment = until_ == "--";  // of HTML
    const size_t end = either    ? line_.find_first_of(until_, pos)
                       : comment ? Find(line_, pos, comment_end)
                                 : line_.find(until_, pos);
    if (end == kNowhere) {
      Add(MarkupToken::kPoint, begin, line_.size());
      return line_.size();
    }
    pos = end + (either ? 1 : until_.size());
    const bool list = either && line_[end] == '[';
    until_ = list ? "]" : comment || until_ == "]" ? ">" : "";
  }
  Add(words ? MarkupToken::kProtected : MarkupToken::kPoint, begin, pos);
  return pos;
}

// A tag, or more of one that began in another line.
size_t MarkupReader::ReadTag(size_t pos) {
  const bool begins = tag_lines_ == 0;
  const size_t end =
      begins ? BeginTag(kind_, line_, pos, &tag_) : ReadAttributes(line_, pos, &tag_);
  // If its end is not in the line it goes on in the next one, if it looks like one so far.
  const bool looks_like_one = tag_.values || tag_.words <= (begins ? 0 : 1);
  if (end == kNowhere && looks_like_one && tag_lines_ < kMaxTagLines) {
    // What is longer than a word is data.
    static const RE2& data = *new RE2(R"(\s*[!-~]{40,}\s*)", RE2::Latin1);
    if (begins || tag_.quote == 0 || !RE2::FullMatch({line_.data(), line_.size()}, data)) {
      ++tag_lines_;
    }
    Add(MarkupToken::kPoint, pos, line_.size());
    return line_.size();
  }
  tag_lines_ = 0;
  if (end == 0 || end == kNowhere) return begins ? pos + 1 : pos;  // it is text
  AddTag(pos, end, begins);
  return end;
}

bool MarkupReader::EndsSkipped() {
  const auto* const enders =
      absl::c_find_if(kEnders, [&](const auto& names) { return IsIn(names.first, skipped_); });
  if (kind_ != Markup::kHtml || enders == std::end(kEnders)) return false;
  const std::string& name = tag_.name;
  const bool parent = IsIn(kParents, name);
  const bool ends = IsIn(enders->second, name) && !(tag_.closing && name == skipped_);
  if (skipped_parents_ == 0 && (ends || (parent && tag_.closing))) return true;
  if (parent) skipped_parents_ += tag_.closing ? -1 : 1;
  if (skipped_parents_ == 0) skipped_depth_ = 1;
  return false;
}

// `whole`: the tag begins in this line.
void MarkupReader::AddTag(size_t begin, size_t end, bool whole) {
  const std::string& name = tag_.name;
  const bool empty = tag_.self_closing || (kind_ == Markup::kHtml && IsIn(kVoid, name));
  const bool block = IsIn(kBlocks, name) || IsIn(kOtherBlocks, name);
  if (skipped_depth_ > 0 && EndsSkipped()) {
    skipped_depth_ = 0;
    Add(MarkupToken::kBlock, done_, begin);
  }
  if (skipped_depth_ > 0) {
    if (name != skipped_ || empty) return;
    skipped_depth_ += tag_.closing ? -1 : 1;
    if (skipped_depth_ > 0) return;
    Add(skipped_inline_ ? CodeKind(kind_, name, MarkupToken::kProtected) : MarkupToken::kBlock,
        done_, end);
  } else if (!empty && !tag_.closing && (tag_.no_translation || IsProtected(kind_, name))) {
    AddText(begin);
    skipped_ = name;
    skipped_depth_ = 1;
    skipped_parents_ = 0;
    skipped_inline_ = whole && !block;
  } else if (block) {
    Add(MarkupToken::kBlock, begin, end);
  } else if (whole && (absl::StrContains(name, '@') || absl::EndsWith(name, ":"))) {
    Add(MarkupToken::kProtected, begin, end);  // <name@...>, <http://...>
  } else if (empty || !whole) {
    const MarkupToken::Kind kind = CodeKind(kind_, name + "/", MarkupToken::kPoint);
    Add(whole ? kind : MarkupToken::kPoint, begin, end);
  } else {
    Add(tag_.closing ? MarkupToken::kClose : MarkupToken::kOpen, begin, end, name);
  }
}

}  // namespace nibu::internal
