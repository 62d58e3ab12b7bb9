// Reads markup from token to token, and remembers what is still open at the end of a line.
#include "tools/text/marked/markup_lexer.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "tokenizer/unicode/characters.h"
#include "tokenizer/unicode/language_code.h"
#include "tools/text/marked/plain_marks.h"

namespace nibu::internal {

namespace {

constexpr int kMaxTagLines = 100;
// The bytes that tell which kind of token begins with "<!" or the like, e.g. <![CDATA[ or
// <!DOCTYPE.
constexpr size_t kMaxStart = 9;
// The longest <% ... %> of a template in a document.
constexpr size_t kMaxTemplate = size_t{1} << 16;
// A token with fewer bytes so far is read again whenever more text has come.
constexpr size_t kShort = 256;
// The longest end of a comment or the like is --!>.
constexpr size_t kMaxEnd = 4;

}  // namespace

void MarkupLexer::AddText(size_t end) {
  if (end > done_) {
    tokens_.push_back({MarkupToken::kText, {done_, end}, "", cdata_, CollapsesSpace()});
  }
  done_ = end;
}

void MarkupLexer::Add(MarkupToken::Kind kind, size_t begin, size_t end, std::string value) {
  if (skipped_.depth > 0) return;
  AddText(begin);
  tokens_.push_back({kind, {begin, end}, std::move(value), cdata_, CollapsesSpace()});
  done_ = end;
}

void MarkupLexer::ReadLine(absl::string_view line) {
  if (kind_ == Markup::kNone) {
    tokens_ = ReadPlainMarks(line);
    return;
  }
  tokens_.clear();
  done_ = 0;
  pos_ = 0;
  skipped_.is_inline = false;  // an element that goes over several lines is no part of a sentence
  SetText(line, /*is_whole=*/true);
  if (tag_lines_ > 0) pos_ = ReadTag(0);
  while (Advance(/*is_full=*/true)) {
  }
  End();
  for (MarkupToken& token : tokens_) {
    token.raw = line.substr(token.span.begin, token.span.end - token.span.begin);
  }
}

void MarkupLexer::SetText(absl::string_view text, bool is_whole) {
  text_ = text;
  is_whole_ = is_whole;
}

bool MarkupLexer::Advance(bool is_full) {
  const auto left = [&] { return text_.size() - pos_; };
  if (left() == 0 || (!is_full && !is_whole_ && left() < needed_)) return false;
  const auto read = [&] { return tag_lines_ > 0 ? ReadTag(pos_) : Next(pos_); };
  size_t next = read();
  if (next == kNowhere && is_full && pos_ == 0) {
    // The token is longer than what the caller can hold. It is read as if the text ended here, but
    // without the last bytes, which may be the beginning of its end.
    const absl::string_view text = text_;
    SetText(text.substr(0, text.size() - kMaxEnd + 1), /*is_whole=*/true);
    next = read();
    SetText(text, /*is_whole=*/false);
  }
  if (next == kNowhere) {
    needed_ = left() < kShort ? left() + 1 : 2 * left();  // doubling keeps the time linear
    return false;
  }
  needed_ = 0;
  pos_ = next;
  return true;
}

void MarkupLexer::End() {
  ABSL_ASSERT(is_whole_ && (kind_ == Markup::kNone || pos_ == text_.size()));
  pos_ = text_.size();
  if (skipped_.depth == 0) return AddText(pos_);
  if (pos_ > done_) tokens_.push_back({MarkupToken::kBlock, {done_, pos_}});
  done_ = pos_;
}

size_t MarkupLexer::FindCut() const {
  if (pos_ < text_.size()) return pos_;
  // Cuts behind a line end, else behind a blank, of the second half of the text; else in front of
  // the last character.
  const absl::string_view run = text_.substr(done_);
  const size_t least = std::max(done_, text_.size() / 2) - done_;
  for (const absl::string_view blanks : {"\n", kMarkupBlanks}) {
    const size_t at = run.find_last_of(blanks);
    if (at != kNowhere && at >= least) return done_ + at + 1;
  }
  if (least == 0) return done_;
  size_t at = text_.size() - 1;
  for (int i = 0; i < 3 && !IsCharacterBorder(text_, at); ++i) --at;
  return std::max(at, done_ + 1);
}

void MarkupLexer::Cut() {
  ABSL_ASSERT(pos_ > 0 && (pos_ == text_.size() || needed_ > 0));
  if (skipped_.depth == 0) return AddText(FindCut());
  if (done_ > 0) return;  // the tokens in front of the skipped element are enough to drop
  tokens_.push_back({MarkupToken::kBlock, {0, pos_}});
  done_ = pos_;
  skipped_.is_inline = false;
}

void MarkupLexer::Drop(size_t count) {
  ABSL_ASSERT(0 < count && count <= tokens_.size());
  const size_t size = tokens_[count - 1].span.end;
  tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(count));
  for (MarkupToken& token : tokens_) token.span = {token.span.begin - size, token.span.end - size};
  done_ -= size;
  pos_ -= size;
}

