// Tests of --draft_model as a user gives it.
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

const std::string kCaptions = CaptionsModelPath();

Outcome Bench(const std::string& flags, const std::string& input = "") {
  return Shell(absl::StrCat(CaptionsProgram("nibu-bench"), " --json ", flags), input);
}

std::string Source() { return ReadFile(TestdataPath("multi30k.en")).substr(0, 1500); }

TEST(DraftModelTest, ChangesNothing) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  for (const char* type : {"float32", "int8"}) {
    const std::string flags =
        absl::StrCat("--compute_type=", type, " --beam_size=1 --output_format=jsonl");
    const Outcome expected = Translate(flags, Source());
    ASSERT_EQ(expected.status, 0) << expected.err;
    for (const char* batch : {" --batch_size=1 --threads=1", " --batch_size=4", ""}) {
      const Outcome outcome =
          Translate(absl::StrCat(flags, batch, " --draft_model='", kCaptions, "'"), Source());
      EXPECT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_EQ(outcome.out, expected.out) << type << batch;
    }
  }
}

TEST(DraftModelTest, MayBeOfAnotherKind) {
  const std::string models = SharedPath("models/");
  if (!std::filesystem::exists(models)) GTEST_SKIP() << models << " is not there";
  const std::string transformer = models + "en-de-marian";
  const std::string ssru = models + "en-de-ssru-marian";
  for (const auto& [model, draft] : {std::pair(transformer, ssru), std::pair(ssru, transformer)}) {
    const std::string flags =
        absl::StrCat("--batch_size=2 --beam_size=1 --print_scores --model='", model, "'");
    const Outcome expected = Translate(flags, Source());
    ASSERT_EQ(expected.status, 0) << expected.err;
    const Outcome outcome =
        Translate(absl::StrCat(flags, " --draft_model='", draft, "'"), Source());
    EXPECT_EQ(outcome.out, expected.out) << outcome.err;
  }
}

TEST(DraftModelTest, WrongUsage) {
  const std::string draft = absl::StrCat("--draft_model='", kCaptions, "'");
  ExpectOneLineError("nibu-translate", Translate(draft, ""), 2,
                     "--draft_model needs --beam_size=1, not 4");
  ExpectOneLineError("nibu-bench", Bench("--beam_size=1,2 " + draft), 2,
                     "--draft_model needs --beam_size=1, not 2");
  ExpectOneLineError(
      "nibu-bench",
      Shell(absl::StrCat(Program("nibu-bench"), " --config='", SourcePath("configs/en-de.json"),
                         "' --random_weights ", draft),
            ""),
      2, "--draft_model needs a model");
}

TEST(DraftModelTest, OfAnotherVocabulary) {
  const std::string other = TestdataPath("t5");
  const std::string flags = absl::StrCat("--beam_size=1 --draft_model='", other, "'");
  const Outcome outcome = Translate(flags, "A dog.\n");
  ExpectOneLineError("nibu-translate", outcome, 1, other);
  EXPECT_NE(outcome.err.find(CaptionsModelPath("config.json")), std::string::npos) << outcome.err;
  ExpectOneLineError("nibu-bench", Bench(flags), 1, other);
  ExpectOneLineError("nibu-translate",
                     Translate("--beam_size=1 --draft_model=/nonexistent", "A dog.\n"), 1,
                     "/nonexistent");
}

TEST(DraftModelTest, IsMeasured) {
  const std::string flags =
      "--src=/dev/stdin --beam_size=1 --batch_size=1 --threads=1 --compute_type=float32";
  const Outcome without = Bench(flags, "A man is riding a bicycle.\n");
  const Outcome with = Bench(absl::StrCat(flags, " --draft_model='", kCaptions, "'"),
                             "A man is riding a bicycle.\n");
  ASSERT_EQ(with.status, 0) << with.err;
  const auto a = nlohmann::json::parse(without.out);
  const auto b = nlohmann::json::parse(with.out);
  EXPECT_EQ(a["target_tokens"], b["target_tokens"]);
  EXPECT_EQ(2 * a["weight_bytes"].get<int64_t>(), b["weight_bytes"].get<int64_t>());
}

}  // namespace
}  // namespace nibu::internal
