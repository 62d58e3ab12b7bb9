// Tests of the public interface beyond requests of single lines: whole texts, sentences, languages,
// versions. The thread sanitizer does not run this file.
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nibu/nibu.h"
#include "tests/paths.h"

namespace nibu {
namespace {

using internal::CaptionsModelPath;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class WholeTextTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ModelOptions options;
    options.compute_type = ComputeType::kFloat32;
    model_ = new std::shared_ptr<const Model>(*Model::Load(CaptionsModelPath(), options));
    SpeedOptions speed;
    speed.threads = 2;
    translator_ = Translator::Create(speed)->release();
  }
  static void TearDownTestSuite() {
    delete std::exchange(translator_, nullptr);
    delete std::exchange(model_, nullptr);
  }

  static std::shared_ptr<const Plan> Prepare(const Options& options) {
    auto plan = translator_->Prepare(*model_, options);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *std::move(plan);
  }
  static std::string Translate(const std::string& text, const Options& options) {
    const auto results = translator_->Translate({text}, Prepare(options));
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? (*results)[0].hypotheses[0].text : "";
  }

  static std::shared_ptr<const Model>* model_;
  static Translator* translator_;
};
std::shared_ptr<const Model>* WholeTextTest::model_ = nullptr;
Translator* WholeTextTest::translator_ = nullptr;

TEST_F(WholeTextTest, LinesParagraphsAndDocuments) {
  EXPECT_EQ(Translate("A dog runs.\r\n\nA dog runs.", {}), "Ein Hund rennt.\n\nEin Hund rennt.");
  Options mail;
  mail.text = TextKind::kParagraphs;
  EXPECT_EQ(Translate("> A man is riding\n> a bicycle.\n", mail), "> Ein Mann fährt Fahrrad.\n");
  Options page;
  page.text = TextKind::kDocument;
  page.markup = Markup::kHtml;
  EXPECT_EQ(Translate("<p>A man is\n riding a bicycle.</p>\n<script>\n</script>", page),
            "<p>Ein Mann fährt Fahrrad.</p>\n<script>\n</script>");
  EXPECT_EQ(Translate("", page), "");
}

TEST_F(WholeTextTest, EqualUnitsAreTranslatedOnce) {
  const uint64_t before = translator_->sentences();
  EXPECT_EQ(Translate("A dog runs.\nA dog runs.\n", {}), "Ein Hund rennt.\nEin Hund rennt.\n");
  EXPECT_EQ(translator_->sentences(), before + 1);
}

TEST_F(WholeTextTest, EqualTextsOfAListAreTranslatedOnce) {
  const uint64_t before = translator_->sentences();
  const auto results =
      translator_->Translate({"A dog runs.", "A man.", "A dog runs.", ""}, Prepare({}));
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(translator_->sentences(), before + 2);
  EXPECT_EQ((*results)[2].hypotheses[0].text, "Ein Hund rennt.");
  EXPECT_EQ((*results)[2].hypotheses[0].score, (*results)[0].hypotheses[0].score);
  EXPECT_EQ((*results)[3].hypotheses[0].text, "");
  // Equal texts may have different targets, and different samples.
  const auto scores = translator_->Score({"A dog runs.", "A dog runs."},
                                         {"Ein Hund rennt.", "Eine Katze."}, Prepare({}));
  ASSERT_TRUE(scores.ok()) << scores.status();
  EXPECT_GT((*scores)[0].hypotheses[0].score, (*scores)[1].hypotheses[0].score);
  Options samples;
  samples.sampling_topk = 0;
  samples.sampling_temperature = 4;
  const auto drawn = translator_->Translate({"A dog runs.", "A dog runs."}, Prepare(samples));
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  EXPECT_NE((*drawn)[0].hypotheses[0].text, (*drawn)[1].hypotheses[0].text);
}

TEST_F(WholeTextTest, SaysThatMarkupEndsOpen) {
  Options page;
  page.text = TextKind::kDocument;
  page.markup = Markup::kHtml;
  Options line;
  line.markup = Markup::kHtml;
  for (const Options& options : {page, line}) {
    EXPECT_TRUE(translator_->Translate({"<p>A dog.</p><!-- A"}, Prepare(options))->at(0).ends_open);
    EXPECT_FALSE(translator_->Translate({"<p>A dog.</p>"}, Prepare(options))->at(0).ends_open);
  }
}

TEST_F(WholeTextTest, SamplesDependOnTheKey) {
  Options options;
  options.sampling_topk = 0;
  options.sampling_temperature = 4;
  const auto plan = Prepare(options);
  const auto sample = [&](uint64_t key) {
    std::promise<std::string> text;
    Request request;
    request.key = key;
    EXPECT_TRUE(translator_
                    ->Submit("A man is riding a bicycle.\n", plan, request,
                             [&](uint64_t given, absl::StatusOr<Result> result) {
                               EXPECT_EQ(given, key);
                               text.set_value(result->hypotheses[0].text);
                             })
                    .ok());
    return text.get_future().get();
  };
  EXPECT_EQ(sample(1), sample(1));
  EXPECT_NE(sample(1), sample(2));
}

TEST_F(WholeTextTest, AnErrorIsThatOfTheFirstUnitThatFailed) {
  Options options;
  options.max_input_length = 3;
  options.long_input = LongInput::kError;
  const auto results = translator_->Translate(
      {"A dog.\nA man is riding a bicycle along the river.\n"}, Prepare(options));
  EXPECT_TRUE(absl::IsOutOfRange(results.status())) << results.status();
  Request request;
  request.target = "Ein Hund.";
  EXPECT_FALSE(translator_->Submit("A dog.\n", Prepare({}), request, nullptr).ok());
  EXPECT_FALSE(translator_->Submit("A dog.\n", nullptr, {}, nullptr).ok());
}

