// Tests of how a line is cut into parts that are translated, protected or copied.
#include "tools/text/line_reader.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "tests/paths.h"
#include "tools/text/markup.h"
#include "tools/text/text_translator.h"

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
    auto model = LoadModel(CaptionsModelPath(), ComputeType::kFloat32);
    ASSERT_TRUE(model.ok()) << model.status();
    auto translator = TextTranslator::Create({*std::move(model)}, {});
    ASSERT_TRUE(translator.ok()) << translator.status();
    translator_ = translator->release();
  }
  static void TearDownTestSuite() { delete translator_; }

  static absl::StatusOr<LineParts> Read(const MarkedLine& line, int max_input_length = 1024) {
    TextOptions options = translator_->default_options();
    options.max_input_length = max_input_length;
    const auto plan = translator_->Prepare(options);
    if (!plan.ok()) return plan.status();
    return ReadLine({.plan = *plan}, line);
  }

  static TextTranslator* translator_;
};
TextTranslator* LineReaderTest::translator_ = nullptr;

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

// A name that is mentioned is not a part of the sentence, whatever tags are in it.
TEST_F(LineReaderTest, MentionsAreProtected) {
  const auto parts =
      Read(MarkupReader(Markup::kHtml)
               .Read("<p><span class=\"h-card\"><a href=\"u\">@<span>bob</span></a></span> A man "
                     "is riding a bicycle.</p>"));
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_EQ(parts->parts.size(), 1u);
  std::vector<std::string> replaced;
  for (const Annotation& annotation : parts->parts[0].marked.annotations) {
    if (annotation.replaces) replaced.push_back(annotation.before);
  }
  ASSERT_EQ(replaced.size(), 1u);
  EXPECT_NE(replaced[0].find("@<span>bob</span>"), std::string::npos) << replaced[0];
}

}  // namespace
}  // namespace nibu::internal
