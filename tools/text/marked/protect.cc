// Finds protected parts with regular expressions, which RE2 matches in linear time.
#include "tools/text/marked/protect.h"
#include "engine/core/option_error.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "engine/core/errors.h"
#include "tokenizer/unicode/capitals.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

// Characters beyond ASCII that are letters or may be. @L@ stands for them in the expressions below.
constexpr char kLetters[] = R"(\x{c0}-\x{1fff}\x{3040}-\x{d7ff})";
// TrimAddress cuts off what closes the sentence or the brackets around an address.
constexpr char kUrl[] =
    R"(\b(?i:(?:https?|ftps?|sftp|file|ssh|git|wss?|ircs?|s3)://|www\.)[^\s<>"`{}|\\^«»“”„]+)"
    R"(|\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|org|net|edu|gov|io|dev|info)\b)"
    R"((?:[/?#][^\s<>"`{}|\\^«»“”„]*)?)";
// The repetitions in front of an @ have bounds, so that text without an @ is not searched to its
// end.
constexpr char kEmail[] =
    // user@host:path
    R"([\w.-]{1,64}@[\w.-]+:[\w.~-]*/[\w@L@.+@~/-]*|)"
    R"((?:mailto:)?[\w@L@][0-9A-Za-z@L@._%+-]{0,63}@[0-9A-Za-z@L@](?:[0-9A-Za-z@L@-]*[0-9A-Za-z@L@])?)"
    R"((?:\.[0-9A-Za-z@L@](?:[0-9A-Za-z@L@-]*[0-9A-Za-z@L@])?)+)"
    // @user, @user@host
    R"(|\B@[A-Za-z_][\w.-]*(?:@[\w.-]+)?)";
constexpr char kPath[] =
    // C:\dir\file, C:/dir/file, also with escaped backslashes; \\server\share
    R"(\b[A-Za-z]:(?:(?:\\{1,2}|/)[\w@L@.()~$%-]+)+[\\/]?|\b[A-Z]:\\|\\\\[\w.-]+(?:\\[\w@L@.()~$%-]+)+)"
    // /usr/bin, /etc, ./a, ../a, ~/a, $HOME/a, ${HOME}/a
    R"(|\B/[a-zA-Z_.][\w@L@.+@~-]*(?:/[\w@L@.+@~*-]+)*/?)"
    R"(|(?:\B\.{1,2}|\B~|\$[A-Za-z_]\w*|\$\{\w+\})(?:/[\w@L@.+@~*-]+)+/?)"
    // Android's resources: @string/name, @android:string/ok
    R"(|\B@(?:\w+:)?(?:array|bool|color|dimen|drawable|id|integer|layout|mipmap|plurals|string|style)/[\w.]+)"
    // src/main.cc
    R"(|\b[\w+-][\w.+-]*(?:/[\w.+-]+)*/[\w+-][\w.+-]*\.[a-z][a-z0-9]{0,4}\b)"
    // notes.txt, with endings that are no words
    R"(|\b[\w+-][\w.+-]*\.(?i:txt|md|pdf|html?|css|xml|json|ya?ml|toml|csv|tsv|ini|conf|cfg|sh|py|js|ts|)"
    R"(cc|cpp|hpp|java|rb|php|sql|png|jpe?g|gif|svg|ico|webp|mp[34]|wav|ogg|avi|mkv|zip|t?gz|bz2|xz|7z|)"
    R"(rar|deb|rpm|iso|exe|dll|docx?|xlsx?|pptx?|od[tsp]|rtf|epub|srt|vtt|bak)\b)";
// Names of placeholders that say how many. @N@ stands for them.
constexpr char kCounts[] =
    R"((?i:n|num|number|nr|count|counter|total|amount|quantity|size|age|seconds|minutes|hours|days|)"
    R"(weeks|months|years|[a-z]+_?count|num_?[a-z]+|n_[a-z]+))";