size_t MarkupLexer::Next(size_t pos) {
  if (!until_.empty()) return ReadUntil(pos, pos, until_);
  const bool html = kind_ == Markup::kHtml;
  // is_raw: nothing but the element's own end tag is markup. has_lines: line ends separate texts.
  const bool is_raw = html && skipped_.depth > 0 && IsRawElement(skipped_.name);
  const bool has_lines = preserved_depth_ > 0 && skipped_.depth == 0;
  pos = text_.find_first_of(is_raw         ? "<"
                            : has_escapes_ ? (has_lines ? "<&]\\\r\n" : "<&]\\")
                            : has_lines    ? "<&]\r\n"
                            : cdata_       ? "<&]"
                                           : "<&",
                            pos);
  if (pos == kNowhere) return text_.size();
  pos_ = pos;  // if more text is needed, reading goes on here
  const absl::string_view rest = text_.substr(pos);
  switch (rest[0]) {
    case '&':
      return ReadReferenceAt(pos);
    case '\\':
      return ReadEscape(pos);
    case '\r':
    case '\n':
      Add(MarkupToken::kBlock, pos, pos + 1);
      return pos + 1;
    case ']':
      if (!cdata_) return pos + 1;
      if (!is_whole_ && rest.size() < 3) return kNowhere;
      if (!absl::StartsWith(rest, "]]>")) return pos + 1;
      Add(MarkupToken::kBlock, pos, pos + 3);
      cdata_ = false;
      return pos + 3;
    default:
      break;
  }
  if (!is_raw) return ReadMarkup(pos);
  if (!is_whole_ && rest.size() < skipped_.name.size() + 3) return kNowhere;
  if (!absl::StartsWith(rest, "</")) return pos + 1;
  const size_t size = rest.find_first_of(" \t\r\n\f/>", 2) - 2;
  return absl::EqualsIgnoreCase(rest.substr(2, size), skipped_.name) ? ReadTag(pos) : pos + 1;
}

// Reads a tag, comment or the like that begins with the `<` at `pos`.
size_t MarkupLexer::ReadMarkup(size_t pos) {
  const absl::string_view rest = text_.substr(pos);
  const bool html = kind_ == Markup::kHtml;
  const bool is_short = rest.size() < 2 || (absl::string_view("!?%").find(rest[1]) != kNowhere &&
                                            rest.size() < kMaxStart);
  if (!is_whole_ && is_short) return kNowhere;
  if (!html && absl::StartsWith(rest, "<![CDATA[")) {
    Add(MarkupToken::kBlock, pos, pos + kMaxStart);
    cdata_ = true;
    return pos + kMaxStart;
  }
  const absl::string_view start = is_document_ ? rest.substr(0, kMaxTemplate) : rest;
  if (!BeginsDeclaration(kind_, start)) {
    const bool is_template = absl::StartsWith(start, "<%");
    const bool is_comment =
        absl::StartsWith(start, "</") && (start.size() < 3 || !absl::ascii_isalpha(start[2]));
    const bool may_be_one = !is_whole_ && html && start.size() < kMaxTemplate &&
                            ((is_template && start.find("<%", 2) == kNowhere) ||
                             (is_comment && start.find_first_of("<>", 2) == kNowhere));
    return may_be_one ? kNowhere : ReadTag(pos);
  }
  absl::string_view until = rest[1] == '%' ? "%>" : ">";
  // Instructions end in `?>`. In HTML, Office's `<?xml:namespace ... />` has no other end than `>`.
  if (rest[1] == '?' && (!html || !absl::StartsWith(rest, "<?xml"))) until = "?>";
  if (!html && absl::StartsWith(rest, "<!DOCTYPE")) until = "[>";
  if (!absl::StartsWith(rest, "<!--")) return ReadUntil(pos, pos + 2, until);
  // In HTML, <!--> and <!---> are whole comments.
  const bool empty = absl::StartsWith(rest, "<!-->") || absl::StartsWith(rest, "<!--->");
  return ReadUntil(pos, pos + (html && empty ? 2 : 4), html ? "--" : "-->");
}

