// Tests of the layout of paragraphs: which lines are joined, what stands in front of them, and how
// they are wrapped again.
#include "tools/text/marked/layout.h"

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sanitizers.h"
#include "tokenizer/unicode/typesetting.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using Strings = std::vector<std::string>;

std::deque<Paragraph> Read(const std::string& text) {
  ParagraphReader reader;
  std::deque<Paragraph> paragraphs;
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  for (const std::string& line : lines) reader.Add(line, &paragraphs);
  reader.End(&paragraphs);
  return paragraphs;
}

// Writes a text again, with a translation that changes nothing.
std::string Again(const std::string& text, size_t columns) {
  std::string out;
  for (const Paragraph& each : Read(text))
    absl::StrAppend(&out, Reflow(each, each.text, columns), "\n");
  return out;
}

// Returns "first|text" for each paragraph.
Strings Parts(const std::string& text) {
  Strings parts;
  for (const Paragraph& each : Read(text))
    parts.push_back(absl::StrCat(each.first, "|", each.text));
  return parts;
}

TEST(LayoutTest, LinesOfAParagraphAreJoined) {
  EXPECT_THAT(Parts("A dog\nruns in  \tthe\npark. \n"),
              ElementsAre("|A dog runs in  \tthe park. "));
  EXPECT_THAT(Parts("A dog \nruns."), ElementsAre("|A dog runs."));
  EXPECT_THAT(Parts("A\u00a0dog\t\nruns."), ElementsAre("|A\u00a0dog\t runs."));
  EXPECT_THAT(Parts("a b\n\n \t\nc d\n"), ElementsAre("|a b", "|", " \t|", "|c d"));
  EXPECT_THAT(Parts(""), ElementsAre());
  EXPECT_EQ(Read("a b\nc d\n\ne").back().line, 3u);
}

TEST(LayoutTest, ScriptsWithoutBlanks) {
  EXPECT_THAT(Parts("两只狗在公园\n里玩。\n"), ElementsAre("|两只狗在公园里玩。"));
  EXPECT_THAT(Parts("　　两只狗在公园\n里玩。\n　　一个人。\n"),
              ElementsAre("　　|两只狗在公园里玩。", "　　|一个人。"));
}

TEST(LayoutTest, HyphensAtLineEndsStay) {
  EXPECT_THAT(Parts("it is well-\nknown"), ElementsAre("|it is well-known"));
  EXPECT_THAT(Parts("it is ex\u00ad\nample"), ElementsAre("|it is ex\u00adample"));
  EXPECT_THAT(Parts("it has Vor-\nund Nachteile"), ElementsAre("|it has Vor- und Nachteile"));
  EXPECT_THAT(Parts("a dog -\nor a cat"), ElementsAre("|a dog - or a cat"));
  EXPECT_THAT(Parts("from 1990-\n1995"), ElementsAre("|from 1990-1995"));
}

TEST(LayoutTest, QuotedLinesAreJoinedByDepth) {
  EXPECT_THAT(Parts("> a dog\n> runs\n>\n>> and a\n> > cat\n> sleeps\nhere"),
              ElementsAre("> |a dog runs", ">|", ">> |and a cat", "> |sleeps", "|here"));
  EXPECT_THAT(Parts(">a dog\n>runs"), ElementsAre(">|a dog runs"));
  EXPECT_THAT(Parts("> - a dog\n>   runs\n> - a cat"),
              ElementsAre("> - |a dog runs", "> - |a cat"));
}

