// Tests of Options::src_lang = "auto", which detects the language of each text.
// Threads: the thread sanitizer runs this file.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nibu/nibu.h"
#include "tests/paths.h"

namespace nibu {
namespace {

using internal::CaptionsModelPath;
using internal::TestdataPath;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kGerman[] = "Ein Mann fährt auf seinem Fahrrad durch die Stadt.";
constexpr char kEnglish[] = "A man is riding his bicycle through the town.";
constexpr char kGeorgian[] = "გამარჯობა მსოფლიო";

std::shared_ptr<const Model> Load(const std::string& path) {
  ModelOptions options;
  options.compute_type = ComputeType::kFloat32;
  auto model = Model::Load(path, options);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

std::unique_ptr<Translator> TwoThreads() {
  SpeedOptions options;
  options.threads = 2;
  return *Translator::Create(options);
}

Options From(const std::string& source, const std::string& target) {
  Options options;
  options.src_lang = source;
  options.tgt_lang = target;
  options.max_decoding_length = 8;
  options.protect = "none";  // The vocabularies lack most words.
  return options;
}

// A small random model of English, French and German, which has no default language.
class AutoLanguageTest : public testing::Test {
 protected:
  std::shared_ptr<const Plan> Prepare(const Options& options) {
    const auto plan = translator_->Prepare(model_, options);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *plan;
  }

  const std::shared_ptr<const Model> model_ = Load(TestdataPath("m2m"));
  const std::unique_ptr<Translator> translator_ = TwoThreads();
};

TEST_F(AutoLanguageTest, EachLineHasItsOwn) {
  const auto results = translator_->Translate({kGerman, kEnglish, "12:30", "", kGerman},
                                              Prepare(From("auto", "fr")));
  ASSERT_TRUE(results.ok()) << results.status();
  const auto german = *translator_->Translate({kGerman}, Prepare(From("de", "fr")));
  const auto english = *translator_->Translate({kEnglish}, Prepare(From("en", "fr")));
  EXPECT_EQ((*results)[0].source_language, "de");
  EXPECT_EQ((*results)[0].hypotheses[0].token_scores, german[0].hypotheses[0].token_scores);
  EXPECT_EQ((*results)[1].source_language, "en");
  EXPECT_EQ((*results)[1].hypotheses[0].token_scores, english[0].hypotheses[0].token_scores);
  const auto wrong = *translator_->Translate({kGerman}, Prepare(From("en", "fr")));
  EXPECT_NE(wrong[0].hypotheses[0].token_scores, german[0].hypotheses[0].token_scores);
  EXPECT_EQ((*results)[2].source_language, "");
  EXPECT_EQ((*results)[2].hypotheses[0].text, "12:30");
  EXPECT_EQ((*results)[3].hypotheses[0].text, "");
  EXPECT_EQ((*results)[4].source_language, "de");
  EXPECT_THAT(ToJson((*results)[0], 7, kGerman),
              HasSubstr("\",\"src_lang\":\"de\",\"hypotheses\""));
  EXPECT_EQ(german[0].source_language, "");
  EXPECT_THAT(ToJson(german[0], 7, kGerman), Not(HasSubstr("src_lang")));
}

TEST_F(AutoLanguageTest, AWholeTextHasOne) {
  const std::string text = std::string(kGerman) + "\nIn the town.\n" + kGerman + "\n";
  const auto results = translator_->Translate({text}, Prepare(From("auto", "fr")));
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].source_language, "de");
  const auto expected = *translator_->Translate({text}, Prepare(From("de", "fr")));
  EXPECT_EQ((*results)[0].hypotheses[0].tokens, expected[0].hypotheses[0].tokens);
}

TEST_F(AutoLanguageTest, TagsDoNotCountAsText) {
  Options options = From("auto", "fr");
  options.markup = Markup::kHtml;
  const auto results =
      translator_->Translate({std::string("<p lang=en>") + kGerman, "<br>12"}, Prepare(options));
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].source_language, "de");
  EXPECT_EQ((*results)[1].hypotheses[0].text, "<br>12");
}

TEST_F(AutoLanguageTest, ScoresToo) {
  constexpr char kShort[] = "Das ist die Stadt.";
  const auto scored = translator_->Score({kShort}, {"Une ville."}, Prepare(From("auto", "fr")));
  ASSERT_TRUE(scored.ok()) << scored.status();
  EXPECT_EQ((*scored)[0].source_language, "de");
  const auto expected = *translator_->Score({kShort}, {"Une ville."}, Prepare(From("de", "fr")));
  EXPECT_EQ((*scored)[0].hypotheses[0].log_prob, expected[0].hypotheses[0].log_prob);
  EXPECT_THAT(ScoreToJson((*scored)[0], 0), HasSubstr("\"src_lang\":\"de\"}"));
}

TEST_F(AutoLanguageTest, NothingCanBeTold) {
  const auto plan = Prepare(From("auto", "fr"));
  const auto unknown = translator_->Translate({kGeorgian}, plan);
  EXPECT_TRUE(absl::IsInvalidArgument(unknown.status())) << unknown.status();
  EXPECT_EQ(OptionOfError(unknown.status()), "src_lang");
  // Nothing of this is translated, so no language is needed.
  Options options = From("auto", "fr");
  options.protect = "all";
  const auto copied = translator_->Translate({kGeorgian, "12"}, Prepare(options));
  ASSERT_TRUE(copied.ok()) << copied.status();
  EXPECT_EQ((*copied)[0].hypotheses[0].text, kGeorgian);
  EXPECT_EQ((*copied)[0].source_language, "");

  const auto nllb = Load(TestdataPath("nllb"));  // Its default is English.
  const auto from_english = *translator_->Prepare(nllb, From("auto", "fra_Latn"));
  const auto by_default = translator_->Translate({kGeorgian}, from_english);
  ASSERT_TRUE(by_default.ok()) << by_default.status();
  EXPECT_EQ((*by_default)[0].source_language, "eng_Latn");
}

TEST_F(AutoLanguageTest, OtherOptionsAreCheckedAtOnce) {
  EXPECT_EQ(OptionOfError(translator_->Prepare(model_, From("auto", "xx")).status()), "tgt_lang");
  Options pieces = From("auto", "fr");
  pieces.tokenized = true;
  EXPECT_EQ(OptionOfError(translator_->Prepare(model_, pieces).status()), "src_lang");
  const auto other = TwoThreads();
  const auto foreign = other->Translate({kGerman}, Prepare(From("auto", "fr")));
  EXPECT_TRUE(absl::IsFailedPrecondition(foreign.status())) << foreign.status();
}

TEST_F(AutoLanguageTest, ThreadsShareAPlan) {
  const auto plan = Prepare(From("auto", "fr"));
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const auto results = translator_->Translate({i % 2 == 0 ? kGerman : kEnglish}, plan);
      if (results.ok() && (*results)[0].source_language == (i % 2 == 0 ? "de" : "en")) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4);
}

TEST(AutoLanguageOfOnePairTest, IsTheModels) {
  const auto translator = TwoThreads();
  Options options;
  options.src_lang = "auto";
  const auto plan = translator->Prepare(Load(CaptionsModelPath()), options);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto results = translator->Translate({"A dog runs."}, *plan);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].hypotheses[0].text, "Ein Hund rennt.");
  EXPECT_EQ((*results)[0].source_language, "en");
}

}  // namespace
}  // namespace nibu
