// Decides which lines of hand-wrapped text make a paragraph, and wraps translations.
#include "tools/text/marked/layout.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "tokenizer/unicode/characters.h"
#include "tokenizer/unicode/typesetting.h"

namespace nibu::internal {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;  // the size at which a paragraph ends
constexpr size_t kLongWord = 16;                // columns; longer words count as so long
// Columns of a line that is full: the next one may be indented further. If it is half as long, the
// next one may begin with a capital letter.
constexpr size_t kFull = 60;
constexpr size_t kUsual = 80;  // the most columns of a line that tell how wide the next ones are

struct Patterns {
  // "- ", "- [x] ", "• ", "o  ", "## ", "12. ", "(b) ", "1.3) ", "iv. ", without the blanks.
  const RE2 bullet{R"([-*+](?: \[[ xX]\])?|\[\d{1,3}\]|[•‣◦▪●■□·–—➢➤►✓✔→]|o |#{1,6}|)"
                   R"(\(?(?:\d{1,3}\.)*(?:(\d{1,3})|([A-Za-z]|[ivx]{2,5}|[IVX]{2,5}))[.)])"};
  const RE2 field{R"([A-Z][A-Za-z0-9-]{0,28}:(?: |$))"};  // "Subject: ..."
  // A row of a table, whose cells may have "|" or wide blanks between them; a command; an option.
  const RE2 row{R"(\||\$ |-(?:[A-Za-z?]|-[A-Za-z][\w-]*)(?:[ =,]|$)|[^\t]*?\S(?:\t+| {4,})\S)"};
  const RE2 url{R"((?i:https?|ftp)://)"};
  const RE2 quote{"(?: *>)+ ?"};
  // The ends of lines like "well-" and "known", which are one word, unlike "Vor-" and "und
  // Nachteile".
  const RE2 hyphenated{R"((?:\w|[^\x00-\x7f])[-\x{2010}\x{ad}]$)"};
  const RE2 word{R"(\w|[^\x00-\x7f])"};
  const RE2 pair{R"((?:and|or|to|und|oder|bzw\.)(?: |$))"};
};

const Patterns& Re() {
  static const Patterns& patterns = *new Patterns();
  return patterns;
}

// Returns whether a text begins with a match of a pattern. `matched` gets the match and its groups.
bool Begins(absl::string_view text, const RE2& pattern, absl::Span<re2::StringPiece> matched = {}) {
  return pattern.Match({text.data(), text.size()}, 0, text.size(), RE2::ANCHOR_START,
                       matched.data(), static_cast<int>(matched.size()));
}

absl::string_view WithoutBlanks(absl::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

bool EndsSentence(absl::string_view text) {
  text = WithoutBlanks(text);
  return !text.empty() && absl::string_view(".:!?").find(text.back()) != absl::string_view::npos;
}

// Returns the value of a Roman numeral of i, v and x, or 0 if the letters are none.
int RomanNumeral(absl::string_view letters) {
  int value = 0;
  int largest = 0;
  for (size_t i = letters.size(); i-- > 0;) {
    const int digit = letters[i] == 'i' ? 1 : letters[i] == 'v' ? 5 : letters[i] == 'x' ? 10 : 0;
    if (digit == 0) return 0;
    value += digit < largest ? -digit : digit;
    largest = std::max(largest, digit);
  }
  return value;
}

// Returns what joins two lines: a blank or nothing.
absl::string_view Between(absl::string_view before, absl::string_view after) {
  const absl::string_view end = before.substr(before.size() - std::min<size_t>(before.size(), 8));
  if (!RE2::PartialMatch({end.data(), end.size()}, Re().hyphenated) || !Begins(after, Re().word)) {
    return BetweenLines(before, after);
  }
  return Begins(after, Re().pair) ? " " : "";
}

}  // namespace

// A line, taken apart into quoting marks, indentation, bullet and text.
struct ParagraphReader::Line {
  explicit Line(absl::string_view line) : rest(line) {
    re2::StringPiece matched[3];
    if (Begins(line, Re().quote, absl::MakeSpan(matched, 1))) {
      quote = line.substr(0, matched[0].size());
      depth = static_cast<size_t>(std::count(quote.begin(), quote.end(), '>'));
      rest.remove_prefix(quote.size());
    }
    indent = rest.substr(0, BlankPrefix(rest));
    rest.remove_prefix(indent.size());
    if (!Begins(rest, Re().bullet, absl::MakeSpan(matched))) return;
    const size_t blanks = BlankPrefix(rest.substr(matched[0].size()));
    if (blanks == 0) return;
    bullet = rest.substr(0, matched[0].size() + blanks);
    const auto [all, number, letters] = matched;
    std::from_chars(number.data(), number.data() + number.size(), ordinal);
    if (letters.empty()) return;
    roman = RomanNumeral(absl::AsciiStrToLower({letters.data(), letters.size()}));
    ordinal = letters.size() > 1 ? roman : absl::ascii_tolower(letters[0]) - 'a' + 1;
    is_initial =
        letters.size() == 1 && absl::ascii_isupper(letters[0]) && all[all.size() - 1] == '.';
  }

