// Tests of the reader of HTML and XML: which parts are text, which tags become annotations of it,
// which are left alone, and that nothing is lost.
#include "tools/text/marked/markup.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/text/marked/write_marked.h"

namespace nibu::internal {
namespace {

using Lines = std::vector<std::string>;

// Shows a line: texts as `[...]`, annotations that enclose something as `(<b>|word|</b>)`, those
// that do not as `(<img>)`, and what stands for a text as `{...}`.
std::string Show(const MarkedLine& marked) {
  std::string shown;
  for (const MarkedLine::Segment& segment : marked.segments) {
    absl::StrAppend(&shown, segment.untouched, "[");
    MarkedText visible = segment.marked;
    visible.markup = Markup::kNone;
    visible.references.reset();
    visible.entities.clear();
    for (Annotation& annotation : visible.annotations) {
      if (annotation.replaces) {
        annotation.before = absl::StrCat("{", annotation.before, "}");
      } else if (annotation.span.begin == annotation.span.end) {
        annotation.before = absl::StrCat("(", annotation.before, ")");
      } else {
        annotation.before = absl::StrCat("(", annotation.before, "|");
        annotation.after = absl::StrCat("|", annotation.after, ")");
      }
    }
    absl::StrAppend(&shown, Write(visible), "]");
  }
  return absl::StrCat(shown, marked.untouched);
}

// Shows all lines of a text, and expects that every one of them is written as it was.
Lines Read(Markup kind, const Lines& lines) {
  MarkupReader reader(kind);
  Lines shown;
  for (const std::string& line : lines) {
    const MarkedLine marked = reader.Read(line);
    EXPECT_EQ(Write(marked), line);
    for (const auto& segment : marked.segments) EXPECT_TRUE(IsWellFormed(segment.marked));
    shown.push_back(Show(marked));
  }
  return shown;
}

std::string Html(const std::string& line) { return Read(Markup::kHtml, {line})[0]; }
std::string Xml(const std::string& line) { return Read(Markup::kXml, {line})[0]; }

TEST(MarkupTest, TextWithoutMarkupIsOneText) {
  for (const std::string line :
       {"A dog runs.", "  Two  blanks. ", "R&D at AT&T, Q&A; A < B > C <3 <", "x <y and z & more",
        "\xff\xfe\x80 broken \xc3", "&; &#; & amp; &am", "</ 3 <- -> <= <>", "a </", "]]>"}) {
    for (Markup kind : {Markup::kNone, Markup::kHtml, Markup::kXml}) {
      if (kind == Markup::kXml && line[0] == 'R') continue;  // &A; may be defined in XML.
      EXPECT_EQ(Read(kind, {line})[0], absl::StrCat("[", line, "]"));
    }
  }
  EXPECT_EQ(Html(" \t\u00a0 "), " \t\u00a0 ");
  EXPECT_EQ(Html(""), "");
}

TEST(MarkupTest, InlineTagsAreCarried) {
  EXPECT_EQ(Html("A <b>big</b> dog."), "[A (<b>|big|</b>) dog.]");
  EXPECT_EQ(Html("A <B CLASS='x>y' a=\"b\" c >big</b > dog."),
            "[A (<B CLASS='x>y' a=\"b\" c >|big|</b >) dog.]");
  EXPECT_EQ(Html("A <i><b>big</b> dog</i>."), "[A (<i>|(<b>|big|</b>) dog|</i>).]");
  EXPECT_EQ(Html("A <i><b>big</b></i> dog."), "[A (<i>|(<b>|big|</b>)|</i>) dog.]");
  EXPECT_EQ(Html("A <img src=a.png> dog<wbr>house<input/>!"),
            "[A (<img src=a.png>) dog(<wbr>)house(<input/>)!]");
  EXPECT_EQ(Html("A <a href=http://x.org/>big</a> dog."),
            "[A (<a href=http://x.org/>|big|</a>) dog.]");
  EXPECT_EQ(Html("A </ b>big</&> dog </."), "[A (</ b>)big(</&>) dog </.]");
  EXPECT_EQ(Html("A <x-y>big</x-y> dog."), "[A (<x-y>|big|</x-y>) dog.]");
  EXPECT_EQ(Html("A <!-- very --> big dog."), "[A (<!-- very -->) big dog.]");
  EXPECT_EQ(Html("A <b></b>big <i><img></i>dog."), "[A (<b></b>)big (<i><img></i>)dog.]");
  EXPECT_EQ(Html("A <b><img>big<img></b><img> dog."), "[A (<b><img>|big|<img></b>)(<img>) dog.]");
}

TEST(MarkupTest, WhatEnclosesATextIsUntouched) {
  EXPECT_EQ(Html("<b> A dog. </b>"), "<b> [A dog.] </b>");
  EXPECT_EQ(Html("<img> &nbsp;<i><b>A</b> dog.</i> <!-- c -->"),
            "<img> &nbsp;<i>[(<b>|A|</b>) dog.]</i> <!-- c -->");
  EXPECT_EQ(Html("<b>A dog"), "<b>[A dog]");
  EXPECT_EQ(Html("A dog</b> <i>"), "[A dog]</b> <i>");
  EXPECT_EQ(Html("<b></b><i></i>"), "<b></b><i></i>");
}

TEST(MarkupTest, BlockTagsSeparate) {
  EXPECT_EQ(Html("<p>A dog.<P>A <b>cat.</b></p></div>x<br>y"),
            "<p>[A dog.]<P>[A (<b>|cat.|</b>)]</p></div>[x]<br>[y]");
  EXPECT_EQ(Html(" <td> A dog. </td><td>&nbsp;</td> "), " <td> [A dog.] </td><td>&nbsp;</td> ");
  EXPECT_EQ(Html("A <b>dog<p>A big</b> cat"), "[A (<b>|dog|)]<p>[(|A big|</b>) cat]");
  EXPECT_EQ(Html("A dog.&#10;A cat."), "[A dog.]&#10;[A cat.]");
}

// Where nothing but white space and separators stand between elements, each is a text.
TEST(MarkupTest, MenusAreSeveralTexts) {
  EXPECT_EQ(Html("<a>Home</a><a>News</a>"), "<a>[Home]</a><a>[News]</a>");
  EXPECT_EQ(Html("<a>Home</a> &raquo; <a>All <b>books</b></a> | <i></i><a>x</a>"),
            "<a>[Home]</a> &raquo; <a>[All (<b>|books|</b>)]</a> | <i></i><a>[x]</a>");
  EXPECT_EQ(Html("<span><a>Home</a> <!-- c --> <img> <a> News </a></span> <a>[1]</a>"),
            "<span><a>[Home]</a> <!-- c --> <img> <a> [News] </a></span> <a>[1]</a>");
  EXPECT_EQ(Html("Press <button>Save</button> now. <label><input> Yes</label>"),
            "[Press] <button>[Save]</button> [now.] <label><input> [Yes]</label>");
  EXPECT_EQ(Html("<a>A dog</a><svg></svg> <code>x</code>"),
            "<a>[A dog]</a><svg></svg> <code>x</code>");
  EXPECT_EQ(Html("Tags: <a>dog</a> <a>cat</a>"), "[Tags:] <a>[dog]</a> <a>[cat]</a>");
  EXPECT_EQ(Html("Red: <input type=\"radio\"> Yes <input type=\"radio\"> No"),
            "[Red:] <input type=\"radio\"> [Yes] <input type=\"radio\"> [No]");
  EXPECT_EQ(Html("Sure? <a>Save</a> <a>Cancel</a>"), "[Sure?] <a>[Save]</a> <a>[Cancel]</a>");
  EXPECT_EQ(Html("Yes! <a>Home</a><a>News</a>"), "[Yes!] <a>[Home]</a><a>[News]</a>");
  EXPECT_EQ(Html("Yes. <b>He</b> is <i>big</i>."), "[Yes. (<b>|He|</b>) is (<i>|big|</i>).]");
  EXPECT_EQ(Html("See Dr. <b>Big</b>"), "[See Dr. (<b>|Big|</b>)]");
  EXPECT_EQ(Html("<a>Home</a> | Dogs | <a>Cats</a> &raquo; Big cats"),
            "<a>[Home]</a> | [Dogs] | <a>[Cats]</a> &raquo; [Big cats]");
  EXPECT_EQ(Html("Home &gt; <a>Read &raquo;</a>"), "[Home] &gt; <a>[Read] &raquo;</a>");
  // These are sentences.
  EXPECT_EQ(Html("&laquo; Chien &raquo; <b>ici</b>"), "[« Chien » (<b>|ici|</b>)]");
  EXPECT_EQ(Html("Note: <b>the dog</b> is."), "[Note: (<b>|the dog|</b>) is.]");
  EXPECT_EQ(Html("Note: <b>dogs</b>"), "[Note: (<b>|dogs|</b>)]");
  EXPECT_EQ(Html("A <a><img> b</a>"), "[A (<a>|(<img>) b|</a>)]");
  EXPECT_EQ(Html("<b>A dog</b> <i>runs</i>."), "[(<b>|A dog|</b>) (<i>|runs|</i>).]");
  EXPECT_EQ(Html("<b>A dog</b> / cat runs."), "[(<b>|A dog|</b>) / cat runs.]");
  EXPECT_EQ(Html("<b>A dog</b> and <i>cat</i>"), "[(<b>|A dog|</b>) and (<i>|cat|</i>)]");
  EXPECT_EQ(Html("<b>Stop</b>!"), "[(<b>|Stop|</b>)!]");
  EXPECT_EQ(Html("<i>The dog</i><i> is big</i>"), "[(<i>|The dog|</i>)(<i>| is big|</i>)]");
  EXPECT_EQ(Html("<b>Hello</b> <i>{{</i> <%= name %>"),
            "[(<b>|Hello|</b>) (<i>|{{|</i>) {<%= name %>}]");
}

TEST(MarkupTest, ElementsOfXmlAreTexts) {
  EXPECT_EQ(Xml("<r><s>Save</s> <!-- c --> <s>Cancel</s></r>"),
            "<r><s>[Save]</s> <!-- c --> <s>[Cancel]</s></r>");
  EXPECT_EQ(Xml("<r><s>Save</s><s translate='no'>X</s><?pi x?><e/><s>Cancel</s></r>"),
            "<r><s>[Save]</s><s translate='no'>X</s><?pi x?><e/><s>[Cancel]</s></r>");
  EXPECT_EQ(Xml("<s translatable='false'>X</s><s>Save</s></r> <t>Open</t>"),
            "<s translatable='false'>X</s><s>[Save]</s></r> <t>[Open]</t>");
  EXPECT_EQ(Xml("<t><b>A dog</b> <i>runs</i> here</t>"),
            "<t>[(<b>|A dog|</b>) (<i>|runs|</i>) here]</t>");
}

TEST(MarkupTest, AndroidHasEscapes) {
  EXPECT_EQ(Xml("<string>Don\\'t\\nrun \\u2019 \\x</string>"),
            "<string>[Don't]\\n[run ’ \\x]</string>");
  EXPECT_EQ(Xml("<string> \"  A \\\"dog\\\" \" </string>"),
            "<string> \"  [A \"dog\"] \" </string>");
  EXPECT_EQ(Xml("<string>\" <b>A</b> dog\"</string>"), "<string>\" [(<b>|A|</b>) dog]\"</string>");
  EXPECT_EQ(Xml("<t>Don\\'t</t>"), "<t>[Don\\'t]</t>");
  EXPECT_EQ(Xml("<resources><a>Hi <xliff:g id='n'>Tom</xliff:g></a></resources>"),
            "<resources><a>[Hi {<xliff:g id='n'>Tom</xliff:g>}]</a></resources>");
  MarkupReader reader(Markup::kXml);
  const MarkedText text = reader.Read("<string>Don\\'t</string>").segments[0].marked;
  EXPECT_EQ(EscapeText(text, "l'air"), "l\\'air");
  const MarkedText other = reader.Read("<string>Do not</string>").segments[0].marked;
  EXPECT_EQ(EscapeText(other, "l'air"), "l\\'air");
}

TEST(MarkupTest, FeedsKeepLinksAndIds) {
  EXPECT_EQ(Xml("<rss><title>A</title><link>b</link><guid>c</guid><language>en</language></rss>"),
            "<rss><title>[A]</title><link>b</link><guid>c</guid><language>en</language></rss>");
  EXPECT_EQ(Xml("<x><guid>c</guid></x>"), "<x><guid>[c]</guid></x>");
}

TEST(MarkupTest, FeedsHaveEscapedHtml) {
  EXPECT_EQ(Xml("<rss><title>&lt;p&gt;A &lt;b x=&quot;1&quot;&gt;dog&lt;/b&gt; &amp;lt; 5&lt;br&gt;"
                "&lt;/p&gt;B &lt;code&gt;c&lt;/code&gt; &lt; d &lt;img x=&quot;1&quot;&gt; "
                "e.</title></rss>"),
            "<rss><title>&lt;p&gt;[A (&lt;b x=&quot;1&quot;&gt;|dog|&lt;/b&gt;) < 5]&lt;br&gt;"
            "&lt;/p&gt;[B {&lt;code&gt;c&lt;/code&gt;} < d (&lt;img x=&quot;1&quot;&gt;) "
            "e.]</title></rss>");
  EXPECT_EQ(Xml("<rss><title>A &amp; b &gt; c &amp;nbsp; d</title></rss>"),
            "<rss><title>[A & b > c \u00a0 d]</title></rss>");
  // Code that is not closed is text, and so is what is escaped elsewhere.
  EXPECT_EQ(Xml("<feed><title>A &lt;code&gt;b</title></feed>"),
            "<feed><title>[A (&lt;code&gt;|b|)]</title></feed>");
  EXPECT_EQ(Xml("<x>A &lt;b&gt;b&lt;/b&gt;</x>"), "<x>[A <b>b</b>]</x>");
  EXPECT_EQ(Xml("<string>A &lt;b&gt;b&lt;/b&gt;</string>"),
            "<string>[A (&lt;b&gt;|b|&lt;/b&gt;)]</string>");
}

TEST(MarkupTest, PartsOfXliffAreProtected) {
  EXPECT_EQ(Xml("<x>A <mrk mtype='protected'>dog</mrk> <mrk mtype='seg'>runs</mrk></x>"),
            "<x>[A {<mrk mtype='protected'>dog</mrk>} (<mrk mtype='seg'>|runs|</mrk>)]</x>");
}

TEST(MarkupTest, FootnotesAreNoWords) {
  EXPECT_EQ(Html("A dog.<sup>1</sup> A cat<a>[2]</a>."),
            "[A dog.(<sup>1</sup>) A cat(<a>[2]</a>).]");
  EXPECT_EQ(Html("A dog<sup><a>[<b>12</b>]</a></sup> runs <a>[1]</a>."),
            "[A dog(<sup><a>[<b>12</b>]</a></sup>) runs (<a>[1]</a>).]");
  EXPECT_EQ(Html("A dog (<sup>1</sup>)."), "[A dog ((<sup>|1|</sup>)).]");
  EXPECT_EQ(Html("See <a>[1]</a> or <a>2</a>, the 1<sup>st</sup>"),
            "[See (<a>|[1]|</a>) or (<a>|2|</a>), the 1(<sup>|st|</sup>)]");
  EXPECT_EQ(Html("A dog<a>2</a> runs.<a>3</a>"), "[A dog(<a>2</a>) runs.]<a>3</a>");
  // Letters and signs, but not of formulas; and not what others put brackets around.
  EXPECT_EQ(Html("The town.<sup>a</sup> The end<sup>[note 1]</sup> of it."),
            "[The town.(<sup>a</sup>) The end(<sup>[note 1]</sup>) of it.]");
  EXPECT_EQ(Html("A dog [<a>1</a>], x<sup>n</sup> (<a>2</a>)."),
            "[A dog [(<a>|1|</a>)], x(<sup>|n|</sup>) ((<a>|2|</a>)).]");
}

TEST(MarkupTest, DamagedTags) {
  // A link ends where the next one begins.
  EXPECT_EQ(Html("<a x>A<a y>B<a z>C"), "<a x>[A]<a y>[B]<a z>[C]");
  // Where tags cross, the inner one is cut.
  EXPECT_EQ(Html("a <b>b <i>c</b> d</i> e"), "[(|a (<b>|b (<i>|c|)|</b>) d|</i>) e]");
  // These tags are not closed, or not opened.
  EXPECT_EQ(Html("a <b>b <i>c</b> d"), "[a (<b>|b (<i>|c|)|</b>) d]");
  EXPECT_EQ(Html("a</b> b</i> c"), "[(|(|a|</b>) b|</i>) c]");
  EXPECT_EQ(Html("a <u>b</b> c</u> d"), "[a (<u>|(|b|</b>) c|</u>) d]");
  EXPECT_EQ(Html("a <u></b>b</u> <b></u></b>c"), "[a (<u></b>|b|</u>) (<b></u></b>)c]");
  // A quote ends at the next one or, if the line has none, at the next `>`.
  EXPECT_EQ(Html("a <i x='>b</i> c"), "[a (<i x='>|b|</i>) c]");
  EXPECT_EQ(Html("a <i x='\"'\">b</i> c"), "[a (<i x='\"'\">|b|</i>) c]");
  EXPECT_EQ(Html("a <i x='1 -> 2 >b</i> c"), "[a (<i x='1 -> 2 >|b|</i>) c]");
  EXPECT_EQ(Html("a <i x='()=>\xff>b</i> c"), "[a (<i x='()=>\xff>|b|</i>) c]");
  // A tag does not hold a `<`.
  EXPECT_EQ(Html("a <b<i>c</i> d <b e=f<i>c</i> d"), "[a <b(<i>|c|</i>) d <b e=f(<i>|c|</i>) d]");
  EXPECT_EQ(Html("See <http://x.org/?a=b&c> and <me@x.org>."),
            "[See {<http://x.org/?a=b&c>} and {<me@x.org>}.]");
}

TEST(MarkupTest, WhatIsLeftAlone) {
  EXPECT_EQ(Html("Use <code>a < <b>b</b></code>, <kbd>x</kbd>."),
            "[Use {<code>a < <b>b</b></code>}, (<kbd>|x|</kbd>).]");
  EXPECT_EQ(Html("<p><code>x</code> is <span translate=no>y <span>z</span></span></p>"),
            "<p>[{<code>x</code>} is {<span translate=no>y <span>z</span></span>}]</p>");
  EXPECT_EQ(
      Html("By <i class='a notranslate\tb'>X</i>, <b class=notranslated translate=yes>x</b>."),
      "[By {<i class='a notranslate\tb'>X</i>}, (<b class=notranslated translate=yes>|x|</b>).]");
  EXPECT_EQ(Html("A<script>if (a<b) '</p>'</script>B<style>p{}</style><pre>c</pre>"),
            "[A]<script>if (a<b) '</p>'</script>[B]<style>p{}</style><pre>c</pre>");
  EXPECT_EQ(Html("<script>'</p ' + \" x='\"</scripts x='</SCRIPT\t>A<style></ <//</style"),
            "<script>'</p ' + \" x='\"</scripts x='</SCRIPT\t>[A]<style></ <//</style");
  EXPECT_EQ(Html("<!--->a<!----!>b<!--!>c--!d--!-->e<!---!>f--!>g<!-->h"),
            "<!--->[a(<!----!>)b(<!--!>c--!d--!-->)e(<!---!>f--!>)g(<!-->)h]");
  EXPECT_EQ(Read(Markup::kHtml, {"a <!--", "b -", "--!>c"}), Lines({"[a] <!--", "b -", "--!>[c]"}));
  EXPECT_EQ(Xml("<!--a--!>b<c>-->d"), "<!--a--!>b<c>-->[d]");
  EXPECT_EQ(Html("A <%= b[\"<i>\"] %> c <% if d < 9 % 2 && '%d\xff' -%>e<%%> <% f <%>%> g %>"),
            "[A {<%= b[\"<i>\"] %>} c {<% if d < 9 % 2 && '%d\xff' -%>}e{<%%>} <% f {<%>%>} g %>]");
  EXPECT_EQ(Xml("A <% b %> c"), "[A <% b %> c]");
  EXPECT_EQ(Html("<code>x</code>"), "<code>x</code>");
  EXPECT_EQ(Html("A <svg><text>x</text></svg>b<template>c</template>"),
            "[A (<svg><text>x</text></svg>)b]<template>c</template>");
  EXPECT_EQ(Html("<!DOCTYPE html><?= x ?>a <?= $b > 1 ?> c<!-->d<?xml x>"),
            "<!DOCTYPE html>[{<?= x ?>}a {<?= $b > 1 ?>} c(<!-->)d{<?xml x>}]");
}

// As in HTML, they end in front of a sibling and at the end tag of their parent.
TEST(MarkupTest, WhatIsLeftAloneEndsWithoutEndTag) {
  EXPECT_EQ(Html("<p translate=no>A<p>B</p>C"), "<p translate=no>A<p>[B]</p>[C]");
  EXPECT_EQ(Html("<div><p translate=no>A<b>b<br></b></div>C"),
            "<div><p translate=no>A<b>b<br></b></div>[C]");
  EXPECT_EQ(Html("<ul><li translate=no>A<li>B<li translate=no>C</ul>D"),
            "<ul><li translate=no>A<li>[B]<li translate=no>C</ul>[D]");
  EXPECT_EQ(Html("<li translate=no>A<ul><li>B<li>C</ul>D<p>E</p></li>F"),
            "<li translate=no>A<ul><li>B<li>C</ul>D<p>E</p></li>[F]");
  EXPECT_EQ(Html("<li translate=no>A<ul><li>B</li></li>C"),
            "<li translate=no>A<ul><li>B</li></li>[C]");
  EXPECT_EQ(Html("<dl><dt translate=no>A<dd>B<dd translate=no>C</dl>D"),
            "<dl><dt translate=no>A<dd>[B]<dd translate=no>C</dl>[D]");
  EXPECT_EQ(Html("<td translate=no>A<table><tr><td>B<tr></table>C<th>D<td translate=no>E<tr>F"),
            "<td translate=no>A<table><tr><td>B<tr></table>C<th>[D]<td translate=no>E<tr>[F]");
  EXPECT_EQ(Html("<tr translate=no><td>A<td>B<tr><td>C<tbody translate=no><tr><td>D</table>E"),
            "<tr translate=no><td>A<td>B<tr><td>[C]<tbody translate=no><tr><td>D</table>[E]");
  EXPECT_EQ(Html("<select><option translate=no>A<option>B<option translate=no>C</select>D"),
            "<select><option translate=no>A<option>[B]<option translate=no>C</select>[D]");
  EXPECT_EQ(Read(Markup::kHtml, {"<li class=notranslate>A", "<LI", "id=a>B"}),
            Lines({"<li class=notranslate>A", "<LI", "id=a>[B]"}));
  EXPECT_EQ(Xml("<p translate='no'>A<p>B</p>C</p>D"), "<p translate='no'>A<p>B</p>C</p>[D]");
}

TEST(MarkupTest, OverLines) {
  EXPECT_EQ(Read(Markup::kHtml, {"a <!-- b", "c --> d", "e"}),
            Lines({"[a] <!-- b", "c --> [d]", "[e]"}));
  EXPECT_EQ(Read(Markup::kHtml, {"a <Code>b", "<code>", "</code> <!-- </code>", "--></CODE> d"}),
            Lines({"[a] <Code>b", "<code>", "</code> <!-- </code>", "--></CODE> [d]"}));
  EXPECT_EQ(Read(Markup::kHtml, {"<script>a", "<!-- </b> </scripts>", "</script >b"}),
            Lines({"<script>a", "<!-- </b> </scripts>", "</script >[b]"}));
  EXPECT_EQ(Read(Markup::kHtml, {"a <a", "  title=\"b", "c\" d", "x='y'>e</a> f"}),
            Lines({"[a] <a", "  title=\"b", "c\" d", "x='y'>[(|e|</a>) f]"}));
  EXPECT_EQ(Read(Markup::kHtml, {"<div translate=no", ">a</div", ">b"}),
            Lines({"<div translate=no", ">a</div", ">[b]"}));
  EXPECT_EQ(Read(Markup::kXml, {"a <x:", " >b"}), Lines({"[a] <x:", " >[b]"}));
  for (const char* attribute :
       {"async", "defer CrossOrigin", "autoplay loop muted", "v-cloak", "@click.prevent /"}) {
    const std::string begin = absl::StrCat("<video ", attribute);
    EXPECT_EQ(Read(Markup::kHtml, {begin, attribute, "src='a'>b"}),
              Lines({begin, attribute, "src='a'>[b]"}));
  }
  for (const char* value :
       {"A dog -> a man", "() => {", "if (a > b) {", "a >= b", "a ->\t", "=>"}) {
    const std::string begin = absl::StrCat("<x-y z='", value);
    const Lines lines = {begin, value, "c' d='e'>[f]"};
    EXPECT_EQ(Read(Markup::kHtml, {begin, value, "c' d='e'>f"}), lines);
    EXPECT_EQ(Read(Markup::kXml, {begin, value, "c' d='e'>f"}), lines);
  }
  for (const char* end : {">", "> ", " >", " > \r", "/>"}) {
    const std::string tag = absl::StrCat("<img alt='b", end);
    EXPECT_EQ(Read(Markup::kHtml, {tag, "c"}), Lines({tag, "[c]"}));
  }
  EXPECT_EQ(Read(Markup::kHtml, {"<p class='b>A man", "eats."}),
            Lines({"<p class='b>[A man]", "[eats.]"}));
  // These are not tags after all.
  EXPECT_EQ(Read(Markup::kHtml, {"if a <b", "then c and d", "e"}),
            Lines({"[if a] <b", "[then c and d]", "[e]"}));
  EXPECT_EQ(Read(Markup::kHtml, {"a <b and c", "a <b open too", "a <b c.", "a <b -"}),
            Lines({"[a <b and c]", "[a <b open too]", "[a <b c.]", "[a <b -]"}));
  EXPECT_EQ(Read(Markup::kHtml, {"<a x=\"b", "c <i>d</i> e"}),
            Lines({"<a x=\"b", "c <i>[(|d|</i>) e]"}));
  Lines lines = {"<a x=\"b"};
  lines.resize(200, "c");
  const Lines shown = Read(Markup::kHtml, lines);
  EXPECT_EQ(shown[50], "c");
  EXPECT_EQ(shown[150], "[c]");
  // Data is not text, however long it is.
  lines.assign(200, absl::StrCat(" ", std::string(76, 'c'), "\r"));
  lines.front() = "<img src=\"data:";
  lines.back() = "\">c";
  EXPECT_EQ(Read(Markup::kHtml, lines).back(), "\">[c]");
}

TEST(MarkupTest, EntitiesAreReadAndWrittenAgain) {
  MarkupReader reader(Markup::kHtml);
  const MarkedText text =
      reader.Read("&lt;&AMP;&nbsp;caf&eacute; &#x1F600; &#146;&hellip;x").segments[0].marked;
  EXPECT_EQ(text.text, "<&\u00a0café 😀 ’…x");
  EXPECT_EQ(EscapeText(text, "é & ü < \u00a0x…>"), "&eacute; &AMP; ü &lt; &nbsp;x&hellip;>");
  // In ASCII, only characters with a meaning in markup are written as references again.
  const MarkedText letters = reader.Read("A&#32;&#100;og &#39;&#34;").segments[0].marked;
  EXPECT_EQ(EscapeText(letters, "A dog '\""), "A dog &#39;&#34;");
  // Characters stay as they were, unless they would now be markup.
  const MarkedText plain = reader.Read("A < B & C").segments[0].marked;
  EXPECT_EQ(EscapeText(plain, "< & &lt; <b> <b </b> <!--"),
            "< & &amp;lt; &lt;b> <b &lt;/b> &lt;!--");
  EXPECT_EQ(EscapeText(plain, "<% b %> <% c"), "&lt;% b %> <% c");
  EXPECT_EQ(EscapeText({.text = "", .markup = Markup::kXml}, "< &"), "< &");
  EXPECT_EQ(EscapeText({}, "<b>"), "<b>");
  const MarkedText xml = MarkupReader(Markup::kXml).Read("A dog").segments[0].marked;
  EXPECT_EQ(EscapeText(xml, "A < B & C > \""), "A &lt; B &amp; C > \"");
  // Unknown references stay.
  EXPECT_EQ(Html("a &foo; &#0; &#xD800; &#x110000; &#99999999999; R&D;"),
            "[a {&foo;} {&#0;} {&#xD800;} {&#x110000;} {&#99999999999;} R&D;]");
  EXPECT_EQ(Xml("a &D; &my.name-1;"), "[a {&D;} {&my.name-1;}]");
}

TEST(MarkupTest, OldReferencesNeedNoSemicolon) {
  EXPECT_EQ(Html("&copy 1&nbsp&#8211 &AMP, &lt 2"), "[© 1\u00a0– &, < 2]");
  for (const std::string line : {"a ?b=1&copy=2 &copyx &hellip &#12 R&D", "a &ampb"}) {
    EXPECT_EQ(Html(line), absl::StrCat("[", line, "]"));
  }
  EXPECT_EQ(Xml("a &amp b"), "[a &amp b]");
}

TEST(MarkupTest, NamesOfEntities) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"Tab", "\t"},     {"equals", "="}, {"quot", "\""},  {"bsol", "\\"},    {"nbsp", "\u00a0"},
      {"shy", "\u00ad"}, {"szlig", "ß"},  {"ccaron", "č"}, {"zwj", "\u200d"}, {"lang", "⟨"},
      {"check", "✓"},    {"starf", "★"},  {"apos", "'"}};
  for (const auto& [name, character] : names) {
    const auto reference = ReadReference(Markup::kHtml, absl::StrCat("&", name, "; and more"));
    EXPECT_EQ(reference->character, character);
    EXPECT_EQ(reference->size, std::string(name).size() + 2);
  }
}