// Placeholders that programs fill in with an integer.
constexpr char kCountPlaceholder[] =
    R"(##@N@##|\b__@N@__\b|<%=\s*@N@\s*%>|\[%\s*@N@\s*%\]|\$@N@\$|\{:[,d]{1,2}\}|\{\s?@N@\s?,\s?number\s?\}|)"
    R"(%(?:\d+\$)?[-+#0']*\d*(?:hh|h|ll|l|z|j|t|L|q)?(?:[diu]\b|[du][A-Za-z]{0,2}\b|<PRI[a-zA-Z0-9]{1,12}>))"
    R"(|%\d+\$[diu]|%n\b|%\(@N@\)[a-z]|%\([A-Za-z_]\w*\)[-+#0]*\d*[diu]|\$@N@\b)"
    R"(|[$#%]?\{{1,2}\s?@N@(?::[^{}\s]*)?\s?\}{1,2}|\$\(@N@\))";
// Those without a name, which may be anything: %s, {0}
constexpr char kAnyPlaceholder[] = R"(%(?:\d+\$)?s\b|%\d+\$s|%(?:\d+\$)?@|\{\d*\})";
// All others. No repetition passes a sign that would begin another, so time stays linear.
constexpr char kPlaceholderPattern[] =
    // ICU's messages, whole, with three levels of braces in them: {n, plural, one {# file}}
    R"(\{\s?\w+\s?,\s?(?:number|date|time|plural|select|selectordinal|spellout|ordinal|duration|choice)\s?)"
    R"((?:,(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*)?\})"
    // {{ x }}, {name}, { name }, ${name}, ${ name }, #{x}, <<name>>
    R"(|\{{2,3}[^{}\n]{0,80}\}{2,3}|[$#%]?\{(?:[^{}\s]*|\s[\w.$-]{1,40}\s)\}|<<\w+>>)"
    // <%= x %>, [% x %], $(name), $[name], *|NAME|*, ##NAME##, %NAME%, __NAME__
    R"(|<%[^<>]*%>|\[%[^\[\]]*%\]|\$[(\[][\w.-]+[)\]]|\*\|\w+\|\*|##\w+##|%[A-Z][A-Z0-9_]+%|\b__[A-Z][A-Z0-9_]*__\b)"
    // %(name)s, $name, $NAME$
    R"(|%\([A-Za-z_]\w*\)[-+#0]*\d*(?:\.\d+)?[a-zA-Z]|\$[A-Za-z_]\w*\$?)"
    // printf's other forms; those that no word resembles may touch a letter: %1$sfoo, %sfoo
    R"(|%\d+\$[-+#0']*\d*(?:\.\d+)?(?:hh|h|ll|l|z|j|t|L|q)?[diouxXeEfFgGcsp@])"
    R"(|%[-+#0']*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t|L|q)?(?:[diouxXeEfFgGcsp]\b|s[A-Za-z]{0,2}\b))";
// Commands of templates, which are no words: {% if x %}, {# a comment #}, {{#each}}, {{/each}}
constexpr char kCommand[] = R"(\{[%#][^{}]*[%#]\}|\{\{[#/^!>~][^{}]*\}\})";
// Qt's %1 and %L1
constexpr char kQtPlaceholder[] = R"(%L?\d{1,2}\b)";
// :name:, which is a picture in chats
constexpr char kShortcode[] = R"(\B:[a-z+-][a-z0-9_+-]*:)";
// #tag, but not the number "#1".
constexpr char kHashtag[] = R"(\B#[A-Za-z_@L@][\w@L@]*)";
// Signs of a speaker or of music: >> Hello; and [00:00:02.000 --> 00:00:11.400],
// 00:02,000
constexpr char kTimeCode[] =
    R"((?:^\s*[—♪♫]+|\B>>+)(?:\s|$)|[♪♫]+|\[\d{1,2}:\d{2}(?::\d{2})?\]|)"
    R"([\[<]?\b(?:\d{1,2}:)?\d{1,2}:\d{2}[.,]\d{3}(?:\s*-->\s*(?:\d{1,2}:)?\d{1,2}:\d{2}[.,]\d{3})?\b[\]>]?)";
