// Tests of long documents, of which only little is held, and which take a time in proportion to
// their length.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/sanitizers.h"
#include "tests/tools/text/marked/read_units.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/marked/text_reader.h"

namespace nibu::internal {
namespace {

std::string Repeat(absl::string_view piece, size_t bytes) {
  std::string text;
  while (text.size() < bytes) absl::StrAppend(&text, piece);
  return text;
}

TEST(LongTextTest, HoldsLittleOfLongDocuments) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const size_t size = size_t{8} << 20;
  const std::string base64 = Repeat("iVBORw0KGgo", size);
  const std::string long_parts[] = {
      absl::StrCat("<img src=\"data:image/png;base64,", base64, "\">"),
      absl::StrCat("<script>", Repeat("if (a < b) { '<p>' }\n", size), "</script>"),
      absl::StrCat("<!-- ", Repeat("<p>--", size), " -->"),
      absl::StrCat("<pre translate=no>", Repeat("<b>x</b>\n", size), "</pre>"),
      Repeat("</div>\n<div>", size),
  };
  for (const std::string& part : long_parts) {
    const std::string page = absl::StrCat("<p>A\ndog ", part, " runs\n.</p>");
    size_t most = 0;
    const auto units = ReadChunks(
        TextKind::kDocument, Markup::kHtml, page, [] { return 1 << 16; }, &most);
    EXPECT_LT(most, MarkupReader::kMaxPiece + (size_t{1} << 18));
    std::string expected = absl::StrReplaceAll(page, {{"A\ndog", "A dog"}, {"runs\n", "runs "}});
    EXPECT_TRUE(Again(units) == expected) << part.substr(0, 20);
    EXPECT_EQ(units[0].source, "A dog");
    const auto last = units.rbegin() + (units.back().marked.segments.empty() ? 1 : 0);
    EXPECT_EQ(last->source, "runs .");
    for (const UnitParts& unit : units) {
      ASSERT_LE(unit.before.size(), MarkupReader::kMaxPiece + (size_t{1} << 17));
    }
  }
}

TEST(LongTextTest, CutsLongTexts) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const size_t size = 5 * MarkupReader::kMaxPiece / 2;
  for (const std::string piece : {"A dog runs.\n", "A <b>dog</b> runs. ", "狗在公园里", "x"}) {
    const std::string page = Repeat(piece, size);
    for (const Markup markup : {Markup::kHtml, Markup::kXml}) {
      const auto units = Document(markup, page);
      // White space behind the last text is a unit, too.
      EXPECT_EQ(units.size(), piece.back() == '\n' || piece.back() == ' ' ? 4u : 3u) << piece;
      EXPECT_EQ(WithoutBlanks(Again(units)), WithoutBlanks(page));
      for (const UnitParts& unit : units) {
        EXPECT_LE(unit.source.size(), MarkupReader::kMaxPiece);
        EXPECT_TRUE(unit.source.empty() || IsCharacterBorder(unit.source, 0));
      }
      EXPECT_EQ(Dump(ReadChunks(TextKind::kDocument, markup, page, [] { return 99999; })),
                Dump(units));
    }
  }
}

TEST(LongTextTest, TimeIsLinear) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  for (const std::string piece : {"<",
                                  "<!--",
                                  "<a b='",
                                  "<a b=\"<c d='",
                                  "&",
                                  "&a",
                                  "<a ",
                                  "<a/",
                                  "<%",
                                  "<% ",
                                  "<?",
                                  "]",
                                  "<script>",
                                  "<script></",
                                  "<textarea></",
                                  "<b>x",
                                  "x</b>",
                                  "<code>",
                                  "<![CDATA[",
                                  "<!DOCTYPE[",
                                  "<a x='> ",
                                  "<p",
                                  "--",
                                  "<b>",
                                  "\n",
                                  " ",
                                  "<p>x",
                                  "<a></a>",
                                  "<x xml:space='preserve'>\n"}) {
    const std::string text = Repeat(piece, size_t{1} << 20);
    for (const Markup markup : {Markup::kHtml, Markup::kXml}) {
      const auto start = std::chrono::steady_clock::now();
      const auto units =
          ReadChunks(TextKind::kDocument, markup, absl::StrCat("x", text), [] { return 512; });
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      EXPECT_LT(seconds.count(), 20) << piece;  // It would be hours if it were quadratic.
      EXPECT_EQ(WithoutBlanks(Again(units)), WithoutBlanks("x" + text)) << piece;
    }
  }
}

}  // namespace
}  // namespace nibu::internal
