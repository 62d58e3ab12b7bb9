// Tests of the text reader: lines, paragraphs and documents become units that do not depend on the
// chunks in which the text comes.
#include "tools/text/marked/text_reader.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/text/marked/read_units.h"
#include "tests/tools/text/marked/write_marked.h"

namespace nibu::internal {
namespace {

using ::testing::IsEmpty;

std::string Html(absl::string_view text) { return Again(Document(Markup::kHtml, text), "[", "]"); }
std::string Xml(absl::string_view text) { return Again(Document(Markup::kXml, text), "[", "]"); }

TEST(TextReaderTest, LinesAreUnits) {
  const auto units = ReadAll(TextKind::kLines, Markup::kNone, "a  b \r\n\n\r\nc\rd\r\n e<b>");
  EXPECT_EQ(Again(units), "a  b \n\n\nc\rd\n e<b>\n");
  EXPECT_EQ(units[3].line, 3u);
  EXPECT_EQ(units[3].end, 15u);
  EXPECT_FALSE(units[0].marked.is_marked);
  EXPECT_EQ(units[0].marked.segments[0].marked.text, "a  b ");
  EXPECT_THAT(ReadAll(TextKind::kLines, Markup::kNone, ""), IsEmpty());
  EXPECT_EQ(Again(ReadAll(TextKind::kLines, Markup::kNone, "a\r")), "a\n");
  EXPECT_EQ(ReadAll(TextKind::kLines, Markup::kNone, "\n").size(), 1u);
}

TEST(TextReaderTest, LinesOfMarkup) {
  const std::string page = "<p>A man is\na <!-- b\nc --> bicycle. </p>\n";
  const auto units = ReadAll(TextKind::kLines, Markup::kHtml, page);
  EXPECT_EQ(Again(units), page);
  MarkupReader reader(Markup::kHtml);
  for (const UnitParts& unit : units) {
    UnitParts expected = unit;
    expected.marked = reader.Read(unit.source);
    EXPECT_EQ(Dump(unit), Dump(expected));
  }
}

TEST(TextReaderTest, ParagraphsAreUnits) {
  const auto units = ReadAll(TextKind::kParagraphs, Markup::kNone,
                             "> A dog runs in the park and\r\n> barks at us.\n\n* a\n| a | b |\nc");
  EXPECT_EQ(Again(units), "> A dog runs in the park and barks at us.\n\n* a\n| a | b |\nc\n");
  EXPECT_EQ(units[0].source, "A dog runs in the park and barks at us.");
  EXPECT_EQ(units[3].marked.segments.size(), 4u);
  EXPECT_EQ(units[3].marked.segments[1].untouched, "|");
  EXPECT_EQ(units[3].marked.segments[1].marked.text, " a ");
  EXPECT_EQ(units[3].line, 4u);
}

TEST(TextReaderTest, BlocksAreTextsWhateverTheirLines) {
  EXPECT_EQ(Html("<p>A man is riding\na bicycle."), "<p>[A man is riding a bicycle.]");
  EXPECT_EQ(Html("<ul>\n  <li> A \t dog\r\n  runs. \n  <li>\n\n  Two  cats\n</ul>\n"),
            "<ul>\n  <li> [A dog runs.] \n  <li>\n\n  [Two cats]\n</ul>\n");
  EXPECT_EQ(Html("\uFEFF<!DOCTYPE html>\n<title>A\ndog</title>\n"),
            "\uFEFF<!DOCTYPE html>\n<title>[A dog]</title>\n");
  EXPECT_EQ(Html("\uFEFF\n A  dog \n"), "\uFEFF\n [A dog] \n");
  EXPECT_EQ(Html("<table><tr>\n<td>A\n<td>B &nbsp;\n c</table>"),
            "<table><tr>\n<td>[A]\n<td>[B &nbsp; c]</table>");
  EXPECT_EQ(Html("A\u00a0\n dog.&#10;x&#32;\n y"), "[A\u00a0 dog.]&#10;[x&#32; y]");
  EXPECT_EQ(Html(""), "");
  EXPECT_EQ(Html(" \n"), " \n");
  EXPECT_EQ(Html("\uFEFF"), "\uFEFF");
}

TEST(TextReaderTest, InlineTagsOverLines) {
  const auto units = Document(Markup::kHtml,
                              "<p>\nA <a\n  href='x'\n  title='b  c'>big\n  <i>red\n</i></a>\n"
                              "dog<img\nsrc=a>\n.</p>");
  EXPECT_EQ(Again(units, "[", "]"),
            "<p>\n[A <a\n  href='x'\n  title='b  c'>big <i>red </i></a> dog<img\nsrc=a> .]</p>");
  const MarkedText& text = units[0].marked.segments[0].marked;
  EXPECT_EQ(text.text, "A big red  dog .");
  EXPECT_TRUE(IsWellFormed(text));
  EXPECT_EQ(units[0].line, 1u);
  EXPECT_EQ(units[1].line, 8u);
  // White space collapses around comments and untranslated elements, but not within them.
  EXPECT_EQ(Html("A <!-- b\n  c -->\n dog <code>x\n  y</code>\n."),
            "[A <!-- b\n  c --> dog <code>x\n  y</code> .]");
}

TEST(TextReaderTest, WhiteSpaceThatIsPreserved) {
  EXPECT_EQ(Html("A\n b<pre>\nA  dog\n  <b>runs  .</b>\r\n\n</pre>c\n d"),
            "[A b]<pre>\nA  dog\n  <b>runs  .</b>\r\n\n</pre>[c d]");
  EXPECT_EQ(Html("<textarea>A  <b>\n&amp; b</textareas></p>\n</TEXTAREA >c\n d"),
            "<textarea>A  <b>\n&amp; b</textareas></p>\n</TEXTAREA >[c d]");
  EXPECT_EQ(Xml("<a xml:space=\"preserve\">A  b\r\n<a>c\n</a> d\ne</a><b>f\n g</b>"),
            "<a xml:space=\"preserve\">[A  b]\r\n<a>[c]\n</a> [d]\n[e]</a><b>[f g]</b>");
  EXPECT_EQ(Html("<a xml:space=\"preserve\">A  b\nc</a>"), "<a xml:space=\"preserve\">[A b c]</a>");
}

TEST(TextReaderTest, WhatIsLeftAlone) {
  const std::string script = "<script>\nif (a < b) {\n  '</p>' + \"<p>x\"\n}\n</script>";
  EXPECT_EQ(Html(absl::StrCat("A\nb", script, "<style>p  {\n}</style>c")),
            absl::StrCat("[A b]", script, "<style>p  {\n}</style>[c]"));
  EXPECT_EQ(Html("<!-- <p>a\n</p> -->\n<p>b <% if\n (c) %>\nd"),
            "<!-- <p>a\n</p> -->\n<p>[b <% if\n (c) %> d]");
  EXPECT_EQ(Html("<div translate=no>A\n<p>b\n<div>c</div>\n</div>d\ne"),
            "<div translate=no>A\n<p>b\n<div>c</div>\n</div>[d e]");
  EXPECT_EQ(Html("a < b\nR&D\nx <"), "[a < b R&D x <]");
}

TEST(TextReaderTest, XmlDocumentsAreReadByBlocks) {
  EXPECT_EQ(Xml("<?xml version='1.0'?>\n<doc>\n  <p>A\n    <b>dog</b>\n  runs.</p>\n  <p>b</p>\n"
                "</doc>\n"),
            "<?xml version='1.0'?>\n<doc>\n  <p>[A <b>dog</b> runs.]</p>\n  <p>[b]</p>\n</doc>\n");
  EXPECT_EQ(Xml("<a><![CDATA[A &lt;\n  dog]]] ]]>\n</a>"), "<a><![CDATA[[A &lt; dog]]]] ]]>\n</a>");
  EXPECT_EQ(Xml("<!DOCTYPE a [\n<!ENTITY b 'c>'>\n]>\n<a>b\n&b;</a>"),
            "<!DOCTYPE a [\n<!ENTITY b 'c>'>\n]>\n<a>[b &b;]</a>");
}

TEST(TextReaderTest, KnowsWhatIsOpen) {
  for (const char* open : {"a <!-- b", "<code>a", "<p>x <a href=\"b\"", "<script>", "<a b='"}) {
    TextReader reader(TextKind::kDocument, Markup::kHtml);
    reader.Add(open);
    reader.End();
    UnitParts unit;
    std::string out;
    while (reader.Next(&unit)) absl::StrAppend(&out, unit.before, unit.source);
    EXPECT_EQ(out, open);
    EXPECT_TRUE(reader.is_open()) << open;
  }
}

// A text is a unit as soon as the block tag behind it is read.
TEST(TextReaderTest, DoesNotWaitForMoreThanTheEndOfABlock) {
  TextReader reader(TextKind::kDocument, Markup::kHtml);
  UnitParts unit;
  reader.Add("<p>A dog <b>runs");
  EXPECT_FALSE(reader.Next(&unit));
  reader.Add("</b>.</p");
  EXPECT_FALSE(reader.Next(&unit));
  reader.Add(">");
  ASSERT_TRUE(reader.Next(&unit));
  EXPECT_EQ(unit.source, "A dog <b>runs</b>.");
  EXPECT_FALSE(reader.Next(&unit));
}

const Strings& Pieces() {
  static const auto* pieces = new Strings({"<b>",
                                           "</b>",
                                           "<i\nx='y\n z'>",
                                           "</i>",
                                           "<p>",
                                           "</p>",
                                           "<br/>",
                                           "<img>",
                                           "<code>",
                                           "</code>",
                                           "<script>",
                                           "</script>",
                                           "<pre>",
                                           "</pre>",
                                           "a ",
                                           "b",
                                           "\n",
                                           "\r\n",
                                           "  ",
                                           "é",
                                           "&amp;",
                                           "&#10;",
                                           "<!--",
                                           "-->",
                                           "--!>",
                                           "<![CDATA[",
                                           "]]>",
                                           "<?x",
                                           "?>",
                                           "<a b='",
                                           "'",
                                           "\"",
                                           ">",
                                           "<",
                                           "&",
                                           "<%",
                                           "%>",
                                           "<!DOCTYPE x [",
                                           "]>",
                                           "<u",
                                           "/>",
                                           "\xc3",
                                           "</textarea>",
                                           "<textarea>",
                                           "<li translate=no>",
                                           "<li>",
                                           "</ul>",
                                           "<x xml:space='preserve'>",
                                           "</x>",
                                           "]",
                                           "\uFEFF",
                                           "=",
                                           "\uFFFC",
                                           "<bpt>",
                                           "</bpt>",
                                           "</ ",
                                           " | ",
                                           "&raquo;",
                                           "<string>"});
  return *pieces;
}

void ExpectSameUnits(TextKind kind, Markup markup, const std::string& text, unsigned seed) {
  const size_t max_piece = seed % 4 == 0 ? 64 : MarkupReader::kMaxPiece;
  const auto whole = ReadAll(kind, markup, text, max_piece);
  std::mt19937 random(seed);
  const size_t most = 1 + seed % 40;
  const auto next_size = [&] { return 1 + random() % most; };
  EXPECT_EQ(Dump(ReadChunks(kind, markup, text, next_size, nullptr, max_piece)), Dump(whole))
      << text;
  const std::string again = Again(whole);
  EXPECT_EQ(whole.empty() ? 0 : whole.back().end, text.size());
  if (kind != TextKind::kDocument) return;
  EXPECT_EQ(WithoutBlanks(again), WithoutBlanks(text));
  for (const UnitParts& unit : whole) {
    for (const auto& segment : unit.marked.segments) {
      ASSERT_TRUE(IsWellFormed(segment.marked)) << text;
      ASSERT_EQ(segment.marked.text.find('\n'), std::string::npos) << text;
    }
  }
  if (max_piece == 64) return;
  // The output is the same after it is read again.
  EXPECT_EQ(Again(Document(markup, again)), again) << text;
}

TEST(TextReaderTest, UnitsDoNotDependOnChunks) {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 4000; ++round) {
    std::string text;
    for (int n = random() % 40; n > 0; --n) {
      const size_t among = random() % 4 == 0 ? Pieces().size() : 22;
      absl::StrAppend(&text, Pieces()[random() % among], random() % 3 == 0 ? "w" : "");
    }
    for (const Markup markup : {Markup::kHtml, Markup::kXml}) {
      ExpectSameUnits(TextKind::kDocument, markup, text, round);
      ExpectSameUnits(TextKind::kLines, markup, text, round);
    }
    ExpectSameUnits(TextKind::kLines, Markup::kNone, text, round);
    ExpectSameUnits(TextKind::kParagraphs, Markup::kNone, text, round);
    if (HasFailure()) return;
  }
}

// The end of a comment, element or tag that is longer than a piece is found wherever the pieces
// end.
TEST(TextReaderTest, FindsTheEndsOfLongParts) {
  const std::pair<std::string, std::string> parts[] = {
      {"<!--", "-->"},      {"<!-- ", "--!>"}, {"<script>", "</script>"},   {"<svg>", "</svg>"},
      {"<img alt='", "'>"}, {"<? ", ">"},      {"<p translate=no>", "</p>"}};
  for (const auto& [begin, end] : parts) {
    for (size_t size = 0; size < 300; ++size) {
      const std::string part = absl::StrCat(begin, std::string(size, 'x'), end);
      const std::string page = absl::StrCat("<p>A\nb<p>", part, "<p>C\nd");
      const auto units = ReadAll(TextKind::kDocument, Markup::kHtml, page, 64);
      ASSERT_EQ(Again(units), absl::StrCat("<p>A b<p>", part, "<p>C d"));
      ASSERT_EQ(units.back().source, "C d") << page;
    }
  }
}

// Returns the texts of an HTML document, those in its tags included, and expects that the units
// make the document again.
Strings TextsOfPage(const std::string& page, const std::string& language = "") {
  TextReader reader(TextKind::kDocument, Markup::kHtml, MarkupReader::kMaxPiece,
                    /*has_values=*/true, language);
  reader.Add(page);
  reader.End();
  Strings texts;
  std::string again;
  for (UnitParts unit; reader.Next(&unit);) {
    for (const auto& segment : unit.marked.segments) texts.push_back(segment.marked.text);
    absl::StrAppend(&again, unit.before, Written(unit));
  }
  EXPECT_EQ(again, page);
  return texts;
}

TEST(TextReaderTest, TextsInTagsAreUnits) {
  EXPECT_EQ(
      TextsOfPage("<html dir=ltr lang='en'><title>A</title><img ALT=\"B &amp; C\" title='&quot;'>"),
      Strings({"ltr", "en", "A", "B & C"}));
  EXPECT_EQ(TextsOfPage("<html lang=en><link title=A><style title=B></style><p title=\"C\">D</p>"),
            Strings({"en", "", "C", "D"}));
  EXPECT_EQ(TextsOfPage("<meta name=Description content='A'><meta property='og:description' "
                        "content='B'><meta name=keywords content=C>"),
            Strings({"A", "B"}));
  EXPECT_EQ(TextsOfPage("<input type=submit value='A'><input value=B placeholder='C'><button "
                        "value=D aria-label='E'>F</button><textarea>G\nH</textarea>"),
            Strings({"A", "C", "E", "F", "G", "H"}));
  // The values of tags in a text come before it.
  EXPECT_EQ(
      TextsOfPage("<p><b title='A'>B</b> c <img alt='D'>e <i title='F'>g</i> <a title='H'></a>"),
      Strings({"A", "D", "F", "B c e g", "H"}));
  EXPECT_EQ(TextsOfPage("<p translate=no title=A>B<pre title='C'>D</pre>"), Strings({"C"}));
  EXPECT_EQ(
      TextsOfPage("<iframe title='A' src=b></iframe><svg aria-label='B'><path title='C'/></svg>"),
      Strings({"A", "B"}));
  EXPECT_EQ(TextsOfPage("<pre translate=no title='A'></pre><script title='B'></script>"),
            Strings());
  // Texts with the marks of values' places, or with references to them.
  EXPECT_EQ(TextsOfPage("<p>a <img alt='\uFDD0'> <img alt='B'> c"), Strings({"a   c"}));
  EXPECT_EQ(TextsOfPage("<p>a \uFDD1 b"), Strings({"a \uFDD1 b"}));
  EXPECT_EQ(TextsOfPage("<p>a <img alt='B'> &#xFDD1; c"), Strings({"a  \uFDD1 c"}));
  EXPECT_EQ(TextsOfPage("<p>a <img alt='B&#xFDD1;' title='C'> d"), Strings({"C", "a  d"}));
}

TEST(TextReaderTest, ElementsInOtherLanguagesAreLeft) {
  EXPECT_EQ(TextsOfPage("<p>A<p lang=fr>B<p lang=en-GB>C", "eng_Latn"), Strings({"A", "C"}));
  EXPECT_EQ(TextsOfPage("<p lang=fr title='A'>B</p><img lang=fr alt='C'><img alt='D'>", "en"),
            Strings({"D"}));
  EXPECT_EQ(TextsOfPage("<html lang=fr dir=ltr><p>A<p lang=fr>B<p lang=en>C"),
            Strings({"fr", "ltr", "A", "B"}));
  EXPECT_EQ(TextsOfPage("<p>A<p lang=fr>B<p lang=''>C<p lang='x y'>D"),
            Strings({"A", "B", "C", "D"}));
  // An element in one of another language may have the source's.
  EXPECT_EQ(TextsOfPage("<div lang=fr>A<p lang=en>B <i lang=fr>c</i> d</p>E</div><p>F", "en"),
            Strings({"B \uFFFC d", "F"}));
  EXPECT_EQ(TextsOfPage("<div lang=fr>A<p lang=''>B</p><p lang=de>C</p></div>", "en"), Strings());
  EXPECT_EQ(TextsOfPage("<div lang=fr translate=no><p lang=en>A</p><p translate=yes>B</p>"
                        "<p lang=en translate=yes>C</p></div>",
                        "en"),
            Strings({"C"}));
}

TEST(TextReaderTest, ElementsAreTranslatedInOnesThatAreNot) {
  EXPECT_EQ(TextsOfPage("<div translate=no>A<p translate=yes>B<i>c</i></p>D</div>E"),
            Strings({"Bc", "E"}));
  EXPECT_EQ(TextsOfPage("<p>See <b class=notranslate>A <i translate='yes'>B</i> C</b> d."),
            Strings({"See", "B", "d."}));
  EXPECT_EQ(TextsOfPage("<code>A <b translate=yes>B</b></code>"), Strings());
  EXPECT_EQ(TextsOfPage("<p translate=no>A <code translate=yes>B</code> C</p>"), Strings());
}

}  // namespace
}  // namespace nibu::internal