// --help, --name=value; foo(), foo_bar, foo_bar(); Ctrl+C, F5
constexpr char kCode[] =
    R"(\B--[a-z][a-z0-9]+(?:-[a-z0-9]+)*(?:=[^\s,;]+)?|\b[A-Za-z_][\w.:]*\(\)|\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b)"
    R"(|\b(?:Ctrl|Alt|AltGr|Shift|Cmd|Meta|Super|Win|Strg|Umschalt)(?:\+(?:[A-Z][A-Za-z]*\d*|\d))+)"
    R"(|\bF(?:[1-9]|1[0-2])\b)"
    // std::vector, p->next, __init__
    R"(|\b[A-Za-z_]\w*(?:(?:::|->)[A-Za-z_~]\w*)+(?:\(\))?|\b__(?:init|main|name|file|doc|str|repr|call|dict)__\b)";
// Keys, which a text in small letters names in capitals.
constexpr char kKey[] =
    R"(\b(?:ENTER|RETURN|ESC|ESCAPE|TAB|SHIFT|CTRL|ALT|DEL|DELETE|BACKSPACE|SPACE|SPACEBAR|INSERT|PGUP|PGDN)\b)";
// Versions and IP addresses, which have more than one full stop, or two colons side by side.
constexpr char kNumber[] =
    R"(\bv?\d+(?:\.\d+){2,}(?:[-+][0-9A-Za-z][\w.]*)?(?::\d+|/\d+)?\b)"
    R"(|\[?(?:\b[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6}|\B)::(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6}\b)(?:\]:\d+|\])?)"
    R"(|\b[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){7}\b)";
// $19.99, -5,50 €, USD 20; 7:45, 7 p.m.; 1,000. Translations keep most of them, in the form of
// their language, so that they are protected only where one was changed (FindAmounts).
constexpr char kAmount[] =
    R"((?:\p{Sc}|\b[A-Z]{3})\s?-?\b@N@(?:\s?(?:[ap]\.\s?m\.|[ap]m\b))?)"
    R"(|-?\b@N@(?:\s?(?:[ap]\.\s?m\.|[ap]m\b|\p{Sc}|(?:USD|EUR|GBP|JPY|CHF)\b))?)";
constexpr char kAmountNumber[] = R"((?:\d+(?:[.,:'\x{a0}\x{202f}]\d+)+|\d{2,}|\d))";
// :), ;-D, <3; white space stands in front of them, and white space or a mark behind.
constexpr char kEmoticon[] =
    R"((?:[>}]?[:;=][-o^']?[()\[\]DPpOo3/\\|*]+|[xX]D+|</?3+|\^_*\^|-_+-|\\o/|[oO]_[oO]|T_T))";
// Characters that are shown as pictures, or are with U+FE0F behind them; keycaps; each with its
// joiners and modifiers.
constexpr char kEmoji[] =
    R"((?:(?:[\x{1f000}-\x{1fbff}\x{2600}-\x{27bf}\x{231a}\x{231b}\x{2328}\x{23cf}\x{23e9}-\x{23fa})"
    R"(\x{2b05}-\x{2b07}\x{2b1b}\x{2b1c}\x{2b50}\x{2b55}]|[\x{a9}\x{ae}\x{203c}-\x{3299}]\x{fe0f})"
    R"(|[0-9#*]\x{fe0f}?\x{20e3})[\x{200d}\x{20e3}\x{fe0e}\x{fe0f}\x{1f3fb}-\x{1f3ff}\x{e0020}-\x{e007f}]*)+)";

