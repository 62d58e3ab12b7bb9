// Tests of ensembles as a user gives them.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

const std::string kCaptions = CaptionsModelPath();

std::string Models(const std::vector<std::string>& paths) {
  return absl::StrCat("--model='", absl::StrJoin(paths, ","), "' ");
}

TEST(EnsembleTest, OfOneModelTwiceIsThatModel) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string source = Captions(10);
  for (const char* flags : {"--beam_size=1 ", "--beam_size=4 ", "--search_compat=marian "}) {
    const auto one = JsonLines(Translate(absl::StrCat("--output_format=jsonl ", flags), source));
    const auto two = JsonLines(Translate(
        absl::StrCat("--output_format=jsonl ", flags, Models({kCaptions, kCaptions})), source));
    ASSERT_EQ(one.size(), two.size());
    for (size_t i = 0; i < one.size(); ++i) {
      const auto& a = one[i]["hypotheses"][0];
      const auto& b = two[i]["hypotheses"][0];
      EXPECT_EQ(a["text"], b["text"]);
      EXPECT_NEAR(a["score"].get<double>(), b["score"].get<double>(), 1e-5);
    }
  }
}

TEST(EnsembleTest, WithOtherOptions) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string flags = absl::StrCat("--output_format=jsonl ", Models({kCaptions, kCaptions}));
  for (const char* more : {"--sampling_topk=5 --num_hypotheses=3", "--alignment=soft",
                           "--return_alternatives --num_hypotheses=3", "--repetition_penalty=2",
                           "--no_repeat_ngram_size=1", "--coverage_penalty=1"}) {
    const Outcome outcome = Translate(absl::StrCat(flags, more), "A dog runs.\n");
    EXPECT_EQ(outcome.status, 0) << more << outcome.err;
  }
}

TEST(EnsembleTest, ADraftModelChangesNothing) {
  const std::string flags =
      absl::StrCat("--compute_type=float32 --beam_size=1 ", Models({kCaptions, kCaptions}));
  const std::string expected = Translate(flags, Captions(10)).out;
  const Outcome outcome =
      Translate(absl::StrCat(flags, "--draft_model='", kCaptions, "'"), Captions(10));
  EXPECT_EQ(outcome.out, expected) << outcome.err;
  EXPECT_EQ(Lines(expected).size(), 10u);
}

TEST(EnsembleTest, WrongUsage) {
  const auto run = [](const std::string& flags) { return Translate(flags, "A dog runs.\n"); };
  const std::string two = Models({kCaptions, kCaptions});
  ExpectUsageError(run(two + "--ensemble_weights=1"), "--ensemble_weights");
  ExpectUsageError(run(two + "--ensemble_weights=1,2,3"), "--ensemble_weights");
  ExpectUsageError(run(two + "--ensemble_weights=1,0"), "--ensemble_weights");
  ExpectUsageError(run(two + "--ensemble_weights=1,,2"), "--ensemble_weights");
  EXPECT_EQ(run(two + "--ensemble_weights=1,2").out, "Ein Hund rennt.\n");
  ExpectUsageError(run("--ensemble_weights=3"), "--ensemble_weights means nothing with one model");
  const std::string other = TestdataPath("t5");
  const Outcome refused = run(Models({kCaptions, other}));
  ExpectOneLineError("nibu-translate", refused, 1, other + ": has not the vocabulary of");
  ExpectOneLineError("nibu-translate", run(Models({kCaptions, "/nonexistent"})), 1, "/nonexistent");
  ExpectUsageError(run(Models({kCaptions, ""})), "has a comma with no model beside it");
}

// The path of one model may have a comma.
TEST(EnsembleTest, NamesWithCommas) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / absl::StrCat("nibu,", getpid());
  fs::remove_all(folder);
  fs::copy(kCaptions, folder);
  EXPECT_EQ(Translate(Models({folder.string()}), "A dog runs.\n").out, "Ein Hund rennt.\n");
  const std::string escaped = absl::StrReplaceAll(folder.string(), {{",", "\\,"}});
  EXPECT_EQ(Translate(Models({escaped, escaped}), "A dog runs.\n").out, "Ein Hund rennt.\n");
  fs::remove_all(folder);
}

// The models may have other formats and other kinds of decoder, as long as they share a vocabulary.
TEST(EnsembleTest, SharedModels) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string shared = SharedPath("models/");
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << shared << " is not there";
  const std::string a = shared + "en-de-marian";
  const std::string b = shared + "en-de-ssru-marian";
  const std::string source = Captions(20);
  const std::string flags = "--compute_type=float32 --shortlist=none --beam_size=4 ";
  const auto run = [&](const std::vector<std::string>& models, const std::string& weights) {
    const Outcome outcome = Translate(absl::StrCat(flags, Models(models), weights), source);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  };
  const std::string only_a = run({a}, "");
  const std::string only_b = run({b}, "");
  const std::string both = run({a, b}, "");
  EXPECT_NE(only_a, only_b);
  EXPECT_NE(both, only_b);
  EXPECT_EQ(run({a, b}, "--ensemble_weights=1,1 --threads=1 --batch_size=3"), both);
  EXPECT_EQ(run({a, b}, "--ensemble_weights=2,2"), both);
  EXPECT_EQ(run({a, b}, "--ensemble_weights=1,1e-6"), only_a);
  EXPECT_EQ(run({a, b}, "--ensemble_weights=1e-6,1"), only_b);
  // The copy in Hugging Face's format has one more token, with which its decoder begins.
  const std::string h = shared + "en-de-hf";
  EXPECT_EQ(run({h, shared + "en-de-ct2"}, ""), run({h}, ""));
  EXPECT_EQ(run({h, a}, ""), run({a, h}, ""));
  EXPECT_EQ(run({h, b}, "--ensemble_weights=1e-6,1"), only_b);
  EXPECT_EQ(run({b, h}, "--ensemble_weights=1,1e-6"), only_b);
  // One shortlist serves all models, and a note says whose shortlist is not used.
  const Outcome lists =
      Translate(absl::StrCat(Models({h, shared + "en-de-ssru-marian-int8"})), "A dog runs.\n");
  EXPECT_EQ(lists.status, 0) << lists.err;
  EXPECT_NE(lists.err.find("its shortlist is not used"), std::string::npos) << lists.err;
}

}  // namespace
}  // namespace nibu::internal
