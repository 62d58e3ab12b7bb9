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
    // C:\dir\file, C:/dir/file, \\server\share
    R"(\b[A-Za-z]:(?:[\\/][\w@L@.()~$%-]+)+[\\/]?|\b[A-Z]:\\|\\\\[\w.-]+(?:\\[\w@L@.()~$%-]+)+)"
    // /usr/bin, /etc, ./a, ../a, ~/a, $HOME/a, ${HOME}/a
    R"(|\B/[a-zA-Z_.][\w@L@.+@~-]*(?:/[\w@L@.+@~*-]+)*/?)"
    R"(|(?:\B\.{1,2}|\B~|\$[A-Za-z_]\w*|\$\{\w+\})(?:/[\w@L@.+@~*-]+)+/?)"
    // src/main.cc
    R"(|\b[\w+-][\w.+-]*(?:/[\w.+-]+)*/[\w+-][\w.+-]*\.[a-z][a-z0-9]{0,4}\b)"
    // notes.txt, with endings that are no words
    R"(|\b[\w+-][\w.+-]*\.(?i:txt|md|pdf|html?|css|xml|json|ya?ml|toml|csv|tsv|ini|conf|cfg|sh|py|js|ts|)"
    R"(cc|cpp|hpp|java|rb|php|sql|png|jpe?g|gif|svg|ico|webp|mp[34]|wav|ogg|avi|mkv|zip|t?gz|bz2|xz|7z|)"
    R"(rar|deb|rpm|iso|exe|dll|docx?|xlsx?|pptx?|od[tsp]|rtf|epub|srt|vtt|bak)\b)";
constexpr char kPlaceholderPattern[] =
    R"(\{{2,3}[^{}\n]{0,80}\}{2,3}|[$#%]?\{[^{}\s]*\}|<<\w+>>)"
    R"(|%\([A-Za-z_]\w*\)[-+#0]*\d*(?:\.\d+)?[a-zA-Z]|\$[A-Za-z_]\w*|\B:[a-z+-][a-z0-9_+-]*:\B)"
    R"(|%(?:\d+\$)?[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t|L|q)?(?:[diouxXeEfFgGcsp]\b|@))";
// Characters that are shown as pictures, or are with U+FE0F behind them; keycaps; each with its
// joiners and modifiers.
constexpr char kEmoji[] =
    R"((?:(?:[\x{1f000}-\x{1fbff}\x{2600}-\x{27bf}\x{231a}\x{231b}\x{2328}\x{23cf}\x{23e9}-\x{23fa})"
    R"(\x{2b05}-\x{2b07}\x{2b1b}\x{2b1c}\x{2b50}\x{2b55}]|[\x{a9}\x{ae}\x{203c}-\x{3299}]\x{fe0f})"
    R"(|[0-9#*]\x{fe0f}?\x{20e3})[\x{200d}\x{20e3}\x{fe0e}\x{fe0f}\x{1f3fb}-\x{1f3ff}\x{e0020}-\x{e007f}]*)+)";

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
      if (pattern != own) {  // matches of the kinds are not empty
        const auto front = static_cast<unsigned char>(begin > 0 ? text[begin - 1] : ' ');
        if (!absl::StrContains("{$#%<:", part[0])) part = TrimAddress(part);
        // Not protected: the end of "50%d", of "US$x" and of an address or end tag ("//x", "</b").
        if (part.empty() || (part[0] == '%' && absl::ascii_isdigit(front)) ||
            (part[0] == '$' && part[1] != '{' && absl::ascii_isalnum(front)) ||
            (part[0] == '/' && (front == '/' || front == '<'))) {
          part = {};
        }
      }
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
  std::vector<absl::string_view> chosen;
  if (kinds[Protected::kUrls]) chosen.push_back(kUrl);
  if (kinds[Protected::kPaths]) chosen.push_back(kPath);
  // Placeholders with only signs between them are one part.
  const std::string placeholders =
      absl::StrCat("(?:", kPlaceholderPattern, ")(?:[!-'*-/:-@\\\\^_`|~]*(?:", kPlaceholderPattern,
                   "))*(?:%%)?");
  if (kinds[Protected::kPlaceholders]) chosen.push_back(placeholders);
  if (kinds[Protected::kEmoji]) chosen.push_back(kEmoji);
  const auto make = [&](const std::string& wanted) {
    return wanted.empty() ? nullptr
                          : std::make_shared<const RE2>(
                                absl::StrReplaceAll(wanted, {{"@L@", kLetters}}), options);
  };
  // E-mail addresses have an expression of their own, since few lines contain an @.
  return [own, any = make(absl::StrJoin(chosen, "|")),
          emails = make(kinds[Protected::kEmails] ? kEmail : "")](absl::string_view text) {
    return FindParts(own.get(), any.get(), emails.get(), text);
  };
}

}  // namespace nibu::internal
