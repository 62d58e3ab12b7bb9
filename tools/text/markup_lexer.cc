#include "tools/text/markup_lexer.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace nibu {

namespace {

constexpr int kMaxTagLines = 100;
constexpr size_t kNowhere = absl::string_view::npos;
constexpr char kBlank[] = " \t\r\n\f";

constexpr absl::string_view kBlocks =
    " address article aside base blockquote body br canvas caption center col colgroup dd details "
    "dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 "
    "head header hgroup hr html iframe legend li link main menu meta nav noembed noframes noscript "
    "ol optgroup option p pre script section select style summary table tbody td template textarea "
    "tfoot th thead title tr ul xmp ";
// Elements that are left alone; those whose text is no markup; those of XLIFF and TMX for code.
constexpr absl::string_view kProtected = " code math pre svg template ";
constexpr absl::string_view kRaw = " iframe noembed noframes script style textarea xmp ";
constexpr absl::string_view kXmlProtected = " bpt ept it ph ";
constexpr absl::string_view kVoid =
    " area base br col embed frame hr img input link meta param source track wbr ";

bool IsIn(absl::string_view names, absl::string_view name) {
  return absl::StrContains(names, absl::StrCat(" ", name, " "));
}

bool IsProtected(Markup kind, absl::string_view name) {
  return IsIn(kProtected, name) || IsIn(kRaw, name) ||
         (kind == Markup::kXml && IsIn(kXmlProtected, name));
}

bool SaysNoTranslation(absl::string_view name, absl::string_view value) {
  if (absl::EqualsIgnoreCase(name, "class")) {
    const std::vector<absl::string_view> classes = absl::StrSplit(value, absl::ByAnyChar(kBlank));
    return absl::c_linear_search(classes, "notranslate");
  }
  absl::ConsumePrefix(&name, "its:");
  return absl::EqualsIgnoreCase(name, "translate") && absl::EqualsIgnoreCase(value, "no");
}

// Reads a tag's attributes from `pos` on. Where the tag ends; 0: it is none; kNowhere: not in this
// line. Of tags that begin in one another only the last quotes are read twice: linear time.
size_t ReadAttributes(absl::string_view line, size_t pos, MarkupLexer::Tag* tag) {
  tag->values = tag->quote != 0;
  tag->words = 0;
  while (true) {
    if (tag->quote != 0) {
      const size_t close = line.find(tag->quote, pos);
      const size_t end = close != kNowhere ? close : line.find('>', pos);
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
      tag->words += name == "/" ? 0 : 1;
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
size_t ReadTag(Markup kind, absl::string_view line, size_t pos, MarkupLexer::Tag* tag) {
  *tag = {};
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

bool BeginsDeclaration(absl::string_view text) {
  const char third = text.size() > 2 ? text[2] : 0;
  return absl::StartsWith(text, "<!--") ||
         (absl::StartsWith(text, "<!") && (absl::ascii_isalpha(third) || third == '[')) ||
         (absl::StartsWith(text, "<?") && (absl::ascii_isalpha(third) || third == '='));
}

}  // namespace

bool BeginsMarkup(Markup kind, absl::string_view text) {
  MarkupLexer::Tag tag;
  return BeginsDeclaration(text) || ReadTag(kind, text, 0, &tag) + 1 > 1;
}

void MarkupLexer::Add(MarkupToken::Kind kind, size_t begin, size_t end, std::string value) {
  if (skipped_depth_ > 0) return;
  MarkupToken* last = tokens_.empty() ? nullptr : &tokens_.back();
  if (kind == MarkupToken::kText && value.empty() && last != nullptr &&
      last->kind == MarkupToken::kText && last->value.empty()) {
    last->raw = absl::string_view(last->raw.data(), last->raw.size() + end - begin);
  } else {
    tokens_.push_back({kind, line_.substr(begin, end - begin), std::move(value), cdata_});
  }
}

std::vector<MarkupToken> MarkupLexer::Read(absl::string_view line) {
  line_ = line;
  tokens_.clear();
  skipped_begin_ = 0;
  skipped_inline_ = false;  // not in one line
  size_t pos = 0;
  if (kind_ == Markup::kNone) {
    Add(MarkupToken::kText, 0, pos = line.size());
  } else if (tag_lines_ > 0) {
    const size_t end = ReadAttributes(line, 0, &tag_);
    if (end == kNowhere && GoesOn(0)) {
      pos = line.size();
    } else {
      tag_lines_ = 0;
      if (end != kNowhere && end != 0) AddTag(0, pos = end, /*whole=*/false);
    }
  }
  while (pos < line.size()) pos = Next(pos);
  if (const int64_t depth = std::exchange(skipped_depth_, 0); depth > 0) {
    Add(MarkupToken::kBlock, skipped_begin_, line.size());
    skipped_depth_ = depth;
  }
  return std::move(tokens_);
}

size_t MarkupLexer::Next(size_t pos) {
  if (!until_.empty()) return ReadUntil(pos, pos);
  const bool raw = skipped_depth_ > 0 && kind_ == Markup::kHtml && IsIn(kRaw, skipped_);
  size_t end = raw ? line_.find("</", pos) : line_.find_first_of(cdata_ ? "<&]" : "<&", pos);
  end = std::min(end, line_.size());
  if (end > pos) Add(MarkupToken::kText, pos, end);
  const absl::string_view rest = line_.substr(end);
  if (absl::StartsWith(rest, "<")) return ReadMarkup(end);
  if (absl::StartsWith(rest, "]]>")) {
    cdata_ = false;
    Add(MarkupToken::kBlock, end, end + 3);
    return end + 3;
  }
  MarkupReference reference = ReadReference(kind_, rest);
  if (reference.size == 0) {
    reference.size = rest.empty() ? 0 : 1;
    Add(MarkupToken::kText, end, end + reference.size);
  } else if (reference.character.empty()) {
    Add(MarkupToken::kProtected, end, end + reference.size);
  } else if (reference.character == "\n" || reference.character == "\r") {
    Add(MarkupToken::kBlock, end, end + reference.size);
  } else {
    Add(MarkupToken::kText, end, end + reference.size, std::move(reference.character));
  }
  return end + reference.size;
}

size_t MarkupLexer::ReadMarkup(size_t pos) {
  const absl::string_view rest = line_.substr(pos);
  const bool html = kind_ == Markup::kHtml;
  if (!html && absl::StartsWith(rest, "<![CDATA[")) {
    Add(MarkupToken::kBlock, pos, pos + 9);
    cdata_ = true;
    return pos + 9;
  }
  if (BeginsDeclaration(rest)) {
    until_ = ">";
    // Office's `<?xml:namespace ... />` has no other end.
    if (rest[1] == '?' && (!html || !absl::StartsWith(rest, "<?xml"))) until_ = "?>";
    if (!html && absl::StartsWith(rest, "<!DOCTYPE")) until_ = "[>";
    if (absl::StartsWith(rest, "<!--")) until_ = "-->";
    return ReadUntil(pos, pos + (html || until_ != "-->" ? 2 : 4));  // in HTML `<!-->` is one
  }
  const size_t end = ReadTag(kind_, line_, pos, &tag_);
  if (end == kNowhere && GoesOn(pos)) return line_.size();
  if (end != kNowhere && end != 0) {
    AddTag(pos, end, /*whole=*/true);
    return end;
  }
  Add(MarkupToken::kText, pos, pos + 1);
  return pos + 1;
}

size_t MarkupLexer::ReadUntil(size_t begin, size_t pos) {
  // PHP's <?= $name ?> stands for words.
  const bool words =
      kind_ == Markup::kHtml && absl::StartsWith(line_.substr(begin, pos - begin), "<?");
  while (!until_.empty()) {
    const bool either = until_ == "[>";  // a document type, perhaps with declarations in [ ]
    const size_t end = either ? line_.find_first_of(until_, pos) : line_.find(until_, pos);
    if (end == kNowhere) {
      Add(MarkupToken::kPoint, begin, line_.size());
      return line_.size();
    }
    pos = end + (either ? 1 : until_.size());
    const bool list = either && line_[end] == '[';
    until_ = list ? "]" : until_ == "]" ? ">" : "";
  }
  Add(words ? MarkupToken::kProtected : MarkupToken::kPoint, begin, pos);
  return pos;
}

// A tag whose end is not in the line goes on in the next one if it looks like one so far.
bool MarkupLexer::GoesOn(size_t begin) {
  if ((!tag_.values && tag_.words > (tag_lines_ > 0 ? 1 : 0)) || tag_lines_ == kMaxTagLines) {
    return false;
  }
  ++tag_lines_;
  Add(MarkupToken::kPoint, begin, line_.size());
  return true;
}

// `whole`: the tag begins in this line.
void MarkupLexer::AddTag(size_t begin, size_t end, bool whole) {
  const std::string& name = tag_.name;
  const bool empty = tag_.self_closing || (kind_ == Markup::kHtml && IsIn(kVoid, name));
  const bool block = IsIn(kBlocks, name);
  if (skipped_depth_ > 0) {
    // In a paragraph there is none.
    if (name != skipped_ || empty || (name == "p" && !tag_.closing)) return;
    skipped_depth_ += tag_.closing ? -1 : 1;
    if (skipped_depth_ > 0) return;
    Add(skipped_inline_ ? MarkupToken::kProtected : MarkupToken::kBlock, skipped_begin_, end);
  } else if (!empty && !tag_.closing && (tag_.no_translation || IsProtected(kind_, name))) {
    skipped_ = name;
    skipped_depth_ = 1;
    skipped_begin_ = begin;
    skipped_inline_ = whole && !block;
  } else if (block) {
    Add(MarkupToken::kBlock, begin, end);
  } else if (absl::StrContains(name, '@') || absl::EndsWith(name, ":")) {
    Add(MarkupToken::kProtected, begin, end);  // <name@...>, <http://...>
  } else if (empty || !whole) {
    Add(MarkupToken::kPoint, begin, end);
  } else {
    Add(tag_.closing ? MarkupToken::kClose : MarkupToken::kOpen, begin, end, name);
  }
}

}  // namespace nibu
