// Tests that nothing is lost of any markup, however damaged.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/sanitizers.h"
#include "tests/tools/text/marked/write_marked.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/marked/markup.h"

namespace nibu::internal {
namespace {

using Lines = std::vector<std::string>;

// Pieces of markup that are joined in random order. Nothing may be lost, and every tag comes out
// once.
const Lines& Pieces() {
  static const auto* pieces = new Lines({"<b>",
                                         "</b>",
                                         "<I>",
                                         "</i>",
                                         "<a href=\"x>y\">",
                                         "</a>",
                                         "<p>",
                                         "</p>",
                                         "<br/>",
                                         "<img>",
                                         "<code>",
                                         "</code>",
                                         "<script>",
                                         "</script>",
                                         "<!--",
                                         "-->",
                                         "<?x",
                                         "?>",
                                         "<![CDATA[",
                                         "]]>",
                                         "<!DOCTYPE x [",
                                         "]>",
                                         "<a b='",
                                         "'",
                                         "\"",
                                         ">",
                                         "<",
                                         "&",
                                         "&amp;",
                                         "&lt;",
                                         "&nbsp;",
                                         "&foo;",
                                         "&#10;",
                                         " ",
                                         "a ",
                                         "b",
                                         "<u",
                                         " x=\"",
                                         "/>",
                                         "<span translate=no>",
                                         "</span>",
                                         "\uFFFC",
                                         "\xc3",
                                         "<p translate=no>",
                                         "]",
                                         "=",
                                         "é",
                                         "\u00a0",
                                         "<x:y/>",
                                         "<%",
                                         "%>",
                                         "--!>",
                                         "<bpt>",
                                         "</bpt>",
                                         "<ex/>",
                                         "<li translate=no>",
                                         "<li>",
                                         "</ul>",
                                         "</ ",
                                         " | ",
                                         "&gt;",
                                         "<string>"});
  return *pieces;
}

// Protects random parts of a text, some of which hold tags or cross them, and expects that nothing
// is lost.
void ExpectNothingLostWithParts(const MarkedText& text) {
  std::vector<TextSpan> parts;
  std::mt19937 random(static_cast<unsigned>(text.text.size()));
  for (size_t begin = random() % 3, end = 0; begin < text.text.size(); begin = end + random() % 5) {
    end = begin + 1 + random() % 4;
    while (!IsCharacterBorder(text.text, begin)) ++begin;
    while (!IsCharacterBorder(text.text, end)) ++end;
    end = std::min(end, text.text.size());
    if (begin < end) parts.push_back({begin, end});
  }
  MarkedText with_parts = text;
  ProtectSpans(parts, &with_parts);
  std::string expected = Write(text);
  std::string written = Write(with_parts);
  absl::c_sort(expected);
  absl::c_sort(written);
  ASSERT_EQ(written, expected);
  for (Annotation& annotation : with_parts.annotations) annotation.replaces = false;
  ASSERT_TRUE(IsWellFormed(with_parts));
}

void ExpectNothingLost(Markup kind, const Lines& lines) {
  MarkupReader reader(kind);
  MarkupReader written_reader(kind);
  for (const std::string& line : lines) {
    const MarkedLine marked = reader.Read(line);
    const std::string written = Write(marked);
    ASSERT_EQ(written, line) << absl::StrJoin(lines, "\n");
    const MarkedLine again = written_reader.Read(written);
    ASSERT_EQ(again.segments.size(), marked.segments.size()) << absl::StrJoin(lines, "\n");
    for (size_t i = 0; i < marked.segments.size(); ++i) {
      const MarkedText& text = marked.segments[i].marked;
      ASSERT_TRUE(IsWellFormed(text)) << absl::StrJoin(lines, "\n");
      ASSERT_FALSE(IsBlank(text.text));
      ASSERT_EQ(text.text.find('\n'), std::string::npos);
      ExpectNothingLostWithParts(text);
      // A blank that came as an entity belongs to the untouched text.
      const auto words = [](absl::string_view from) {
        return absl::StrReplaceAll(from, {{"\u00a0", ""}, {" ", ""}});
      };
      ASSERT_EQ(words(again.segments[i].marked.text), words(text.text))
          << absl::StrJoin(lines, "\n");
    }
  }
}

TEST(AnyMarkupTest, NothingIsLostOfRandomMarkup) {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    Lines lines(1 + random() % 3);
    for (std::string& line : lines) {
      for (int n = random() % 16; n > 0; --n) {
        // Tags and words are more frequent than what swallows the rest of the line.
        const size_t among = random() % 3 == 0 ? Pieces().size() : 14;
        absl::StrAppend(&line, Pieces()[random() % among], random() % 3 == 0 ? "w" : "");
      }
    }
    for (Markup kind : {Markup::kHtml, Markup::kXml}) ExpectNothingLost(kind, lines);
  }
}

TEST(AnyMarkupTest, NothingIsLostOfDamagedMarkup) {
  const std::string page =
      "<!DOCTYPE html>\n<html><head><title>A &amp; B</title><style>p > a {}</style>\n"
      "<script src='x'>\nif (a < b) {}\n</script></head><body class=\"a\"\n id='b'>\n"
      "<p>A <b>big <i>dog</i></b> &lt;3 <code>x</code>.<br>R&D <!-- c\nd --> <img alt='>'> "
      "&nbsp;</p>\n"
      "<ul><li translate=no>x<li><a href='y'>One</a>, two</ul></body></html>";
  std::mt19937 random(2);
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = page;
    for (int n = 1 + random() % 4; n > 0; --n) {
      const size_t at = random() % damaged.size();
      const size_t size = random() % 8;
      if (random() % 2 == 0) {
        damaged.erase(at, size);
      } else {
        damaged[at] =
            random() % 2 == 0 ? "<>&;\"'/!- "[random() % 10] : static_cast<char>(random());
      }
    }
    for (Markup kind : {Markup::kHtml, Markup::kXml}) {
      ExpectNothingLost(kind, absl::StrSplit(damaged, '\n'));
    }
  }
}

TEST(AnyMarkupTest, LongLinesOfAnything) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  for (const std::string piece :
       {"<",          "<a ",      "<a x='",   "<a x=\"<b y='", "&",         "&amp;",
        "&a",         "<b>",      "</b>",     "<b>x",          "x</b>",     "<b>x<i>y</b>z",
        "<!--",       "<!-->",    "<?",       "<? >",          "<?>",       "<![CDATA[",
        "]]>",        "]",        "<script>", "<script></",    "<code>",    "<b>x</b> ",
        "<!DOCTYPE[", "<a x='> ", "<%",       "<!--!",         "<a x=' > ", "<bx/>x",
        "<a b-c ",    "&#65;",    " ",        "\xc2\xa0",      "<a/"}) {
    std::string line;
    while (line.size() < 1 << 16) line += piece;
    for (Markup kind : {Markup::kHtml, Markup::kXml}) {
      ExpectNothingLost(kind, {absl::StrCat("x", line, "x")});
    }
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) absl::StrAppend(&deep, "<n", i, ">x");
  for (int i = 0; i < 100000; ++i) absl::StrAppend(&deep, "</n", i, ">");
  ExpectNothingLost(Markup::kHtml, {deep + "y"});
}

}  // namespace
}  // namespace nibu::internal