TEST(MarkupTest, XmlHasItsOwnElements) {
  EXPECT_EQ(Xml("<source>A <g id='1'>dog</g>.</source><target>x</target>"),
            "<source>[A (<g id='1'>|dog|</g>).]</source><target>[x]</target>");
  EXPECT_EQ(Xml("<a>x</a> <b>y</b>, <c>z</c>"), "<a>[x]</a> <b>[y]</b>, <c>[z]</c>");
  EXPECT_EQ(Xml("A <B>dog</b></B> <x/>runs <ph>{0}</ph>."),
            "[A (<B>|(|dog|</b>)|</B>) (<x/>)runs {<ph>{0}</ph>}.]");
  EXPECT_EQ(Xml("<img>A <ns:b its:translate='no'>x</ns:b>"),
            "<img>[A {<ns:b its:translate='no'>x</ns:b>}]");
  // XLIFF and TMX have elements for the halves of a pair.
  EXPECT_EQ(
      Xml("A <bpt id='1'>&lt;b></bpt>big<ept id='1'>&lt;/b></ept> <bpt>i</bpt>dog<ept/>."),
      "[A (<bpt id='1'>&lt;b></bpt>|big|<ept id='1'>&lt;/b></ept>) (<bpt>i</bpt>|dog|<ept/>).]");
  EXPECT_EQ(Xml("<seg>a<bx/>b <sc/>c<ec/></seg><seg>d<ex/> <bx/>e<ec/></seg>"),
            "<seg>[a(<bx/>|b (<sc/>|c|<ec/>)|)]</seg><seg>[(|d|<ex/>) (<bx/>|e|<ec/>)]</seg>");
  EXPECT_EQ(Xml("a <sc>b</sc> <sc translate='no'>c</sc>,"),
            "[a (<sc>|b|</sc>) {<sc translate='no'>c</sc>},]");
  EXPECT_EQ(Html("a <bx/>b<ex/> c"), "[a (<bx/>)b(<ex/>) c]");
  EXPECT_EQ(Xml("<svg><text>A</text></svg><template>b<code>c</code></template>"),
            "<svg><text>[A]</text></svg><template>[b{<code>c</code>}]</template>");
  EXPECT_EQ(Xml("<![CDATA[A < B &amp; <b>c</b>]]>] d"), "<![CDATA[[A < B & (<b>|c|</b>)]]]>[] d]");
  EXPECT_EQ(Xml("<![CDATA[a ]amp; b]]>"), "<![CDATA[[a ]amp; b]]]>");
  EXPECT_EQ(Xml("<?xml version='1.0'?>a<?x > ?>b"), "<?xml version='1.0'?>[a(<?x > ?>)b]");
  EXPECT_EQ(
      Read(Markup::kXml, {"<!DOCTYPE a SYSTEM 'b'", "[ <!ENTITY c 'd'>", "x ]>e<![CDATA[", "f]]>"}),
      Lines({"<!DOCTYPE a SYSTEM 'b'", "[ <!ENTITY c 'd'>", "x ]>[e]<![CDATA[", "[f]]]>"}));
}

