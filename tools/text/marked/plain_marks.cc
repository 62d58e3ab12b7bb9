// Finds marks with one regular expression, and reads what stands between the marks of a pair again.
#include "tools/text/marked/plain_marks.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

using Kind = MarkupToken::Kind;

// Each group is a kind of mark, and is what the mark encloses for those that enclose text.
enum Group {
  kAll,
  kCode,
  kEscape,
  kPercent,
  kGap,
  kPoint,
  kTag,
  kLink,
  kStrong,
  kUnder,
  kStrike,
  kStar,
  kLine
};
constexpr size_t kGroups = kLine + 1;
constexpr char kMarks[] =
    // ``code``, `code`, :role:`code`, <<name>>, comments. In `foo' the quotes are no marks of code.
    R"(((?::[a-z:]{1,20}:)?(?:``[^`]+``|`(?:[^`']|'[^`']*')+`)|<(?:code|pre|kbd|tt|samp)>[^<]*</[a-z]+>|<<\w+>>|<!--[^<>]*-->))"
    R"(|(\\(?:[nNrt"'/]|u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\})"
    R"(|x[0-9A-Fa-f]{2}(?:\[[0-9;]*m)?|U[0-9A-Fa-f]{8}|0[0-7]{0,2}(?:\[[0-9;]*m)?|e\[[0-9;]*m|[abdefvwsSW]\b[+*]?|\\[nrtabefv0"']\b))|(%%)|(\t[ \t]*| {3,}\t*))"
    R"(|(\{\\[a-zA-Z0-9][^{}]*\})|(</?[A-Za-z][\w:.-]*(?:\s[^<>]*|/)?>))"
    R"(|!?\[([^\[\]]+)\]\([^()\s]+\))"
    R"(|\*\*([^*\s](?:(?:[^*]|\*[^*]+\*)*[^*\s])?)\*\*|__([^_\s](?:[^_]*[^_\s])?)__|~~([^~\s](?:[^~]*[^~\s])?)~~)"
    R"(|\*([^*\s](?:[^*]*[^*\s])?)\*|_([^_\s](?:[^_]*[^_\s])?)_)";

// Elements whose tags may come alone: HTML's, and c and v of WebVTT.
constexpr absl::string_view kInline =
    " a b big c em font i s small span strike strong sub sup tt u v ";

class PlainReader {
 public:
  explicit PlainReader(absl::string_view line) : line_(line) {
    static const RE2& bare = *new RE2(R"((?:^|[^%])%(?:[\s.,;:!?)]|$))");
    has_percents_ = !RE2::PartialMatch({line.data(), line.size()}, bare);
    for (size_t at = 0; at < line.size(); ++at) {
      const bool is_bare = IsQuote(line[at]) && (at == 0 || line[at - 1] != '\\');
      if (is_bare) has_bare_quote_[line[at] == '"'] = true;
    }
  }

  std::vector<MarkupToken> Read() {
    ReadSpan(0, line_.size());
    AddText(line_.size());
    ProtectUnpaired();
    return std::move(tokens_);
  }

 private:
  // Protects what looks like a tag, but is neither an element's of HTML or WebVTT nor one of a
  // pair: "copy <file> to <folder>".
  void ProtectUnpaired() {
    std::map<std::string, std::vector<MarkupToken*>> open;
    for (MarkupToken& token : tokens_) {
      std::vector<MarkupToken*>& same = open[token.value];
      if (token.kind == Kind::kOpen) same.push_back(&token);
      if (token.kind != Kind::kClose) continue;
      if (!same.empty()) {
        same.pop_back();
      } else if (!IsIn(kInline, token.value)) {
        token.kind = Kind::kProtected;
      }
    }
    for (const auto& [name, tokens] : open) {
      if (IsIn(kInline, name)) continue;
      for (MarkupToken* token : tokens) token->kind = Kind::kProtected;
    }
  }

  static bool IsQuote(char c) { return c == '"' || c == '\''; }

  void AddText(size_t end) {
    if (end > done_) AddToken(Kind::kText, end);
  }

  void AddToken(Kind kind, size_t end, std::string value = {}) {
    tokens_.push_back({kind, {done_, end}, std::move(value)});
    tokens_.back().raw = line_.substr(done_, end - done_);
    done_ = end;
  }

