// Tests of how a line is cut into parts that are translated, protected or copied.
#include "tools/text/lines/line_reader.h"

#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "tests/paths.h"
#include "tests/tools/text/models.h"
#include "tools/text/lines/line_sections.h"
#include "tools/text/marked/markup.h"
#include "tools/text/translator/plan.h"

namespace nibu::internal {
namespace {

// Returns the letters, digits and all that is not ASCII, in order, without tags.
std::string Letters(absl::string_view text) {
  std::string letters;
  bool is_tag = false;
  for (const char c : text) {
    is_tag = c == '<' || (is_tag && c != '>');
    if (is_tag) continue;
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
        !absl::ascii_isascii(static_cast<unsigned char>(c))) {
      letters += c;
    }
  }
  return letters;
}

class LineReaderTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    model_ = new std::shared_ptr(LoadNibu(CaptionsModelPath()));
    translator_ = NewTranslator().release();
  }
  static void TearDownTestSuite() {
    delete translator_;
    delete model_;
  }

  absl::StatusOr<LineParts> Read(const MarkedLine& line, int max_input_length = 1024) {
    Options options;
    options.max_input_length = max_input_length;
    std::shared_ptr<const Plan>& plan = plans_[max_input_length];
    if (plan == nullptr) plan = translator_->Prepare(*model_, options).value();
    return ReadLine(*plan->lines, line);
  }

  static std::shared_ptr<const nibu::Model>* model_;
  static nibu::Translator* translator_;
  std::map<int, std::shared_ptr<const Plan>> plans_;  // by max_input_length
};
std::shared_ptr<const nibu::Model>* LineReaderTest::model_ = nullptr;
nibu::Translator* LineReaderTest::translator_ = nullptr;

TEST_F(LineReaderTest, EveryLetterOfRandomMarkupIsTranslatedProtectedOrCopied) {
  const std::vector<std::string> pieces = {"<b>",
                                           "</b>",
                                           "<span class=\"x\">",
                                           "</span>",
                                           "<a href=\"u\">",
                                           "</a>",
                                           "<p>",
                                           "</p>",
                                           "<br>",
                                           "<img>",
                                           "<code>",
                                           "</code>",
                                           "<!-- c -->",
                                           "<script>s</script>",
                                           " ",
                                           " ",
                                           " ",
                                           ". ",
                                           "@",
                                           "bob",
                                           "A man",
                                           "is riding",
                                           "a bicycle.",
                                           "https://a.example/b",
                                           "me@example.com",
                                           "{name}",
                                           "/usr/bin",
                                           "\xf0\x9f\x98\x80",
                                           "\xe4\xb8\xad",
                                           "12:30",
                                           "Tom",
                                           "-",
                                           "(",
                                           ")",
                                           "'",
                                           "<i>@<u>"};
  std::mt19937 random(7);
  constexpr int kLimits[] = {1024, 1, 2, 5};
  const int lines = 3000;
  for (int i = 0; i < lines; ++i) {
    std::string line;
    for (size_t n = 1 + random() % 16; n > 0; --n) line += pieces[random() % pieces.size()];
    SCOPED_TRACE(line);
    const auto parts = Read(MarkupReader(Markup::kHtml).Read(line), kLimits[i % 4]);
    ASSERT_TRUE(parts.ok()) << parts.status();
    std::string all;
    for (const LinePart& part : parts->parts) {
      absl::StrAppend(&all, part.untouched, part.before, Write(part.marked));
    }
    absl::StrAppend(&all, parts->behind);
    ASSERT_EQ(Letters(all), Letters(line)) << all;
  }
}

// Returns a line as its parts stand in it, with the pieces that the model reads.
std::string Describe(const LineParts& line) {
  std::string all;
  for (const LinePart& part : line.parts) {
    absl::StrAppend(&all, part.untouched, part.before, "[", absl::StrJoin(part.source.pieces, " "),
                    "|", Write(part.marked), "]");
  }
  return absl::StrCat(all, line.behind);
}

// Expects the sections of a line, read one by one, to be the line, and each to have no more bytes
// than asked for, unless it is a single sentence. Returns the number of sections.
size_t ExpectSameInSections(const LinePlan& plan, const MarkedLine& line, size_t most) {
  const auto whole = ReadLine(plan, line);
  EXPECT_TRUE(whole.ok()) << whole.status();
  std::string all;
  const std::vector<LineSection> sections = CutLine(plan, line, most);
  for (const LineSection& section : sections) {
    const auto parts = ReadLine(plan, section.line);
    EXPECT_TRUE(parts.ok()) << parts.status();
    absl::StrAppend(&all, section.between.value_or(""), Describe(*parts));
    size_t bytes = 0;
    for (const MarkedLine::Segment& segment : section.line.segments) {
      bytes += absl::StripAsciiWhitespace(segment.marked.text).size();
    }
    EXPECT_TRUE(bytes <= most + 20 || parts->parts.size() <= 1) << all;
  }
  EXPECT_EQ(all, Describe(*whole));
  return sections.size();
}