// Signs in front of a text or behind it: "→ Next", "Read more »". Models leave out some of them.
constexpr char kSign[] = R"([\x{2190}-\x{21ff}\x{25a0}-\x{25ff}•·∙◦‣⁃‹›]+|[«»]+|–)";

// The kinds, in the order in which they are tried.
constexpr struct Row {
  Protected::Kind kind;
  StandIn stand_in;
  bool is_address;  // TrimAddress cuts off what follows it
  const char* pattern;
} kRows[] = {
    {Protected::kUrls, StandIn::kName, true, kUrl},
    {Protected::kCodes, StandIn::kNone, false, kTimeCode},
    {Protected::kNumbers, StandIn::kNumber, false, kNumber},
    {Protected::kPaths, StandIn::kName, true, kPath},
    {Protected::kPlaceholders, StandIn::kNone, false, kCommand},
    {Protected::kPlaceholders, StandIn::kNumber, false, kCountPlaceholder},
    {Protected::kPlaceholders, StandIn::kAny, false, kAnyPlaceholder},
    {Protected::kPlaceholders, StandIn::kName, false, kPlaceholderPattern},
    {Protected::kPlaceholders, StandIn::kAny, false, kQtPlaceholder},
    {Protected::kPlaceholders, StandIn::kNone, false, kShortcode},
    {Protected::kEmails, StandIn::kName, false, kHashtag},
    {Protected::kCodes, StandIn::kName, false, kCode},
    {Protected::kCodes, StandIn::kName, false, kKey},
    {Protected::kEmoji, StandIn::kNone, false, kEmoticon},
    {Protected::kEmoji, StandIn::kNone, false, kEmoji},
    {Protected::kEmoji, StandIn::kNone, false, kSign},
    {Protected::kEmails, StandIn::kName, true, kEmail},
};

std::string PatternOf(const Row& row) {
  return absl::StrReplaceAll(row.pattern, {{"@L@", kLetters}, {"@N@", kCounts}});
}

// Returns the row whose pattern matches all of a part, or null.
const Row* RowOf(absl::string_view part) {
  static const std::vector<RE2*>& patterns = *[] {
    auto* made = new std::vector<RE2*>;
    for (const Row& row : kRows) made->push_back(new RE2(PatternOf(row)));
    return made;
  }();
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (RE2::FullMatch({part.data(), part.size()}, *patterns[i])) return &kRows[i];
  }
  return nullptr;
}

const RE2& Amount() {
  static const RE2& amount = *new RE2(absl::StrReplaceAll(kAmount, {{"@N@", kAmountNumber}}));
  return amount;
}

// Returns whether a noun in the plural seems to follow, as languages write it that form the plural
// with -s: "files were", but not "likes your".
bool IsPlural(absl::string_view behind) {
  static const RE2& plural = *new RE2(R"(^\s([a-z]{2,}[^\Wsiu]s)\b(?:\s([a-z]+))?)");
  static const RE2& no_noun =
      *new RE2("(?:has|does|always|perhaps|whose|plus|unless|towards|besides|sometimes)");
  static const RE2& object =
      *new RE2("(?:an?|the|to|you|me|it|this|that|your|my|his|her|our|their)");
  std::string noun;
  std::string next;
  return RE2::PartialMatch({behind.data(), behind.size()}, plural, &noun, &next) &&
         !RE2::FullMatch(noun, no_noun) && !RE2::FullMatch(next, object);
}

// Returns an address without the full stops, quotes and brackets at its end that belong to the text
// around it.
absl::string_view TrimAddress(absl::string_view part) {
  const auto unopened = [&](char open, char close) {
    return std::count(part.begin(), part.end(), close) - std::count(part.begin(), part.end(), open);
  };
  std::map<char, ptrdiff_t> brackets = {{')', unopened('(', ')')}, {']', unopened('[', ']')}};
  // The name of a user may end in an underscore.
  const absl::string_view around = part[0] == '@' ? ".,;:!?'*" : ".,;:!?'*_";
  while (!part.empty() && (absl::StrContains(around, part.back()) || brackets[part.back()]-- > 0)) {
    part.remove_suffix(1);
  }
  return part;
}