TEST(LayoutTest, BulletsAndNumbers) {
  EXPECT_THAT(Parts("- a dog\n  runs\n- a cat\nsleeps\n* one\n  * two\n• three\n"),
              ElementsAre("- |a dog runs", "- |a cat sleeps", "* |one", "  * |two", "• |three"));
  EXPECT_THAT(Parts("1. a\n2. b\n   c\n10. d\na) e\nb) f\n(1) g\n1.2. h\n"),
              ElementsAre("1. |a", "2. |b c", "10. |d", "a) |e", "b) |f", "(1) |g", "1.2. |h"));
  // A number in running text does not begin an item, and neither does an initial.
  EXPECT_THAT(Parts("it was in the park by the river on the\n3. October, late and at night, "
                    "when\nA. Dog came"),
              ElementsAre("|it was in the park by the river on the 3. October, late and at night, "
                          "when A. Dog came"));
  EXPECT_THAT(Parts("- item\n\n  of two\n  lines"), ElementsAre("- |item", "|", "  |of two lines"));
  EXPECT_THAT(Parts("i. a\nii. b\niii. c\niv. d\nv. e\n(h) f\n(i) g\n(j) h\nII. i\nIII. j\n"),
              ElementsAre("i. |a", "ii. |b", "iii. |c", "iv. |d", "v. |e", "(h) |f", "(i) |g",
                          "(j) |h", "II. |i", "III. |j"));
  EXPECT_THAT(
      Parts("  o  a dog\n     runs\n  o  b\n- [ ] c\n- [x] d\n✓ e\n✓ f\no g"),
      ElementsAre("  o  |a dog runs", "  o  |b", "- [ ] |c", "- [x] |d", "✓ |e", "✓ |f o g"));
  EXPECT_THAT(Parts("_x\n*bold* is\n*more*"), ElementsAre("|_x *bold* is *more*"));
}

TEST(LayoutTest, IndentationBeginsParagraphs) {
  EXPECT_THAT(Parts("  a dog runs\n  in the park\nand a cat sleeps"),
              ElementsAre("  |a dog runs in the park", "|and a cat sleeps"));
  EXPECT_THAT(Parts("  A dog runs\nin the park\nall day.\n  A cat\nsleeps."),
              ElementsAre("  |A dog runs in the park all day.", "  |A cat sleeps."));
  EXPECT_THAT(Parts("NAME\n    nibu - translates text\n"),
              ElementsAre("|NAME", "    |nibu - translates text"));
  EXPECT_THAT(
      Parts("Smith, J. 2010. A paper on very many dogs and a few cats that\n    run in parks\n    "
            "all day"),
      ElementsAre(
          "|Smith, J. 2010. A paper on very many dogs and a few cats that run in parks all day"));
  EXPECT_THAT(Parts("a dog runs\n\fand a cat"), ElementsAre("|a dog runs", "\f|and a cat"));
}

TEST(LayoutTest, ShortLinesEndParagraphs) {
  const std::string text = "A long line of text that goes on and on to its end, which is\nhere";
  EXPECT_THAT(Parts("Heading\n" + text)[0], "|Heading");
  EXPECT_THAT(Parts("With this:\nthe " + text)[0], "|With this:");
  EXPECT_THAT(Parts("Dear Jane,\nthe " + text)[0], "|Dear Jane,");
  EXPECT_EQ(Parts("and when it rained all day,\nthe " + text).size(), 1u);
  EXPECT_THAT(Parts(text + ".\nAnother begins on this line, and it is as long as that."),
              testing::SizeIs(2));
  EXPECT_THAT(Parts(text + "\n\nJane Doe\nExample Ltd"),
              ElementsAre(testing::_, "|", "|Jane Doe", "|Example Ltd"));
}