TEST_F(LineReaderTest, SectionsOfALineAreReadAsTheLineIs) {
  const std::vector<std::string> pieces = {"A man runs. ",
                                           "Two dogs! ",
                                           "<b>",
                                           "</b>",
                                           "<p>",
                                           "<br>",
                                           "<img>",
                                           " ",
                                           "It is 12:30. ",
                                           "12:30. ",
                                           "</b><i>x. </i>",
                                           "&amp; ",
                                           "&nbsp;",
                                           "&#32;",
                                           "\xe4\xb8\xad\xe3\x80\x82",
                                           "http://a.b/c. Yes. ",
                                           "Tom? "};
  const auto plan = translator_->Prepare(*model_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::mt19937 random(3);
  size_t sections = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (size_t n = random() % 30; n > 0; --n) text += pieces[random() % pieces.size()];
    SCOPED_TRACE(text);
    const MarkedLine line = i % 2 == 0 ? PlainLine(text) : MarkupReader(Markup::kHtml).Read(text);
    sections += ExpectSameInSections(*(*plan)->lines, line, 1 + random() % 60);
    if (HasFailure()) return;
  }
  EXPECT_GT(sections, 4000u);
}

// A line's language token or instruction is in front of each of its sections, also where these have
// tags; a line that is not split is not cut.
TEST(CutLineTest, TheFrontIsRepeated) {
  for (const auto& [model, front, count] :
       {std::tuple("madlad", "<2de> ", 3), std::tuple("t5", "translate English to German: ", 3),
        std::tuple("t5", "summarize: ", 1)}) {
    SCOPED_TRACE(absl::StrCat(model, " ", front));
    const auto loaded = LoadNibu(TestdataPath(model));
    const auto translator = NewTranslator();
    Options options;
    const auto plan = translator->Prepare(loaded, options);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const std::string text = absl::StrCat(front, "a cat sat. The <b>dog ran. A</b> man.");
    for (const MarkedLine& line : {PlainLine(text), MarkupReader(Markup::kHtml).Read(text)}) {
      EXPECT_EQ(ExpectSameInSections(*(*plan)->lines, line, 1), static_cast<size_t>(count));
    }
    options.split_sentences = false;
    const auto unsplit = translator->Prepare(loaded, options);
    ASSERT_TRUE(unsplit.ok()) << unsplit.status();
    EXPECT_EQ(ExpectSameInSections(*(*unsplit)->lines, PlainLine(text), 1), 1u);
  }
}

TEST_F(LineReaderTest, PartsAtTheEdgesAreCopied) {
  const std::string mention = "<span class=\"h-card\"><a href=\"u\">@<span>bob</span></a></span>";
  const auto parts = Read(
      MarkupReader(Markup::kHtml)
          .Read(absl::StrCat("<p>", mention, " A man is riding a bicycle. https://a.b/c</p>")));
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_EQ(parts->parts.size(), 1u);
  EXPECT_EQ(parts->parts[0].untouched, absl::StrCat("<p>", mention, " "));
  EXPECT_EQ(Write(parts->parts[0].marked), "A man is riding a bicycle.");
  EXPECT_TRUE(parts->parts[0].marked.annotations.empty());
  EXPECT_EQ(parts->behind, " https://a.b/c</p>");
  // A mention that is a word of the sentence is a part of it, whatever tags are in it.
  const auto word = Read(MarkupReader(Markup::kHtml).Read(mention + " is riding a bicycle."));
  ASSERT_TRUE(word.ok()) << word.status();
  ASSERT_EQ(word->parts.size(), 1u);
  EXPECT_EQ(word->parts[0].marked.text, "Tom is riding a bicycle.");
}

TEST_F(LineReaderTest, CapitalsAreRead) {
  const auto text = [&](const std::string& line) {
    const auto parts = Read(PlainLine(line));
    EXPECT_TRUE(parts.ok()) << parts.status();
    std::string read;
    for (const LinePart& part : parts->parts) {
      EXPECT_EQ(Write(part.marked), line);
      absl::StrAppend(&read, part.marked.text);
    }
    return read;
  };
  EXPECT_EQ(text("A MAN IS RIDING A BICYCLE."), "A man is riding a bicycle.");
  EXPECT_EQ(text("Two DOGS are NOT running."), "Two dogs are not running.");
  EXPECT_EQ(text("A man rides a BMX."), "A man rides a BMX.");
  EXPECT_EQ(text("I A."), "I A.");
}

}  // namespace
}  // namespace nibu::internal