// Returns whether white space separates a sign from all of the text, which is on one side of it,
// and it is not one of the text's quotes: « Hello »
bool StandsAtEdge(absl::string_view text, size_t begin, absl::string_view sign) {
  const absl::string_view before = text.substr(0, begin);
  const absl::string_view behind = text.substr(begin + sign.size());
  const auto is_quote = [&](absl::string_view one, absl::string_view other) {
    return absl::StrContains(sign, one) && absl::StrContains(text, other);
  };
  if (is_quote("«", "»") || is_quote("»", "«")) return false;
  return IsBlank(before) ? BlankPrefix(behind) > 0
                         : IsBlank(behind) && IsBlank(LastCharacter(before)) && sign != "–";
}

// Returns how much of a match of the kinds is a part: none of "50%d", of "US$x", of an end tag
// ("</b"), of the end of an address ("//x") and of an emoticon that touches a word.
absl::string_view PartOf(absl::string_view text, absl::string_view match) {
  const size_t begin = match.data() - text.data();
  const char front = begin > 0 ? text[begin - 1] : ' ';
  const absl::string_view behind = text.substr(begin + match.size());
  const Row* const row = RowOf(match);
  static const RE2& date = *new RE2(R"(\d{1,2}\.\d{1,2}\.\d{4})");
  if (RE2::FullMatch({match.data(), match.size()}, date)) return {};  // other than a version
  if (row != nullptr && row->is_address) match = TrimAddress(match);
  if (row != nullptr && row->pattern == kEmoticon &&
      (!absl::ascii_isspace(front) ||
       (!behind.empty() && !absl::StrContains(" \t.,!?", behind[0])))) {
    return {};
  }
  if (row != nullptr && row->pattern == kSign && !StandsAtEdge(text, begin, match)) return {};
  if (row != nullptr && row->pattern == kKey && !HasSmallLetters(text)) return {};
  // "%s" and "%1$d" are no signs of percent in front of a word.
  static const RE2& percent = *new RE2("%[^s@(%\\d].*|%\\d+[^$\\d].*");
  const bool is_end =
      !match.empty() &&
      ((match[0] == '%' && absl::ascii_isdigit(front) &&
        RE2::FullMatch({match.data(), match.size()}, percent)) ||
       (match[0] == '$' && match.substr(1, 1) != "{" && absl::ascii_isalnum(front)) ||
       (match[0] == '/' && (front == '/' || front == '<')));
  return is_end ? absl::string_view() : match;
}

// Returns what the user's pattern and those of the kinds find. Each may be null.
std::vector<TextSpan> FindParts(const RE2* own, const RE2* kinds, const RE2* emails,
                                absl::string_view text) {
  if (!absl::StrContains(text, '@')) emails = nullptr;
  std::vector<bool> is_found(text.size());  // for each byte
  const re2::StringPiece all(text.data(), text.size());
  for (const RE2* pattern : {own, kinds, emails}) {
    re2::StringPiece match;
    for (size_t at = 0; pattern != nullptr && at < text.size() &&
                        pattern->Match(all, at, text.size(), RE2::UNANCHORED, &match, 1);) {
      const auto begin = static_cast<size_t>(match.data() - text.data());
      absl::string_view part = text.substr(begin, match.size());
      if (pattern != own) part = PartOf(text, part);  // matches of the kinds are not empty
      if (!IsBlank(part)) {
        // A user's pattern may match a byte of a character (\C): the part has all of it.
        size_t first = begin;
        size_t last = begin + part.size();
        for (int n = 0; n < 3 && first > 0 && !IsCharacterBorder(text, first); ++n) --first;
        for (int n = 0; n < 3 && !IsCharacterBorder(text, last); ++n) ++last;
        std::fill_n(is_found.begin() + static_cast<long>(first), last - first, true);
      }
      at = begin + std::max<size_t>(1, part.size());
    }
  }
  std::vector<TextSpan> parts;
  for (size_t at = 0; at < text.size(); ++at) {
    if (!is_found[at]) continue;
    if (parts.empty() || parts.back().end < at) parts.push_back({at, at});
    parts.back().end = at + 1;
  }
  return parts;
}

}  // namespace

