// Tests of what the flags of the search refuse, alone and together, and that nothing breaks at the
// ends of their ranges.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

TEST(SearchRefusalsTest, ValuesNameTheirFlag) {
  const std::vector<std::pair<std::string, std::vector<const char*>>> flags = {
      {"--beam_size", {"0", "-1", "1025", "x", ""}},
      {"--patience", {"0", "-1", "nan", "inf"}},
      {"--num_hypotheses", {"0", "-1", "5"}},
      {"--search_compat", {"", "x"}},
      {"--length_penalty", {"nan", "inf", "x", "8.1", "-1000"}},
      {"--word_penalty", {"nan", "-inf", "1e38"}},
      {"--coverage_penalty", {"nan", "inf", "-1e38"}},
      {"--repetition_penalty", {"0", "-1", "nan", "inf", "1e-45"}},
      {"--no_repeat_ngram_size", {"-1", "1.5"}},
      {"--suppress_sequences", {"zzz", ",", "'▁Ein,,▁Hund'", "' '", "'▁Ein zzz'"}},
      {"--end_token", {"zzz", ",", "'</s>,'", "'▁Ein ▁Hund'"}},
      {"--on_repetition", {"", "x"}},
      {"--min_decoding_length", {"-1", "257"}},
      {"--max_decoding_length", {"0", "-1"}},
      {"--prefix_bias_beta", {"-0.1", "1", "nan"}},
      {"--min_alternative_expansion_prob", {"-0.1", "1.1", "nan"}},
      {"--sampling_topk", {"-1"}},
      {"--sampling_topp", {"0", "1.1", "nan"}},
      {"--sampling_temperature", {"0", "-1", "nan", "inf"}},
      {"--seed", {"-1", "x"}},
      {"--ensemble_weights", {"x", "0", "-1", "nan", "inf", "1,1", "3e38", "1e-30"}},
      {"--disable_unk", {"x"}},
      {"--return_alternatives", {"2"}}};
  for (const auto& [flag, values] : flags) {
    for (const char* value : values) {
      SCOPED_TRACE(absl::StrCat(flag, "=", value));
      ExpectUsageError(Translate(absl::StrCat(flag, "=", value), "A dog.\n"), flag);
    }
  }
}

TEST(SearchRefusalsTest, WhatDoesNotGoTogether) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"--sampling_topk=0 --beam_size=2", "--sampling_topk"},
      {"--sampling_topk=5 --return_alternatives", "--return_alternatives"},
      {"--sampling_topk=5 --prefix_bias_beta=0.5", "--prefix_bias_beta"},
      {"--return_alternatives --prefix_bias_beta=0.5", "--prefix_bias_beta"},
      {"--return_alternatives --coverage_penalty=1", "--return_alternatives"},
      {"--on_repetition=retry --return_alternatives", "--on_repetition"},
      {"--output_format=nbest --on_repetition=retry --sampling_topk=0 --num_hypotheses=2",
       "--on_repetition"},
      {"--prefix_bias_beta=0.5 --beam_size=1", "--prefix_bias_beta"},
      {"--prefix_bias_beta=0.5 --coverage_penalty=1", "--prefix_bias_beta"},
      {"--coverage_penalty=1 --alignment_layer=-1", "--coverage_penalty"},
      {"--coverage_penalty=1 --alignment_heads=0", "--coverage_penalty"},
      {"--search_compat=marian --patience=2", "--patience"},
      {"--search_compat=huggingface --patience=2", "--patience"},
      {"--beam_size=1 --num_hypotheses=2", "--num_hypotheses"},
      {"--beam_size=1 --num_hypotheses=2 --patience=2", "--num_hypotheses"},
      {"--return_alternatives --beam_size=4 --num_hypotheses=257", "--num_hypotheses"},
      {"--sampling_topk=0 --num_hypotheses=1025", "--num_hypotheses"},
      {"--min_decoding_length=9 --max_decoding_length=8", "--min_decoding_length"},
      {"--sampling_topp=0.5", "--sampling_topp"},
      {"--sampling_temperature=2 --beam_size=1", "--sampling_temperature"},
      {"--prefix_bias_beta=0.5", "--prefix_bias_beta"},
      {"--min_alternative_expansion_prob=0.5", "--min_alternative_expansion_prob"},
      {"--alignment_level=words", "--alignment_level"},
      {"--sampling_topk=1 --sampling_topp=0.5", "--sampling_topp"},
      {"--target_prefix= --prefix_bias_beta=0.5", "--prefix_bias_beta"},
      {"--return_alternatives=false --min_alternative_expansion_prob=0.5",
       "--min_alternative_expansion_prob"},
      {"--alignment=none --alignment_level=words", "--alignment_level"},
      {"--beam_size=4 --draft_model=x", "--draft_model"}};
  for (const auto& [flags, name] : refused) {
    SCOPED_TRACE(flags);
    ExpectUsageError(Translate(flags, "A dog.\n"), name);
  }
}