TEST(LayoutTest, LinesThatStandAlone) {
  EXPECT_THAT(Parts("Title of it\n=====\nand text\n---\n"),
              ElementsAre("|Title of it", "=====|", "|and text", "---|"));
  EXPECT_THAT(Parts("# A title of it\nand text\n"), ElementsAre("# |A title of it", "|and text"));
  EXPECT_THAT(Parts("text\n-- \njane doe\nexample ltd\n\nand some\nmore"),
              ElementsAre("|text", "-- |", "|jane doe", "|example ltd", "|", "|and some more"));
  EXPECT_THAT(Parts("From: jane\nTo: a very long list of many people, of\n whom all read\n"),
              ElementsAre("|From: jane", "|To: a very long list of many people, of whom all read"));
  EXPECT_THAT(Parts("a break  \nis kept"), ElementsAre("|a break  ", "|is kept"));
  EXPECT_THAT(Parts("a\n```sh\nmake all\n make\n```\nb\nc"),
              ElementsAre("|a", "```sh|", "make all|", " make|", "```|", "|b c"));
  EXPECT_THAT(Parts("~~~\n```\na\nb\n~~~\nc\nd"),
              ElementsAre("~~~|", "```|", "a|", "b|", "~~~|", "|c d"));
  EXPECT_THAT(Parts("   TITLE OF A BOOK\n       By Jane Doe\n"),
              ElementsAre("   |TITLE OF A BOOK", "       |By Jane Doe"));
  EXPECT_THAT(Parts("    $ make all\n    done\n    $ make\n"),
              ElementsAre("    |$ make all", "    |done", "    |$ make"));
  EXPECT_THAT(Parts("| a | b |\n| c | d |"), ElementsAre("|| a | b |", "|| c | d |"));
}

// These short lines are not sentences: lists, addresses, options, columns.
TEST(LayoutTest, ShortLinesStandAlone) {
  for (const std::string text :
       {"A man:\n    A woman sits.\nA dog:\n    A cat runs.\n",
        "  -h  A man\n      sits.\n  -v  A dog runs.\n",
        "    --long\n         A cat sits.\n    --other\n", "Best regards\nBob Smith\nDirector\n",
        "John Smith\n12 Main Street\nLondon\n", "http://a.org/x\nhttp://b.org/y\n",
        "10:00 A man sits\n11:00 A dog runs\n",
        "See the links:\n[1] http://a.org/x\n[2] http://b.org/y\n",
        "    -a   A man sits on a bench in the park and reads a very long book.\n"
        "    -b   A dog runs through the park and eats a very large red apple.\n",
        "  man      woman     dog\n  1        2         3\n", "\tOne\tTwo\n\t1\t2\n"}) {
    EXPECT_EQ(Again(text, 0), text);
  }
}

TEST(LayoutTest, WrapsBetweenWordsBehindTheIndent) {
  const auto wrap = [](const std::string& text) { return Again(text, 12); };
  EXPECT_EQ(wrap("one two three four five"), "one two\nthree four\nfive\n");
  EXPECT_EQ(wrap("- one two three four"), "- one two\n  three four\n");
  EXPECT_EQ(wrap("12. one two\n\tthree four"), "12. one two\n\tthree\n\tfour\n");
  EXPECT_EQ(wrap("> > one two three"), "> > one two\n> > three\n");
  EXPECT_EQ(wrap("   one two\nthree four"), "   one two\nthree four\n");
  EXPECT_EQ(wrap("extraordinarily big"), "extraordinarily\nbig\n");
  EXPECT_EQ(wrap("two sentences.  More"), "two\nsentences.\nMore\n");
  EXPECT_EQ(wrap("# one two three four"), "# one two three four\n");
  // No line may begin with "- ", as an item would.
  EXPECT_EQ(wrap("one two thre - four"), "one two\nthre - four\n");
  EXPECT_EQ(wrap("两只狗在公园里玩。"), "两只狗在公园\n里玩。\n");
  EXPECT_EQ(wrap("e\u0301e\u0301e\u0301 e\u0301e\u0301e\u0301 e\u0301e\u0301e\u0301 x"),
            "e\u0301e\u0301e\u0301 e\u0301e\u0301e\u0301 e\u0301e\u0301e\u0301\nx\n");
  EXPECT_EQ(wrap("\fone two three four"), "\fone two\nthree four\n");
}