  bool IsRow() const { return Begins(rest.substr(bullet.size()), Re().row); }

  size_t depth = 0;
  absl::string_view quote;  // "> > "
  absl::string_view indent;
  absl::string_view bullet;
  absl::string_view rest;   // from the bullet on
  int ordinal = 0;          // the last number or letter of the bullet; 0 if it has none
  int roman = 0;            // the same as a Roman numeral; 0 if it is none
  bool is_initial = false;  // the bullet is like "A.", which may begin a name
  // Set for lines with words.
  size_t column = 0;  // where `rest` begins, behind the quoting marks
  size_t end = 0;     // where `rest` ends, from the beginning of the line
};

bool ParagraphReader::HadRoom(const Line& line, size_t columns) const {
  const size_t word = std::min(line.rest.find(' '), 4 * kLongWord);
  return last_ + 1 + std::min(ColumnBehind(line.rest.substr(0, word)), kLongWord) <= columns;
}

// A line with followers has at least 3/4 of the width of its neighbours, and half of the usual
// width. That counts as kFull at least if the next line looks like the beginning of a paragraph.
size_t ParagraphReader::LeastColumns(const Line& line) const {
  const bool is_new = BeginsCapital(line.rest) || Begins(line.rest, Re().url);
  const bool may_begin = is_new && !absl::EndsWith(open_.text, "-");
  const size_t usual = std::max(usual_, may_begin ? kFull : 0);
  return std::max(std::max(widest_, line.end) * 3 / 4, usual / 2);
}

bool ParagraphReader::IsIndentedAsBefore(const Line& line) const {
  if (lines_ > 1) return line.column == indent_;
  // Behind the first line, the indentation may grow below an item or a field. Otherwise it may
  // change only if the first line is full.
  if ((ordinal_ >= 0 || is_field_) && line.column > indent_) return true;
  if (ordinal_ >= 0) return line.column == indent_ && BeginsSmall(line.rest);
  if (line.column == indent_) return true;
  if (line.column < indent_) return !HadRoom(line, LeastColumns(line));
  return !HadRoom(line, std::max({widest_, line.end, kFull})) && !EndsSentence(open_.text);
}

// A bullet begins a paragraph if it is the first of a list or follows the last item. Other lines
// continue the paragraph if the last line had no room for their first word, or if the sentence goes
// on.
bool ParagraphReader::Continues(const Line& line) const {
  const bool begins = line.ordinal <= 1 || line.roman == 1;
  const bool goes_on =
      line.ordinal == ordinal_ + 1 || (line.roman > 1 && line.roman == ordinal_ + 1);
  const bool counts = begins ? !line.is_initial : goes_on;
  if (is_single_ || line.depth != depth_ || open_.text.size() + line.rest.size() > kMostBytes ||
      line.IsRow() || absl::StrContains(line.indent, '\f') ||
      absl::StrContains(line.indent, "\u3000") || (!line.bullet.empty() && counts) ||
      (is_field_ && Begins(line.rest, Re().field)) || !IsIndentedAsBefore(line)) {
    return false;
  }
  if (!HadRoom(line, LeastColumns(line))) return true;
  // A short first line with a comma, such as "Dear Jane,", is a paragraph of its own.
  const bool greets = lines_ == 1 && absl::EndsWith(open_.text, ",") &&
                      HadRoom(line, std::max(widest_, line.end) * 2 / 5);
  return BeginsSmall(line.rest) && !EndsSentence(open_.text) && !greets &&
         !Begins(line.rest, Re().url);
}

void ParagraphReader::Begin(const Line& line) {
  is_signature_ = is_signature_ && line.depth == depth_;
  depth_ = line.depth;
  indent_ = line.column;
  const bool is_roman = line.roman > 0 && line.ordinal != ordinal_ + 1;  // "i." behind "h." is not
  ordinal_ = line.bullet.empty() ? -1 : is_roman ? line.roman : line.ordinal;
  is_field_ = line.bullet.empty() && Begins(line.rest, Re().field);
  is_single_ = is_signature_ || (line.IsRow() && !is_field_) || absl::StartsWith(line.bullet, "#");
  open_.first = absl::StrCat(line.quote, line.indent, line.bullet);
  open_.rest = absl::StrCat(line.quote, line.indent);
  open_.rest.append(ColumnBehind(open_.first) - ColumnBehind(open_.rest), ' ');
  absl::StrReplaceAll({{"\f", ""}, {"\u3000", ""}}, &open_.rest);  // only a first line has these
  open_.text = std::string(line.rest.substr(line.bullet.size()));
  open_.may_wrap = !is_single_ || is_signature_;
  open_.line = count_;
}

void ParagraphReader::Append(const Line& line) {
  open_.text.resize(WithoutBlanks(open_.text).size());
  absl::StrAppend(&open_.text, Between(open_.text, line.rest), line.rest);
  if (lines_ > 1) return;
  if (ordinal_ < 0 || line.column > indent_) open_.rest = absl::StrCat(line.quote, line.indent);
  indent_ = line.column;
}

void ParagraphReader::Add(absl::string_view text, std::deque<Paragraph>* ended) {
  Line line(text);
  const bool may_fence = absl::StartsWith(line.rest, "```") || absl::StartsWith(line.rest, "~~~");
  const bool is_fence = may_fence && (fence_ == 0 || fence_ == line.rest[0]);
  // Fences, lines between them, and lines without words are copied.
  if (is_fence || fence_ != 0 || !HasWords(line.rest)) {
    End(ended);
    if (is_fence) fence_ ^= line.rest[0];
    is_signature_ = line.rest == "-- " || line.rest == "--" || (is_signature_ && !IsBlank(text));
    depth_ = line.depth;
    ended->push_back({std::string(text), "", "", true, count_++});
    return;
  }
  line.column = ColumnBehind(line.indent);
  line.end = ColumnBehind(WithoutBlanks(line.rest), ColumnBehind(line.quote) + line.column);
  if (lines_ > 0 && !Continues(line)) End(ended);
  lines_ == 0 ? Begin(line) : Append(line);
  // Two trailing blanks are Markdown's line break.
  is_single_ = is_single_ || line.rest.size() == WithoutBlanks(line.rest).size() + 2;
  last_ = line.end;
  widest_ = std::max(lines_ == 0 ? 0 : widest_, line.end);
  ++lines_;
  ++count_;
}

void ParagraphReader::End(std::deque<Paragraph>* ended) {
  if (lines_ == 0) return;
  if (lines_ > 1) usual_ = std::min(widest_, kUsual);
  ended->push_back(std::move(open_));
  open_ = {};
  lines_ = 0;
}

std::string Reflow(const Paragraph& paragraph, absl::string_view translation, size_t columns) {
  std::string out = paragraph.first;
  if (columns == 0 || !paragraph.may_wrap) return absl::StrCat(out, translation);
  size_t column = ColumnBehind(out);
  size_t begin = 0;
  for (const size_t end : LineBreaks(translation)) {
    // Words that look like the beginning of a paragraph do not begin a line.
    const ParagraphReader::Line next(translation.substr(end, 32));
    if (next.depth > 0 || !next.bullet.empty() || next.IsRow()) continue;
    const absl::string_view words = translation.substr(begin, end - begin);
    if (begin > 0 && ColumnBehind(WithoutBlanks(words), column) > columns) {
      out.resize(WithoutBlanks(out).size());
      absl::StrAppend(&out, "\n", paragraph.rest);
      column = ColumnBehind(paragraph.rest);
    }
    absl::StrAppend(&out, words);
    column = ColumnBehind(words, column);
    begin = end;
  }
  return out;
}

}  // namespace nibu::internal