TEST(SearchRefusalsTest, NothingIsReadOrWrittenTwice) {
  ExpectUsageError(Translate("--target_prefix=-", "A dog.\n"), "--target_prefix");
  const std::string prefix = TestFile("prefix", "Ein\n");
  ExpectUsageError(Translate(absl::StrCat("--target_prefix=", prefix, " >>", prefix), "A dog.\n"),
                   "is the file that is read");
  EXPECT_EQ(ReadFile(prefix), "Ein\n");
}

// These are large numbers, and many options at a time.
TEST(SearchRefusalsTest, EndsOfWhatIsTaken) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string prefix = TestFile("prefix", "Eine Katze\n");
  for (const std::string flags :
       {"--beam_size=100 --num_hypotheses=100 --max_decoding_length=6",
        "--beam_size=40",
        "--patience=200 --num_hypotheses=20",
        "--patience=0.001",
        "--length_penalty=-8",
        "--length_penalty=8",
        "--word_penalty=1e6",
        "--coverage_penalty=-1e6",
        "--repetition_penalty=1e6",
        "--repetition_penalty=0.001 --max_decoding_length=20",
        "--no_repeat_ngram_size=2147483647",
        "--no_repeat_ngram_size=1",
        "--min_decoding_length=50 --max_decoding_length=50",
        "--max_decoding_length=2147483647",
        "--sampling_topk=2147483647",
        "--sampling_topp=1 --sampling_topk=0",
        "--sampling_temperature=1e6 --sampling_topk=0 --max_decoding_length=20",
        "--seed=18446744073709551615 --sampling_topk=3",
        "--end_token='▁,</s>,.'",
        "--coverage_penalty=0.2 --repetition_penalty=1.2 --no_repeat_ngram_size=3 --disable_unk "
        "--replace_unknowns --on_repetition=retry --alignment=soft --num_hypotheses=4",
        "--return_alternatives --num_hypotheses=5 --repetition_penalty=1.2 --alignment=hard "
        "--search_compat=huggingface --min_alternative_expansion_prob=0.0001",
        "--sampling_topk=0 --num_hypotheses=8 --repetition_penalty=1.5 --no_repeat_ngram_size=2 "
        "--min_decoding_length=30 --max_decoding_length=40",
        "--sampling_topk=0 --on_repetition=retry --min_decoding_length=30 "
        "--max_decoding_length=40"}) {
    for (const std::string& more : {std::string(), " --target_prefix=" + prefix}) {
      SCOPED_TRACE(flags + more);
      const Outcome outcome =
          Translate(absl::StrCat("--output_format=jsonl ", flags, more), "A dog runs.\n");
      ASSERT_EQ(outcome.status, 0) << outcome.err;
      ASSERT_EQ(Lines(outcome.out).size(), 1u);
      const auto line = nlohmann::json::parse(outcome.out);
      ASSERT_FALSE(line["hypotheses"].empty());
      for (const auto& each : line["hypotheses"]) {
        EXPECT_EQ(each["tokens"].size(), each["token_scores"].size());
        EXPECT_TRUE(each["score"].is_number()) << each;
      }
    }
  }
}

// nibu-bench has the same flags.
TEST(SearchRefusalsTest, OfTheBench) {
  const auto bench = [](const std::string& flags) {
    return Shell(absl::StrCat(CaptionsProgram("nibu-bench"), " --json --src=/dev/stdin ",
                              "--threads=1 ", flags),
                 "A dog runs.\n");
  };
  EXPECT_EQ(bench("--repetition_penalty=1.5 --no_repeat_ngram_size=2").status, 0);
  EXPECT_EQ(bench("--sampling_topk=5 --beam_size=1").status, 0);
  ExpectOneLineError("nibu-bench", bench("--repetition_penalty=0"), 2, "--repetition_penalty");
}

}  // namespace
}  // namespace nibu::internal