TEST(LayoutTest, BoundsParagraphs) {
  std::string text;
  for (int i = 0; i < 50000; ++i) absl::StrAppend(&text, "these are words of a text without end\n");
  size_t total = 0;
  const auto paragraphs = Read(text);
  EXPECT_EQ(paragraphs.size(), 2u);
  for (const Paragraph& each : paragraphs) {
    EXPECT_LE(each.text.size(), size_t{1} << 20);
    total += each.text.size() + 1;
  }
  EXPECT_EQ(total, text.size());
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  size_t operator()(size_t count) { return engine_() % count; }
  std::string Of(const Strings& all) { return all[(*this)(all.size())]; }
  std::string Words(size_t count) {
    Strings words;
    for (size_t i = 0; i < count; ++i) words.push_back(std::string(1 + (*this)(9), 'a') + "b");
    return absl::StrJoin(words, " ");
  }

 private:
  std::mt19937 engine_;
};

const Strings& Prefixes() {
  static const Strings& all =
      *new Strings{"",    "  ",   "\t",   "- ", "  * ",         "• ",  "1. ",  "a) ",   "> ",
                   ">> ", "> > ", "> - ", ">",  "\u3000\u3000", "## ", "(2) ", "\u00a0"};
  return all;
}

std::string Visible(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(),
                            [](char c) { return absl::StrContains(" \t\n\r>", c); }),
             text.end());
  return text;
}

// Whatever a text is, only blanks, marks of quoting and line ends change.
TEST(LayoutProperty, NothingIsLost) {
  Random random(1);
  const Strings pieces = {"word",   "a",      "B.",
                          " ",      " ",      "\n",
                          "\n",     "\n",     ">",
                          "-",      "- ",     "1.",
                          "2) ",    "\n\n",   "  ",
                          "\t",     "\f",     "```",
                          "|",      "#",      "\xff",
                          "ä",      "你",     "好。",
                          "-\n",    "\u00ad", "==\n",
                          "-- ",    ":",      "A: ",
                          "\u0301", "\r",     std::string(1, '\0'),
                          "ภาษาไทย"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (size_t i = random(60); i > 0; --i) text += random.Of(pieces);
    for (const size_t columns : {size_t{0}, size_t{1}, size_t{20}}) {
      ASSERT_EQ(Visible(Again(text, columns)), Visible(text)) << text << "\n" << columns;
    }
  }
}

TEST(LayoutProperty, OneLineParagraphsStayAsTheyAre) {
  Random random(2);
  const Strings blanks = {"", " ", ">", "\t", "> > ", "***", "\f"};
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (size_t i = random(10); i > 0; --i) {
      absl::StrAppend(&text, random.Of(Prefixes()), random.Words(1 + random(20)),
                      random.Of({"", " ", "  ", "\t", "."}), "\n", random.Of(blanks), "\n");
    }
    ASSERT_EQ(Again(text, 0), text);
  }
}

TEST(LayoutProperty, WrappedLinesAreNarrow) {
  Random random(3);
  for (int round = 0; round < 1000; ++round) {
    std::string text;
    for (size_t i = random(10); i > 0; --i) {
      absl::StrAppend(&text, random.Of(Prefixes()), random.Words(1 + random(40)), "\n\n");
    }
    const size_t columns = 10 + random(70);
    const std::string wrapped = Again(text, columns);
    for (const absl::string_view line : absl::StrSplit(wrapped, '\n')) {
      if (ColumnBehind(line) <= columns || absl::StartsWith(line, "#")) continue;
      EXPECT_EQ(std::count(line.begin(), line.end(), 'b'), 1) << line;  // It is a single word.
    }
    // Read again, each is one paragraph.
    EXPECT_EQ(Again(wrapped, 0), text) << wrapped;
  }
}

// The time to read a text is linear in its length.
TEST(LayoutProperty, LongLinesOfAnything) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  for (const std::string piece :
       {"> ", ">", "- ", "1.", " ", "a ", "你", "a", "\t", "-", "\xff", "| ", "a - "}) {
    std::string line;
    while (line.size() < 300000) line += piece;
    EXPECT_EQ(Visible(Again(line + "\nword\n", 72)), Visible(line + "word")) << piece;
  }
}

}  // namespace
}  // namespace nibu::internal
