// Tests of the facts that the library tells about models, languages and its own work.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nibu/nibu.h"
#include "tests/paths.h"

namespace nibu {
namespace {

using internal::CaptionsModelPath;
using internal::TestdataPath;

TEST(FactsTest, InfoWithoutWeightsIsThatOfTheLoadedModel) {
  for (const std::string& path : {CaptionsModelPath(), TestdataPath("de-en")}) {
    const auto read = Model::ReadInfo(path);
    ASSERT_TRUE(read.ok()) << read.status();
    const auto model = Model::Load(path);
    ASSERT_TRUE(model.ok()) << model.status();
    const ModelInfo& info = (*model)->info();
    EXPECT_EQ(read->path, info.path);
    EXPECT_EQ(read->format, info.format);
    EXPECT_EQ(read->license, info.license);
    EXPECT_EQ(read->source_language, info.source_language);
    EXPECT_EQ(read->target_language, info.target_language);
    EXPECT_EQ(read->source_languages, info.source_languages);
    EXPECT_FALSE(info.source_language.empty());
    EXPECT_EQ(read->weight_bytes, 0u);
  }
  EXPECT_EQ(Model::ReadInfo("/no/such/model").status().code(), absl::StatusCode::kNotFound);
}

TEST(FactsTest, LanguageCodesAndNames) {
  const std::pair<const char*, const char*> kCodes[] = {
      {"de", "de"},         {"deu", "de"},
      {"de-DE", "de"},      {"deu_Latn", "de"},
      {"en_XX", "en"},      {"zh", "zh-Hans"},
      {"zh-CN", "zh-Hans"}, {"zho_Hant", "zh-Hant"},
      {"zh_TW", "zh-Hant"}, {"pt", "pt"},
      {"pt_BR", "pt-BR"},   {"por_Latn", "pt"},
      {"srp_Cyrl", "sr"},   {"sr-Latn", "sr-Latn"},
      {"german", ""},       {"", ""},
      {"auto", ""},         {"e", ""}};
  for (const auto& [code, expected] : kCodes) EXPECT_EQ(ShortLanguageCode(code), expected) << code;
  EXPECT_EQ(LanguageName("de"), "German");
  EXPECT_EQ(LanguageName("zh-Hant"), "Chinese (Traditional)");
  EXPECT_EQ(LanguageName("pt-BR"), "Portuguese (Brazil)");
  EXPECT_EQ(LanguageName("xqz"), "xqz");
}

TEST(FactsTest, ActivityCountsSentencesAndSteps) {
  SpeedOptions speed;
  speed.threads = 1;
  const auto translator = *Translator::Create(speed);
  EXPECT_EQ(translator->activity().begun, 0u);
  const auto count = [&] {
    const auto plan = *translator->Prepare(*Model::Load(CaptionsModelPath()));
    EXPECT_TRUE(translator->Translate({"A dog runs. A cat.", "Two men."}, plan).ok());
  };
  count();
  const Activity once = translator->activity();
  EXPECT_EQ(once.begun, 3u);
  EXPECT_EQ(once.waiting, 0u);
  EXPECT_GE(once.waited_seconds, 0);
  EXPECT_GT(once.steps, 0u);
  EXPECT_GE(once.step_sentences, once.steps);
  EXPECT_LE(once.step_sentences, 3 * once.steps);
  translator->ReleaseUnloaded();
  // Models that are gone still count.
  EXPECT_EQ(translator->activity().begun, 3u);
  count();
  EXPECT_EQ(translator->activity().begun, 6u);
}

}  // namespace
}  // namespace nibu