  void ReadSpan(size_t begin, size_t end) {
    static const RE2& marks = *new RE2(kMarks);
    const re2::StringPiece all(line_.data(), line_.size());
    std::array<re2::StringPiece, kGroups> groups;
    while (marks.Match(all, begin, end, RE2::UNANCHORED, groups.data(), kGroups)) {
      const auto at = static_cast<size_t>(groups[kAll].data() - line_.data());
      size_t group = kCode;
      while (group < kLine && groups[group].data() == nullptr) ++group;
      begin = at + groups[kAll].size();
      const TextSpan inside = {static_cast<size_t>(groups[group].data() - line_.data()),
                               groups[group].data() - line_.data() + groups[group].size()};
      if (group >= kLink) {
        ReadPair(static_cast<Group>(group), {at, begin}, inside);
      } else {
        ReadMark(static_cast<Group>(group), {at, begin});
      }
    }
  }

  // Reads a mark and what it encloses. No mark touches a word on its outer side: "2*3*4", "a__b__".
  void ReadPair(Group group, TextSpan all, TextSpan inside) {
    const absl::string_view text = line_.substr(inside.begin, inside.end - inside.begin);
    const absl::string_view front = line_.substr(0, all.begin);
    const std::string before(front.substr(front.size() - std::min<size_t>(front.size(), 4)));
    const bool touches =
        group != kLink && (!IsWordBorder(before + "a", before.size()) ||
                           !IsWordBorder(absl::StrCat("a", line_.substr(all.end, 4)), 1));
    static const RE2& name = *new RE2("[A-Z0-9_]+|init|main|name|file|doc|str|repr|call|dict");
    if (touches || (group == kUnder && RE2::FullMatch({text.data(), text.size()}, name))) return;
    const std::string mark(line_.substr(all.begin, inside.begin - all.begin));
    AddText(all.begin);
    AddToken(Kind::kOpen, inside.begin, mark);
    ReadSpan(inside.begin, inside.end);
    AddText(inside.end);
    AddToken(Kind::kClose, all.end, mark);
  }

  void ReadMark(Group group, TextSpan span) {
    const absl::string_view raw = line_.substr(span.begin, span.end - span.begin);
    std::string value;
    Kind kind = group == kPoint ? Kind::kPoint : group == kGap ? Kind::kBlock : Kind::kProtected;
    if (group == kPercent) {
      if (!has_percents_) return;
      kind = Kind::kText;
      value = "%";
    } else if (group == kEscape) {
      // A string that escapes its quotes escapes all of them: '\' is no escape in it's '\'.
      if (IsInPath(span.begin) || (IsQuote(raw[1]) && has_bare_quote_[raw[1] == '"'])) return;
      if (absl::StrContains("nNrt", raw[1])) {
        kind = Kind::kBlock;
      } else if (raw == "\\/") {
        kind = Kind::kText;
        value = "/";
      } else if ((IsQuote(raw[1]) || (raw[1] == 'u' && raw.size() == 6)) &&
                 absl::CUnescape(raw, &value) && !absl::ascii_iscntrl(value[0])) {
        kind = Kind::kText;
      } else {  // half of a character or two, a control character, or another language's escape
        value.clear();
      }
    } else if (group == kTag) {
      MarkupTag tag;
      if (BeginTag(Markup::kHtml, line_.substr(0, span.end), span.begin, true, &tag) != span.end) {
        return;
      }
      const bool is_empty = tag.self_closing || IsVoidElement(tag.name);
      kind = IsBlockElement(tag.name) ? Kind::kBlock
             : is_empty               ? Kind::kPoint
             : tag.closing            ? Kind::kClose
                                      : Kind::kOpen;
      if (kind == Kind::kOpen || kind == Kind::kClose) value = tag.name;
    }
    AddText(span.begin);
    AddToken(kind, span.end, std::move(value));
  }

  // Returns whether a backslash stands in a path of Windows: C:\new, \\server\new.
  bool IsInPath(size_t at) const {
    size_t begin = at;
    while (begin > 0 && at - begin < 200 && !absl::ascii_isspace(line_[begin - 1])) --begin;
    const absl::string_view word = line_.substr(begin, at + 1 - begin);
    static const RE2& path = *new RE2(R"(\b[A-Za-z]:\\|\\\\)");
    return RE2::PartialMatch({word.data(), word.size()}, path);
  }

  const absl::string_view line_;
  std::array<bool, 2> has_bare_quote_ = {};  // a quote without a backslash: ', "
  bool has_percents_ = false;                // %% is the sign of percent, since no % is
  std::vector<MarkupToken> tokens_;
  size_t done_ = 0;  // where the last token ends
};

}  // namespace

std::vector<MarkupToken> ReadPlainMarks(absl::string_view line) { return PlainReader(line).Read(); }

}  // namespace nibu::internal