TEST(MarkupTest, PartsHoldTags) {
  const auto with_parts = [](const std::string& line, const std::vector<TextSpan>& parts) {
    MarkedLine marked = MarkupReader(Markup::kHtml).Read(line);
    ProtectSpans(parts, &marked.segments[0].marked);
    return Show(marked);
  };
  EXPECT_EQ(with_parts("ab<img>c<b>d</b>ef", {{1, 5}}), "[a{b<img>c<b>d</b>e}f]");
  EXPECT_EQ(with_parts("<b>ab</b> <img>cd<img>e", {{0, 2}, {3, 5}}),
            "[{<b>ab</b>} (<img>){cd}(<img>)e]");
  EXPECT_EQ(with_parts("<b>ab</b><i>cd</i>e", {{0, 4}}), "[{<b>ab</b><i>cd</i>}e]");
  EXPECT_EQ(with_parts("<b>ab</b><i>cd</i>e", {{1, 3}}), "[(<b>|a{bc}|</b>)(<i>|d|</i>)e]");
  EXPECT_EQ(with_parts("a<u><b>bc</b>d</u>e", {{0, 3}}), "[{a<b>bc</b>}(<u>|d|</u>)e]");
  EXPECT_EQ(with_parts("a <code>x</code>b", {{0, 1}, {2, 6}}), "[{a} {<code>x</code>b}]");
  // Further parts may be found later.
  MarkedLine marked = MarkupReader(Markup::kHtml).Read("<b>abc</b>de");
  ProtectSpans({{1, 2}, {3, 4}}, &marked.segments[0].marked);
  ProtectSpans({{1, 2}, {2, 4}}, &marked.segments[0].marked);
  EXPECT_EQ(Show(marked), "[(<b>|a{b}{cd}|</b>)e]");
  // Parts keep the references that they had.
  EXPECT_EQ(with_parts("a&amp;b &amp;&#99;&d<b>&#101;</b>", {{4, 8}}),
            "[a&b {&amp;&#99;&d}(<b>|e|</b>)]");
}

TEST(MarkupTest, KnowsWhatIsOpenAtTheEnd) {
  for (const char* open : {"a <!-- b", "<code>a", "<p>x <a href=\"b\"", "<script>"}) {
    MarkupReader reader(Markup::kHtml);
    reader.Read(open);
    EXPECT_TRUE(reader.is_open()) << open;
    reader.Read("> --> </code></script>");
    EXPECT_FALSE(reader.is_open()) << open;
  }
  MarkupReader reader(Markup::kHtml);
  reader.Read("<p>A <b>dog");
  EXPECT_FALSE(reader.is_open());
}

}  // namespace
}  // namespace nibu::internal