// Reads a comment or the like, which began at `begin`, from `pos` on. `until` says how it ends;
// "--" and "[>" are ends of several steps, after which a shorter `until` remains.
size_t MarkupLexer::ReadUntil(size_t begin, size_t pos, absl::string_view until) {
  // PHP's <?= $name ?> stands for words, and so does <%= name %>.
  const absl::string_view start = text_.substr(begin, pos - begin);
  const bool words = kind_ == Markup::kHtml && (start == "<?" || start == "<%");
  static const RE2& comment_end = *new RE2("(--)!?>", RE2::Latin1);
  while (!until.empty()) {
    const bool either = until == "[>";   // a document type, perhaps with declarations in [ ]
    const bool comment = until == "--";  // a comment of HTML
    const size_t end = either    ? text_.find_first_of(until, pos)
                       : comment ? FindGroup(text_, pos, comment_end)
                                 : text_.find(until, pos);
    if (end == kNowhere && !is_whole_) return kNowhere;
    if (end == kNowhere) {
      until_ = until;
      Add(MarkupToken::kPoint, begin, text_.size());
      return text_.size();
    }
    pos = end + (either ? 1 : until.size());
    const bool list = either && text_[end] == '[';
    until = list ? "]" : comment || until == "]" ? ">" : "";
  }
  until_ = "";
  Add(words ? MarkupToken::kProtected : MarkupToken::kPoint, begin, pos);
  return pos;
}

// Reads a tag, or goes on with one that began in an earlier line.
size_t MarkupLexer::ReadTag(size_t pos) {
  const bool begins = tag_lines_ == 0;
  MarkupTag tag = begins ? MarkupTag() : tag_;
  const size_t end = begins ? BeginTag(kind_, text_, pos, is_whole_, &tag)
                            : ReadAttributes(text_, pos, is_whole_, &tag);
  if (end == kNowhere && !is_whole_) return kNowhere;
  tag_ = std::move(tag);
  // A tag without its end goes on in the next line, provided that it looks like a tag so far.
  const bool looks_like_one = tag_.values || tag_.words <= (begins ? 0 : 1);
  if (end == kNowhere && looks_like_one && tag_lines_ < kMaxTagLines) {
    // A line of one long word within a quoted value is data (base64), and does not count.
    static const RE2& data = *new RE2(R"(\s*[!-~]{40,}\s*)", RE2::Latin1);
    if (begins || tag_.quote == 0 || !RE2::FullMatch({text_.data(), text_.size()}, data)) {
      ++tag_lines_;
    }
    Add(MarkupToken::kPoint, pos, text_.size());
    return text_.size();
  }
  tag_lines_ = 0;
  if (end == 0 || end == kNowhere) return begins ? pos + 1 : pos;  // it is text, not a tag
  AddTag(pos, end, begins);
  return end;
}

// An element that needs no end tag ends in front of certain tags, and at its parent's end tag. In
// an element in it that may contain further ones of its kind, the tags belong to those.
bool MarkupLexer::EndsSkipped() {
  const absl::string_view enders = EndersOf(skipped_.name);
  if (kind_ != Markup::kHtml || enders.empty()) return false;
  const std::string& name = tag_.name;
  const bool parent = IsParent(name);
  const bool ends = IsIn(enders, name) && !(tag_.closing && name == skipped_.name);
  if (skipped_.parents == 0 && (ends || (parent && tag_.closing))) return true;
  if (parent) skipped_.parents += tag_.closing ? -1 : 1;
  if (skipped_.parents == 0) skipped_.depth = 1;
  return false;
}

bool MarkupLexer::BeginsForeign() const {
  return is_document_ && kind_ == Markup::kHtml && IsForeign(tag_, language_);
}

bool MarkupLexer::BeginsSkipped() const {
  if (tag_.closing) return false;
  if (tag_.no_translation || BeginsForeign()) return true;
  if (is_feed_ && IsFeedValue(tag_.name)) return true;
  return IsLeftAlone(kind_, tag_.name) && !(has_values_ && tag_.name == "textarea");
}

