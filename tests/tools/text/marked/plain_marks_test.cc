// Tests of the marks in plain text: tags, Markdown and the escapes of strings.
#include "tools/text/marked/plain_marks.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/text/marked/write_marked.h"
#include "tools/text/marked/markup.h"

namespace nibu::internal {
namespace {

// Returns the tokens of a line that are not plain text, each with a letter for its kind.
std::string Marks(const std::string& line) {
  std::string all;
  std::string marks;
  for (const MarkupToken& token : ReadPlainMarks(line)) {
    absl::StrAppend(&all, token.raw);
    if (token.kind == MarkupToken::kText && token.value.empty()) continue;
    const char kind = "t(). #|"[token.kind];
    absl::StrAppend(&marks, marks.empty() ? "" : " ", std::string(1, kind == ' ' ? '@' : kind),
                    token.raw, token.kind == MarkupToken::kText ? "=" + token.value : "");
  }
  EXPECT_EQ(all, line);
  return marks;
}

TEST(PlainMarksTest, FindsMarks) {
  EXPECT_EQ(Marks("a <b>c</b> <i class=\"x\">d</i>"), "(<b> )</b> (<i class=\"x\"> )</i>");
  EXPECT_EQ(Marks("a<br />b<BR>c <img src=x> <p>d"), "#<br /> #<BR> .<img src=x> #<p>");
  EXPECT_EQ(Marks("{\\i1}a{\\i0} {\\an8}b"), ".{\\i1} .{\\i0} .{\\an8}");
  EXPECT_EQ(Marks("a **b** *c* __d__ ~~e~~"), "(** )** (* )* (__ )__ (~~ )~~");
  EXPECT_EQ(Marks("**a *b* c** [d **e**](http://x)"), "(** (* )* )** ([ (** )** )](http://x)");
  EXPECT_EQ(Marks("run `a b`, ``c`` or :ref:`d <e>`"), "@`a b` @``c`` @:ref:`d <e>`");
  EXPECT_EQ(Marks("<code>a b</code> and <kbd>c</kbd>"), "@<code>a b</code> @<kbd>c</kbd>");
  EXPECT_EQ(Marks("a\\nb\\Nc\\td\\re"), "#\\n #\\N #\\t #\\r");
  EXPECT_EQ(Marks("\\\"a\\\" don\\'t \\u2019 <\\/b>"),
            "t\\\"=\" t\\\"=\" t\\'=' t\\u2019=\u2019 t\\/=/");
  EXPECT_EQ(Marks("100%% of 5 %%"), "t%%=% t%%=%");
  EXPECT_EQ(Marks("-x   extract  all\tb"), "#    #\t");
  EXPECT_EQ(Marks("![a](b) _c_ <<d>> <!-- e -->"), "(![ )](b) (_ )_ @<<d>> @<!-- e -->");
  EXPECT_EQ(Marks("\\x1b[1ma\\e[0m \\\\n \\d+ \\U0001F600 \\0 \\u{1F600}"),
            "@\\x1b[1m @\\e[0m @\\\\n @\\d+ @\\U0001F600 @\\0 @\\u{1F600}");
  // Two halves of a character, and a control character, are no text.
  EXPECT_EQ(Marks("\\ud83d\\ude00 \\u0007"), "@\\ud83d\\ude00 @\\u0007");
  // Tags that no element has, and that are no pair, are placeholders.
  EXPECT_EQ(Marks("copy <file> to <x>folder</x>"), "@<file> (<x> )</x>");
  EXPECT_EQ(Marks("<c.yellow>a <v Bob>b"), "@<c.yellow> (<v Bob>");
}

TEST(PlainMarksTest, ProseHasNone) {
  for (const char* line :
       {"a < b > c <3 x<y, 2*3*4 and 5 * 6 * 7, a__b__c, __NAME__, 100% of 5 %% or %",
        "C:\\new\\table, \\\\server\\new, `foo' and `bar', [1] (2), [a] (b), a*, * b, ** c **",
        "the sign '\\' and '\"' or \"\\\"",
        "snake_case_name *a * b* <> </> <-- --> << x >> { } {\\ } \\ \\x \\y"}) {
    EXPECT_EQ(Marks(line), "") << line;
  }
}

TEST(PlainMarksTest, LinesAreCutAndEnclosed) {
  const MarkedLine line = MarkupReader(Markup::kNone).Read("<i>a **b** c</i>\\nd \\\"e\\\"");
  ASSERT_EQ(line.segments.size(), 2u);
  EXPECT_EQ(line.segments[0].untouched, "<i>");
  EXPECT_EQ(line.segments[0].marked.text, "a b c");
  EXPECT_EQ(line.segments[1].untouched, "</i>\\n");
  EXPECT_EQ(line.segments[1].marked.text, "d \"e\"");
  EXPECT_EQ(EscapeText(line.segments[1].marked, "\"x\" & <y>"), "\\\"x\\\" & <y>");
  // Quotes of the other language are escaped, too, unless the source has them bare.
  EXPECT_EQ(EscapeText(line.segments[1].marked, "„x“"), "\\\"x\\\"");
  // A string with other quotes in escapes has no bare one either.
  const MarkedLine other = MarkupReader(Markup::kNone).Read("\\u201ca\\u201d");
  EXPECT_EQ(EscapeText(other.segments[0].marked, "\"x\" “y”"), "\\\"x\\\" \\u201cy\\u201d");
}

TEST(PlainMarksTest, AnyBytes) {
  std::mt19937 random(5);
  const std::vector<std::string> likely = {
      "<b>", "</b>", "<", ">", "\\n", "\\",   "**", "*",       "`",   "__", "[", "](",  ")",
      "~~",  "a",    " ", "%", "%%",  "\xff", "é",  "\\u00e9", "{\\", "}",  "'", "<br>"};
  for (int round = 0; round < 5000; ++round) {
    std::string line;
    for (size_t n = random() % 20; n > 0; --n) line += likely[random() % likely.size()];
    const MarkedLine marked = MarkupReader(Markup::kNone).Read(line);
    EXPECT_EQ(Write(marked), line);
    for (const MarkedLine::Segment& each : marked.segments) {
      EXPECT_TRUE(IsWellFormed(each.marked)) << line;
    }
  }
  for (const char* unit : {"**a", "<b>", "`", "[", "[a](", "\\n", "{\\", "<b ", "%%", "~~", "__"}) {
    std::string line;
    while (line.size() < 100000) line += unit;
    ReadPlainMarks(line);
  }
}

}  // namespace
}  // namespace nibu::internal
