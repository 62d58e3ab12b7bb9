// Tests of flags, and of the defaults of a model, which they override.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/shell.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

// The captions model with a generation_config.json that tests change.
class DefaultsTest : public testing::Test {
 protected:
  DefaultsTest()
      : folder_(fs::path(testing::TempDir()) / absl::StrCat("nibu_defaults_", getpid())) {
    fs::remove_all(folder_);
    fs::copy(CaptionsModelPath(), folder_);
  }
  ~DefaultsTest() override { fs::remove_all(folder_); }

  void SetDefault(const std::string& key, const nlohmann::json& value) {
    const std::string path = (folder_ / "generation_config.json").string();
    nlohmann::json config = nlohmann::json::parse(ReadFile(path));
    config[key] = value;
    std::ofstream(path) << config;
  }
  Outcome Run(const std::string& program, const std::string& flags) {
    return Shell(absl::StrCat(Program(program), " --compute_type=float32 ", "--model='",
                              folder_.string(), "' ", flags),
                 "A dog runs.\n");
  }
  Outcome Translate(const std::string& flags) { return Run("nibu-translate", flags); }
  Outcome Bench(const std::string& flags) {
    return Run("nibu-bench", absl::StrCat("--json --src=/dev/stdin --threads=1 ", flags));
  }

  const fs::path folder_;
};

TEST_F(DefaultsTest, CountWhereFlagsAreChecked) {
  SetDefault("num_beams", 6);
  const Outcome six = Translate("--num_hypotheses=6 --output_format=nbest");
  EXPECT_EQ(six.status, 0) << six.err;
  EXPECT_EQ(Lines(six.out).size(), 6u);
  ExpectOneLineError("nibu-translate", Translate("--num_hypotheses=7 --output_format=nbest"), 2,
                     "--num_hypotheses must be 1 to beam_size * patience = 6, not 7");
  ExpectOneLineError("nibu-translate",
                     Translate("--num_hypotheses=6 --beam_size=4 --output_format=nbest"), 2, "= 4");
  SetDefault("num_beams", 1);
  ExpectOneLineError("nibu-translate", Translate("--num_hypotheses=4 --output_format=nbest"), 2,
                     "--num_hypotheses must be 1 to beam_size * patience = 1, not 4");
  ExpectOneLineError("nibu-bench", Bench("--num_hypotheses=4"), 2, "= 1, not 4");
  ExpectOneLineError("nibu-bench", Bench("--beam_size=0"), 2, "--beam_size must be 1 to 1024");
  ExpectOneLineError("nibu-translate", Translate("--beam_size=0"), 2,
                     "--beam_size must be 1 to 1024, not 0");
}

TEST_F(DefaultsTest, AreWhatBenchMeasures) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  SetDefault("num_beams", 3);
  EXPECT_EQ(nlohmann::json::parse(Bench("").out)["beam_size"], 3);
  EXPECT_EQ(nlohmann::json::parse(Bench("--beam_size=2").out)["beam_size"], 2);
  EXPECT_EQ(nlohmann::json::parse(Bench("--num_hypotheses=3").out)["beam_size"], 3);
  SetDefault("num_beams", 1);
  const Outcome draft = Bench(absl::StrCat("--draft_model='", folder_.string(), "'"));
  EXPECT_EQ(draft.status, 0) << draft.err;
  // A fixed length takes precedence over the model's own limit.
  SetDefault("max_length_factor", 0.5);
  // The limit is half of 4 tokens and the EOS.
  EXPECT_EQ(nlohmann::json::parse(Bench("").out)["target_tokens"], 2);
  EXPECT_EQ(nlohmann::json::parse(Bench("--output_length=9").out)["target_tokens"], 9);
}

TEST_F(DefaultsTest, LimitLengthsThatAreAskedFor) {
  SetDefault("max_length_factor", 0.5);  // The source has 5 tokens.
  const auto tokens = [this](const std::string& flags) {
    const Outcome outcome = Translate(flags + "--output_format=jsonl");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out)["hypotheses"][0]["tokens"].size();
  };
  EXPECT_EQ(tokens(""), 2u);
  EXPECT_EQ(tokens("--min_decoding_length=1 --max_decoding_length=256 "), 2u);
  EXPECT_EQ(tokens("--max_decoding_length=1 "), 1u);
  EXPECT_EQ(tokens("--min_decoding_length=4 "), 4u);
}

TEST_F(DefaultsTest, LengthsAndRepetitionsAreHuggingFaces) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const auto tokens = [this](const std::string& flags) {
    const Outcome outcome = Translate(flags + "--output_format=jsonl");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out)["hypotheses"][0]["tokens"].size();
  };
  SetDefault("max_length", 4);  // It counts the decoder's start, and the forced end token.
  EXPECT_EQ(tokens(""), 2u);
  EXPECT_EQ(tokens("--max_decoding_length=3 "), 3u);
  EXPECT_EQ(nlohmann::json::parse(Bench("").out)["target_tokens"], 2);
  SetDefault("max_length", 400);
  EXPECT_EQ(tokens("--min_decoding_length=300 "), 300u);
  SetDefault("no_repeat_ngram_size", 1);  // No token may come twice.
  const auto repeated = [this](const std::string& flags) {
    const Outcome outcome =
        Translate(flags + "--output_format=jsonl 'A dog and a dog and a dog run.'");
    const nlohmann::json best = nlohmann::json::parse(outcome.out)["hypotheses"][0];
    const auto all = best["tokens"].get<std::vector<std::string>>();
    return std::set<std::string>(all.begin(), all.end()).size() < all.size();
  };
  EXPECT_TRUE(repeated("--no_repeat_ngram_size=0 "));
  EXPECT_FALSE(repeated(""));
  SetDefault("max_length", 0);
  ExpectOneLineError("nibu-translate", Translate(""), 1, "\"max_length\" must be 1 to");
}

TEST_F(DefaultsTest, EarlyStoppingIsHuggingFaces) {
  const std::string flags = "--num_hypotheses=4 --output_format=nbest --length_penalty=0.2 ";
  const std::string late = Translate(flags + "--search_compat=huggingface").out;
  const std::string ours = Translate(flags).out;
  SetDefault("early_stopping", true);
  EXPECT_NE(Translate(flags + "--search_compat=huggingface").out, late);
  EXPECT_EQ(Translate(flags).out, ours);
}

TEST_F(DefaultsTest, SayHowLongTranslationsAre) {
  const std::string line = "'A man is riding a bicycle along the river with his brown dog.' ";
  const std::string flags = line + "--max_decoding_length=3 --warnings";
  EXPECT_THAT(Translate(flags).err, HasSubstr("short"));
  SetDefault("length_ratio", 0.1);
  EXPECT_THAT(Translate(flags).err, Not(HasSubstr("short")));
}

TEST_F(DefaultsTest, ThatMakeNoSenseAreTheModelsFault) {
  SetDefault("num_beams", 0);
  ExpectOneLineError("nibu-translate", Translate(""), 1, "\"num_beams\" must be 1 to 1024");
  ExpectOneLineError("nibu-bench", Bench(""), 1, "\"num_beams\" must be 1 to 1024");
  SetDefault("num_beams", 4);
  SetDefault("max_length_factor", -1);
  ExpectOneLineError("nibu-translate", Translate(""), 1, "\"max_length_factor\" must be 0 to 1000");
}

}  // namespace
}  // namespace nibu::internal