bool MarkupLexer::ResumesSkipped() const {
  if (tag_.closing || BeginsSkipped()) return false;
  return (skipped_.no_translation || skipped_.is_foreign) &&
         (!skipped_.no_translation || tag_.translates) &&
         (!skipped_.is_foreign || IsLanguageCode(tag_.language));
}

void MarkupLexer::NoteSpace(bool is_empty) {
  if (!is_document_ || is_empty) return;
  const std::string& name = tag_.name;
  if (preserved_depth_ > 0) {
    if (name == preserved_) preserved_depth_ += tag_.closing ? -1 : 1;
  } else if (!tag_.closing && (kind_ == Markup::kXml ? tag_.preserves_space : name == "textarea")) {
    preserved_ = name;
    preserved_depth_ = 1;
  }
}

// Adds tag_ as a token, or begins or ends a skipped element with it. `whole`: the tag began in this
// line.
void MarkupLexer::AddTag(size_t begin, size_t end, bool whole) {
  const std::string& name = tag_.name;
  if (kind_ == Markup::kXml) {
    has_escapes_ |= name == "resources" || name == "string";
    is_feed_ |= name == "rss" || name == "feed" || name == "rdf:RDF";
  }
  const bool empty = tag_.self_closing || (kind_ == Markup::kHtml && IsVoidElement(name));
  const auto code_kind = [&](absl::string_view code, MarkupToken::Kind other) {
    return IsOpeningCode(kind_, code)   ? MarkupToken::kOpen
           : IsClosingCode(kind_, code) ? MarkupToken::kClose
                                        : other;
  };
  // 1. In front of this tag, the skipped element may end without an end tag.
  if (skipped_.depth > 0 && EndsSkipped()) {
    skipped_.depth = 0;
    if (begin > done_) Add(MarkupToken::kBlock, done_, begin);
  }
  // 2. Within a skipped element, only tags of its name count. The last one makes a token of it.
  if (skipped_.depth > 0) {
    if (ResumesSkipped() && !empty) {
      if (begin > done_) tokens_.push_back({MarkupToken::kBlock, {done_, begin}});
      done_ = begin;
      resumed_.push_back({std::exchange(skipped_, {}), name, 0});
      return AddTag(begin, end, whole);
    }
    if (name != skipped_.name || empty) return;
    skipped_.depth += tag_.closing ? -1 : 1;
    if (skipped_.depth > 0) return;
    const auto kind =
        IsPicture(kind_, name) ? MarkupToken::kPoint : code_kind(name, MarkupToken::kProtected);
    Add(skipped_.is_inline ? kind : MarkupToken::kBlock, done_, end,
        kind == MarkupToken::kProtected ? name : "");
    return;
  }
  // 3. The tag begins a skipped element, or is a token itself.
  // A radio button separates the texts of its choices.
  const bool block = IsBlockElement(name) || (name == "input" && tag_.is_choice);
  if (!empty && BeginsSkipped()) {
    AddText(begin);
    const bool is_code = IsLeftAlone(kind_, name);
    skipped_ = {
        name, 1, 0, whole && !block, !is_code && tag_.no_translation, !is_code && BeginsForeign()};
    return;
  }
  if (is_document_ && kind_ == Markup::kHtml && name == "html" && language_.empty()) {
    language_ = tag_.language;
  }
  if (block) {
    Add(MarkupToken::kBlock, begin, end);
  } else if (whole && (absl::StrContains(name, '@') || absl::EndsWith(name, ":"))) {
    Add(MarkupToken::kProtected, begin, end);  // <name@...>, <http://...>
  } else if (empty || !whole) {
    const MarkupToken::Kind kind = code_kind(name + "/", MarkupToken::kPoint);
    Add(whole ? kind : MarkupToken::kPoint, begin, end);
  } else {
    Add(tag_.closing ? MarkupToken::kClose : MarkupToken::kOpen, begin, end, name);
  }
  NoteSpace(empty);
  // Behind an element with translate="yes", the element around it is skipped on.
  if (resumed_.empty() || name != resumed_.back().name || empty) return;
  resumed_.back().depth += tag_.closing ? -1 : 1;
  if (resumed_.back().depth > 0) return;
  skipped_ = std::move(resumed_.back().around);
  skipped_.is_inline = false;  // its rest is no word of the element's sentence
  resumed_.pop_back();
}

}  // namespace nibu::internal