TEST_F(WholeTextTest, AnEmptyTextNeedsAPlanOfTheTranslator) {
  const auto other = *Translator::Create();
  const auto plan = *other->Prepare(*model_, Options());
  EXPECT_TRUE(absl::IsFailedPrecondition(translator_->Translate({""}, plan).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(translator_->Translate({}, plan).status()));
}

// If no unit has words, Done is called within Submit.
TEST_F(WholeTextTest, WhatADoneThrowsIsDropped) {
  for (const std::string text : {"", "\n\n", "A dog runs.\n"}) {
    std::promise<bool> called;
    const auto ticket = translator_->Submit(text, Prepare(Options()), {},
                                            [&](uint64_t, const absl::StatusOr<Result>& result) {
                                              called.set_value(result.ok());
                                              throw 3;
                                            });
    EXPECT_TRUE(ticket.ok()) << ticket.status();
    EXPECT_TRUE(called.get_future().get());
  }
}

TEST_F(WholeTextTest, IsCancelledAsOne) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "A man number " + std::to_string(i) + " rides a bicycle.\n";
  std::promise<absl::StatusOr<Result>> promise;
  const auto ticket = translator_->Submit(
      text, Prepare(Options()), {},
      [&](uint64_t, absl::StatusOr<Result> result) { promise.set_value(std::move(result)); },
      kForever);
  ASSERT_TRUE(ticket.ok()) << ticket.status();
  translator_->Cancel(*ticket);
  EXPECT_TRUE(absl::IsCancelled(promise.get_future().get().status()));
}

TEST_F(WholeTextTest, AFullQueueRefusesTheText) {
  SpeedOptions speed;
  speed.threads = 1;
  speed.queue_size = 2;
  const auto small = *Translator::Create(speed);
  const auto plan = *small->Prepare(*model_, Options());
  const auto refused =
      small->Submit("One.\nTwo.\nThree.\nFour.\nFive.\n", plan, {},
                    [](uint64_t, const absl::StatusOr<Result>&) { ADD_FAILURE(); });
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << refused.status();
  EXPECT_TRUE(small->Translate({"One.\nTwo.\nThree.\nFour.\n"}, plan).ok());
}

TEST_F(WholeTextTest, ReaderTakesPiecesOfAnySize) {
  Options options;
  TextReader reader(options);
  std::vector<std::string> lines;
  TextUnit unit;
  for (const char c : std::string("A dog.\r\n\nA cat.")) {
    reader.Add(std::string(1, c));
    while (reader.Next(&unit)) lines.push_back(unit.source());
  }
  EXPECT_THAT(lines, ElementsAre("A dog.", ""));
  reader.End();
  ASSERT_TRUE(reader.Next(&unit));
  EXPECT_EQ(unit.source(), "A cat.");
  EXPECT_EQ(unit.line(), 2u);
  EXPECT_EQ(unit.end(), 15u);
  EXPECT_EQ(unit.Write("Eine Katze."), "Eine Katze.");
  EXPECT_FALSE(reader.Next(&unit));
}

TEST(MarkupOfFileTest, KnowsEndings) {
  EXPECT_EQ(MarkupOfFile("a/b.html"), Markup::kHtml);
  EXPECT_EQ(MarkupOfFile("B.HTM.gz"), Markup::kHtml);
  EXPECT_EQ(MarkupOfFile("b.xhtml"), Markup::kHtml);
  EXPECT_EQ(MarkupOfFile("b.xml"), Markup::kXml);
  EXPECT_EQ(MarkupOfFile("b.txt"), std::nullopt);
  EXPECT_EQ(MarkupOfFile("html"), std::nullopt);
}

TEST(LibraryTest, SplitsSentences) {
  const auto splitter = SentenceSplitter::Create("en");
  ASSERT_TRUE(splitter.ok()) << splitter.status();
  const auto spans = (*splitter)->Split(" Dr. Smith is here. He waits.\nNo stop\n\nEnd");
  ASSERT_TRUE(spans.ok()) << spans.status();
  EXPECT_THAT(*spans,
              ElementsAre(ByteSpan{1, 19}, ByteSpan{20, 29}, ByteSpan{30, 37}, ByteSpan{39, 42}));
  EXPECT_THAT(*(*splitter)->Split(""), IsEmpty());
  EXPECT_FALSE(SentenceSplitter::Create("english").ok());
}

TEST(LibraryTest, DetectsLanguages) {
  const auto detector = LanguageDetector::Create({"eng_Latn", "deu_Latn"});
  ASSERT_TRUE(detector.ok()) << detector.status();
  const auto found = (*detector)->Detect("Ein Mann fährt auf seinem Fahrrad durch die Stadt.");
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_THAT(*found, Not(IsEmpty()));
  EXPECT_EQ((*found)[0].code, "deu_Latn");
  EXPECT_GT((*found)[0].confidence, 0.5);
  EXPECT_THAT(*(*detector)->Detect("<p lang=de>123</p>", Markup::kHtml), IsEmpty());
  EXPECT_THAT(LanguageDetector::KnownLanguages(), Contains("de"));
}

TEST(LibraryTest, KnowsItsVersion) {
  EXPECT_STREQ(Version(), NIBU_VERSION_STRING);
  EXPECT_EQ(VersionNumber(), NIBU_VERSION_NUMBER);
}

}  // namespace
}  // namespace nibu