absl::StatusOr<Protector> MakeProtector(const ProtectedKinds& kinds, const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  std::shared_ptr<const RE2> own;
  if (!pattern.empty()) own = std::make_shared<const RE2>(pattern, options);
  if (own != nullptr && !own->ok()) return InvalidOption("protect_pattern", ": ", own->error());
  // E-mail addresses have an expression of their own, since few lines contain an @.
  std::vector<std::string> chosen;
  std::vector<std::string> emails;
  std::vector<std::string> placeholders;
  for (const Row& row : kRows) {
    if (!kinds[row.kind]) continue;
    const bool joins = row.kind == Protected::kPlaceholders;
    (row.pattern == kEmail ? emails : joins ? placeholders : chosen).push_back(PatternOf(row));
    // Placeholders with only signs between them are one part.
    if (row.pattern != kShortcode || placeholders.empty()) continue;
    const std::string any = absl::StrCat("(?:", absl::StrJoin(placeholders, "|"), ")");
    chosen.push_back(absl::StrCat(any, R"((?:[!-'*-/:-@\\^_`|~]*)", any, ")*(?:%%)?"));
  }
  const auto make = [&](const std::vector<std::string>& wanted) {
    return wanted.empty() ? nullptr
                          : std::make_shared<const RE2>(absl::StrJoin(wanted, "|"), options);
  };
  return [own, any = make(chosen), emails = make(emails)](absl::string_view text) {
    return FindParts(own.get(), any.get(), emails.get(), text);
  };
}

bool IsEdgeSign(absl::string_view part) {
  static const RE2& sign = *new RE2(absl::StrCat(kSign, R"(|\s*[—♪♫]+\s?|>>+\s?)"));
  return RE2::FullMatch({part.data(), part.size()}, sign);
}

bool HasTexts(absl::string_view part) {
  static const RE2& message = *new RE2(R"(\{\s?\w+\s?,\s?(?:plural|select|selectordinal)\s?,)");
  return absl::StartsWith(part, "{") && RE2::PartialMatch({part.data(), part.size()}, message);
}

bool StandsApart(absl::string_view part) {
  return absl::StrContains("@#", part[0]) || absl::StrContains(part, "://");
}

std::vector<TextSpan> FindAmounts(absl::string_view text) {
  std::vector<TextSpan> found;
  const re2::StringPiece all(text.data(), text.size());
  re2::StringPiece match;
  for (size_t at = 0; Amount().Match(all, at, text.size(), RE2::UNANCHORED, &match, 1);) {
    const auto begin = static_cast<size_t>(match.data() - text.data());
    at = begin + match.size();
    if (match.size() > 1) found.push_back({begin, at});
  }
  return found;
}

StandIn StandInFor(absl::string_view part, absl::string_view behind) {
  // A part of markup may have tags in it.
  std::string text(part);
  static const RE2& tag = *new RE2("</?[A-Za-z][^<>]*>");
  if (absl::StrContains(text, '<')) RE2::GlobalReplace(&text, tag, "");
  const Row* const row = RowOf(absl::StripAsciiWhitespace(text));
  const StandIn found = row != nullptr                   ? row->stand_in
                        : RE2::FullMatch(text, Amount()) ? StandIn::kNumber
                                                         : StandIn::kAny;  // as "{a}/{b}"
  if (found != StandIn::kAny) return found;
  return IsPlural(behind) ? StandIn::kNumber : StandIn::kName;
}

}  // namespace nibu::internal
