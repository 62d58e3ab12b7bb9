// Tests that the result of a whole text is that of a line with the same sentences.
// Threads: the thread sanitizer runs this file.
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nibu/nibu.h"
#include "tests/paths.h"
#include "tools/text/translator/plan.h"
#include "tools/text/translator/whole_text.h"

namespace nibu {
namespace {

using internal::CaptionsModelPath;
using ::testing::HasSubstr;

class JoinUnitsTest : public testing::Test {
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

  static absl::StatusOr<Result> Submit(const std::string& text, const Options& options,
                                       const std::string& prefix = "", uint64_t key = 0) {
    const auto plan = *translator_->Prepare(*model_, options);
    std::promise<absl::StatusOr<Result>> promise;
    Request request;
    request.key = key;
    request.target_prefix = prefix;
    const auto ticket = translator_->Submit(
        text, plan, request,
        [&](uint64_t, absl::StatusOr<Result> result) { promise.set_value(std::move(result)); },
        kForever);
    if (!ticket.ok()) return ticket.status();
    return promise.get_future().get();
  }
  static Result Join(const std::string& text, const Options& options = {}) {
    const auto result = Submit(text, options);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.value_or(Result());
  }
  // Returns the result of a line.
  static Result Line(const std::string& line, const Options& options = {}) {
    const auto results = translator_->Translate({line}, *translator_->Prepare(*model_, options));
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? results->at(0) : Result();
  }
  static void ExpectEqual(const Result& joined, const Result& line) {
    EXPECT_EQ(joined.source_tokens, line.source_tokens);
    EXPECT_EQ(joined.target_tokens, line.target_tokens);
    ASSERT_EQ(joined.hypotheses.size(), line.hypotheses.size());
    for (size_t n = 0; n < line.hypotheses.size(); ++n) {
      const Hypothesis& a = joined.hypotheses[n];
      const Hypothesis& b = line.hypotheses[n];
      EXPECT_EQ(a.tokens, b.tokens);
      EXPECT_EQ(a.token_scores, b.token_scores);
      EXPECT_EQ(a.alignment, b.alignment);
      EXPECT_EQ(a.attention, b.attention);
      EXPECT_EQ(a.length, b.length);
      EXPECT_NEAR(a.log_prob, b.log_prob, 1e-5);
      EXPECT_NEAR(a.score, b.score, 1e-5);
      EXPECT_EQ(a.finished, b.finished);
      EXPECT_EQ(a.warnings, b.warnings);
    }
  }

  static std::shared_ptr<const Model>* model_;
  static Translator* translator_;
};
std::shared_ptr<const Model>* JoinUnitsTest::model_ = nullptr;
Translator* JoinUnitsTest::translator_ = nullptr;

constexpr char kText[] = "A dog runs.\nA man is riding a bicycle.";
constexpr char kLine[] = "A dog runs. A man is riding a bicycle.";

// The sentences of a line and the lines of a text are translated alike.
TEST_F(JoinUnitsTest, LinesAreJoinedAsSentencesAre) {
  for (const AlignmentKind alignment :
       {AlignmentKind::kNone, AlignmentKind::kHard, AlignmentKind::kSoft}) {
    for (const AlignmentLevel level : {AlignmentLevel::kPieces, AlignmentLevel::kWords}) {
      Options options;
      options.num_hypotheses = 3;
      options.alignment = alignment;
      options.alignment_level = alignment == AlignmentKind::kNone ? AlignmentLevel::kPieces : level;
      options.coverage_penalty = 0.2F;
      options.length_penalty = 0.6F;
      options.word_penalty = 0.1F;
      ExpectEqual(Join(kText, options), Line(kLine, options));
    }
  }
  EXPECT_EQ(Join(kText).hypotheses[0].text, "Ein Hund rennt.\nEin Mann fährt Fahrrad.");
}

TEST_F(JoinUnitsTest, ATextOfOneLineIsThatLine) {
  Options options;
  options.num_hypotheses = 2;
  options.coverage_penalty = 0.2F;
  const Result joined = Join("A man is riding a bicycle.", options);
  const Result line = Line("A man is riding a bicycle.", options);
  ExpectEqual(joined, line);
  EXPECT_EQ(joined.hypotheses[0].text, line.hypotheses[0].text);
  EXPECT_EQ(joined.hypotheses[0].score, line.hypotheses[0].score);
  options.sampling_topk = 5;
  EXPECT_EQ(
      Submit("A man is riding.", options, "", 3)->hypotheses[0].tokens,
      translator_
          ->Translate({"", "", "", "A man is riding."}, *translator_->Prepare(*model_, options))
          ->at(3)
          .hypotheses[0]
          .tokens);
}

TEST_F(JoinUnitsTest, LineEndsAreThoseOfTheText) {
  EXPECT_EQ(Join("").hypotheses[0].text, "");
  EXPECT_EQ(Join("\n").hypotheses[0].text, "\n");
  EXPECT_EQ(Join("\n\nA dog runs.\n\n12:30\n").hypotheses[0].text,
            "\n\nEin Hund rennt.\n\n12:30\n");
  Options two;
  two.num_hypotheses = 2;
  const Result result = Join("12:30\nA dog runs.", two);
  ASSERT_EQ(result.hypotheses.size(), 2u);
  EXPECT_THAT(result.hypotheses[1].text, HasSubstr("12:30\n"));
  Options page;
  page.text = TextKind::kDocument;
  page.markup = Markup::kHtml;
  EXPECT_EQ(Join("<p>A dog runs.</p>\n<!-- x -->", page).hypotheses[0].text,
            "<p>Ein Hund rennt.</p>\n<!-- x -->");
  Options mail;
  mail.text = TextKind::kParagraphs;
  EXPECT_EQ(Join("> A man is riding\n> a bicycle.", mail).hypotheses[0].text,
            "> Ein Mann fährt Fahrrad.");
}

TEST_F(JoinUnitsTest, LinesOfThePrefixBeginThoseOfTheText) {
  EXPECT_EQ(
      Submit("A dog runs.\nA dog runs.\n", {}, "\nZwei Hunde")->hypotheses[0].text.substr(0, 26),
      "Ein Hund rennt.\nZwei Hunde");
  EXPECT_FALSE(Submit("A dog runs.", {}, "Ein\nHund").ok());
  EXPECT_TRUE(Submit("A dog runs.", {}, "Ein\n").ok());
  Options mail;
  mail.text = TextKind::kParagraphs;
  EXPECT_FALSE(Submit("A dog runs.", mail, "Ein").ok());
}

TEST_F(JoinUnitsTest, TooMuchAttention) {
  Options options;
  options.beam_size = 1;
  const auto plan = *translator_->Prepare(*model_, options);
  WholeText text;
  text.units.resize(2);
  text.same = {0, 1};
  std::vector<Result> results(2);
  for (Result& result : results) {
    Hypothesis& hypothesis = result.hypotheses.emplace_back();
    hypothesis.attention.resize(10000);
    result.source_labels.resize(10000);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(JoinUnits(text, results, *plan->lines).status()));
}

}  // namespace
}  // namespace nibu
