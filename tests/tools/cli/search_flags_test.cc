// Tests of the flags of the search, and of their effects on the translations of the captions model.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const char kDog[] = "A dog runs.";
const char kEinHund[] = "Ein Hund rennt.\n";

Outcome With(const std::string& flags, const std::string& line = kDog) {
  const Outcome outcome =
      Translate(absl::StrCat("--compute_type=float32 ", flags), absl::StrCat(line, "\n"));
  EXPECT_EQ(outcome.status, 0) << flags << outcome.err;
  return outcome;
}
std::vector<std::string> Tokens(const std::string& flags, const std::string& line = kDog) {
  return TokensOf(Hypotheses(absl::StrCat("--compute_type=float32 ", flags), line)[0]);
}

size_t CountRepeats(const std::vector<std::string>& tokens, size_t n) {
  std::set<std::vector<std::string>> seen;
  size_t repeats = 0;
  for (size_t i = 0; i + n <= tokens.size(); ++i) {
    const auto from = tokens.begin() + static_cast<long>(i);
    repeats += seen.emplace(from, from + static_cast<long>(n)).second ? 0 : 1;
  }
  return repeats;
}

// With these values, options have no effect.
TEST(SearchFlagsTest, NothingChangesWhereNothingIsAsked) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string source = Captions(20);
  const std::string expected = Translate("--output_format=jsonl", source).out;
  for (const char* flags : {"--patience=1",
                            "--length_penalty=1",
                            "--word_penalty=0",
                            "--coverage_penalty=0",
                            "--repetition_penalty=1",
                            "--no_repeat_ngram_size=0",
                            "--no_repeat_ngram_size=100000",
                            "--suppress_sequences=",
                            "--nodisable_unk",
                            "--noreplace_unknowns",
                            "--end_token='</s>'",
                            "--on_repetition=keep",
                            "--on_repetition=retry",

                            "--min_decoding_length=1",
                            "--target_prefix=",
                            "--prefix_bias_beta=0",
                            "--return_alternatives=false",
                            "--sampling_topk=1 --seed=7",
                            "--search_compat=nibu",
                            "--search_compat=ctranslate2",
                            "--glossary=",
                            "--alignment=none",
                            "--max_decoding_length=1000000",
                            "--suppress_sequences='▁Hund ▁Hund ▁Hund'"}) {
    EXPECT_TRUE(Translate(absl::StrCat("--output_format=jsonl ", flags), source).out == expected)
        << flags;
  }
}

TEST(SearchFlagsTest, LengthsHaveLimits) {
  for (const char* beam : {"--beam_size=1 ", "--beam_size=4 "}) {
    for (const size_t most : {1, 2, 3}) {
      const auto best = Hypotheses(absl::StrCat(beam, "--max_decoding_length=", most), kDog)[0];
      EXPECT_EQ(TokensOf(best).size(), most);
      EXPECT_EQ(best["finished"], false);
    }
    for (const size_t least : {6, 12}) {
      EXPECT_GE(Tokens(absl::StrCat(beam, "--min_decoding_length=", least)).size(), least);
    }
    EXPECT_EQ(Tokens(absl::StrCat(beam, "--min_decoding_length=9 --max_decoding_length=9")).size(),
              9u);
  }
  // The higher the penalty, the longer the hypothesis that is the best of the same ones.
  const std::string line = Lines(Captions(3))[2];
  EXPECT_LE(Tokens("--length_penalty=-3 --patience=3", line).size(),
            Tokens("--length_penalty=5 --patience=3", line).size());
}

TEST(SearchFlagsTest, ScoresAreWhatTheyAreSaidToBe) {
  for (const auto& [penalty, words] :
       {std::pair(1.0, 0.0), std::pair(0.0, 0.0), std::pair(0.6, 0.0), std::pair(1.0, 0.5)}) {
    const auto nbest =
        Lines(With(absl::StrCat("--output_format=nbest --num_hypotheses=4 ",
                                "--length_penalty=", penalty, " --word_penalty=", words))
                  .out);
    const auto json =
        Hypotheses(absl::StrCat("--compute_type=float32 --num_hypotheses=4 ",
                                "--length_penalty=", penalty, " --word_penalty=", words),
                   kDog);
    ASSERT_EQ(nbest.size(), 4u);
    ASSERT_EQ(json.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
      double log_prob = 0;
      double score = 0;
      ASSERT_EQ(sscanf(nbest[i].c_str() + nbest[i].find("logprob="), "logprob= %lf ||| %lf",
                       &log_prob, &score),
                2);
      const double length = static_cast<double>(json[i]["tokens"].size()) + 1;
      EXPECT_NEAR(score, (log_prob - words * length) / std::pow(length, penalty), 1e-5);
      EXPECT_NEAR(score, json[i]["score"].get<double>(), 1e-5);
      if (i > 0) {
        EXPECT_LE(score, json[i - 1]["score"].get<double>());
      }
    }
  }
}

TEST(SearchFlagsTest, CoverageIsALossForWhatIsNotTranslated) {
  const double without = Hypotheses("--compute_type=float32", kDog)[0]["score"];
  const double with = Hypotheses("--compute_type=float32 --coverage_penalty=1", kDog)[0]["score"];
  EXPECT_LT(with, without);
  EXPECT_GT(with, without - 1);
  // The score is the plain one less a penalty for source tokens that are not covered.
  const auto nbest = With("--coverage_penalty=1 --length_penalty=0 --output_format=nbest").out;
  double log_prob = 0;
  double score = 0;
  ASSERT_EQ(
      sscanf(nbest.c_str() + nbest.find("logprob="), "logprob= %lf ||| %lf", &log_prob, &score), 2);
  EXPECT_LT(score, log_prob);
  // The penalty makes more of the source appear, as "fährt Fahrrad" leaves an article out.
  EXPECT_GT(Tokens("--coverage_penalty=1", "A man is riding a bicycle.").size(),
            Tokens("", "A man is riding a bicycle.").size());
}

TEST(SearchFlagsTest, RepeatedNgramsAreForbidden) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  for (const char* beam : {"--beam_size=1 ", "--beam_size=4 "}) {
    const std::string lengths = absl::StrCat(beam, "--min_decoding_length=40 ");
    EXPECT_GT(CountRepeats(Tokens(lengths), 3), 0u);
    for (const size_t n : {1, 2, 3}) {
      EXPECT_EQ(CountRepeats(Tokens(absl::StrCat(lengths, "--no_repeat_ngram_size=", n)), n), 0u);
    }
  }
  const auto tokens = Tokens("--beam_size=1 --min_decoding_length=10 --repetition_penalty=1e6");
  EXPECT_EQ(CountRepeats(tokens, 1), 0u);
}

TEST(SearchFlagsTest, LoopsAreReportedAndRetried) {
  for (const char* beam : {"--beam_size=1 ", "--beam_size=4 "}) {
    const std::string flags = absl::StrCat(beam, "--min_decoding_length=60 ");
    const auto loop = Hypotheses(flags, kDog)[0];
    EXPECT_EQ(loop["repetition"], true) << loop;
    const auto other = Hypotheses(flags + "--on_repetition=retry", kDog)[0];
    EXPECT_FALSE(other.contains("repetition")) << other;
    EXPECT_EQ(CountRepeats(TokensOf(other), 3), 0u);
    const Outcome stats = With(flags + "--stats");
    EXPECT_THAT(stats.err, HasSubstr("1 line(s) repeat themselves"));
    EXPECT_THAT(stats.err, HasSubstr("\"looping_sentences\":1"));
    EXPECT_THAT(With(flags + "--stats --on_repetition=retry").err,
                HasSubstr("\"looping_sentences\":0"));
  }
}

TEST(SearchFlagsTest, SuppressedSequencesAreNotGenerated) {
  for (const char* beam : {"--beam_size=1 ", "--beam_size=4 "}) {
    EXPECT_THAT(Tokens(absl::StrCat(beam, "--suppress_sequences='▁Hund'")), Not(Contains("▁Hund")));
    const auto two = Tokens(absl::StrCat(beam, "--suppress_sequences='▁Ein ▁Hund,▁rennt,▁läuft'"));
    EXPECT_THAT(absl::StrJoin(two, " ") + " ", Not(HasSubstr("▁Ein ▁Hund ")));
    EXPECT_THAT(two, Not(Contains(testing::AnyOf("▁rennt", "▁läuft"))));
  }
  // Translations without the whole sequence stay the same.
  EXPECT_EQ(With("--suppress_sequences='▁Hund ▁Ein'").out, kEinHund);
}

TEST(SearchFlagsTest, EndTokens) {
  for (const char* beam : {"--beam_size=1 ", "--beam_size=4 "}) {
    const auto best =
        Hypotheses(absl::StrCat("--compute_type=float32 --end_token=. ", beam), kDog)[0];
    EXPECT_EQ(best["text"], "Ein Hund rennt");
    EXPECT_EQ(best["tokens"].size(), best["token_scores"].size());
    EXPECT_FALSE(best.contains("finished"));
    EXPECT_EQ(With(absl::StrCat(beam, "--end_token=.,'▁Hund'")).out, "Ein\n");
    EXPECT_EQ(With(absl::StrCat(beam, "--end_token=.,'</s>'")).out, "Ein Hund rennt\n");
  }
}

TEST(SearchFlagsTest, CompatibleSearches) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string source = Captions(10);
  const std::string own = Translate("--compute_type=float32", source).out;
  EXPECT_EQ(Translate("--compute_type=float32 --search_compat=ctranslate2", source).out, own);
  for (const char* peer : {"marian", "huggingface"}) {
    const std::string flags =
        absl::StrCat("--compute_type=float32 --print_scores --search_compat=", peer, " ");
    const Outcome all = Translate(flags + "--threads=1 --batch_size=1", source);
    EXPECT_EQ(Lines(all.out).size(), 10u) << all.err;
    EXPECT_EQ(Translate(flags + "--threads=3 --batch_size=4", source).out, all.out);
  }
  // In greedy search, all rules are the same.
  const std::string greedy = Translate("--beam_size=1", source).out;
  EXPECT_EQ(Translate("--beam_size=1 --search_compat=marian", source).out, greedy);
  EXPECT_EQ(Translate("--beam_size=1 --search_compat=huggingface", source).out, greedy);
}

TEST(SearchFlagsTest, AlternativesDifferInTheirFirstToken) {
  for (const char* beam : {"--beam_size=1 ", "--beam_size=3 "}) {
    const std::string flags = absl::StrCat("--compute_type=float32 --return_alternatives ", beam);
    const auto all = Hypotheses(flags + "--num_hypotheses=10", kDog);
    ASSERT_EQ(all.size(), 10u);
    EXPECT_EQ(all[0]["text"], "Ein Hund rennt.");
    std::set<std::string> first;
    double last = 0;
    for (const auto& each : all) {
      first.insert(TokensOf(each)[0]);
      const double score = each["token_scores"][0];
      EXPECT_LE(score, last);
      last = score;
    }
    EXPECT_EQ(first.size(), 10u);
    // Alternatives that are less probable than this are left out, except for the first.
    const double least = std::exp(all[4]["token_scores"][0].get<double>()) * 0.999;
    EXPECT_EQ(Hypotheses(absl::StrCat(flags, "--num_hypotheses=10 ",
                                      "--min_alternative_expansion_prob=", least),
                         kDog)
                  .size(),
              5u);
    EXPECT_EQ(
        Hypotheses(flags + "--num_hypotheses=10 --min_alternative_expansion_prob=1", kDog).size(),
        1u);
    EXPECT_EQ(Hypotheses(flags, kDog), nlohmann::json::array({all[0]}));
    EXPECT_EQ(Hypotheses(flags + "--num_hypotheses=300", kDog).size(), 300u);
  }
}

TEST(SamplingTest, IsTheSameWhateverTheBatch) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string source = Captions(6) + "A dog runs. Two cats sleep.\n";
  const std::string flags =
      "--sampling_topk=0 --sampling_topp=0.9 --sampling_temperature=1.3 --num_hypotheses=2 "
      "--max_decoding_length=30 --output_format=jsonl ";
  for (const char* type : {"float32", "int8"}) {
    const std::string typed = absl::StrCat(flags, "--compute_type=", type, " ");
    const std::string expected =
        Translate(typed + "--seed=5 --threads=1 --batch_size=1", source).out;
    EXPECT_TRUE(Translate(typed + "--seed=5 --threads=1 --batch_size=9", source).out == expected);
    EXPECT_TRUE(Translate(typed + "--seed=5 --threads=3", source).out == expected);
    EXPECT_FALSE(Translate(typed + "--seed=6", source).out == expected);
    EXPECT_FALSE(Translate(typed, source).out == expected);
  }
}

TEST(SamplingTest, LinesAndSentencesDifferAndSeedsReachFar) {
  const auto lines =
      Lines(With("--sampling_topk=0 --sampling_temperature=2 --max_decoding_length=9",
                 absl::StrCat(kDog, "\n", kDog, " ", kDog))
                .out);
  EXPECT_NE(lines[0], lines[1]);
  EXPECT_NE(lines[1], absl::StrCat(lines[0], " ", lines[0]));
  EXPECT_NE(With("--sampling_topk=0 --sampling_temperature=2 --seed=18446744073709551615").out,
            With("--sampling_topk=0 --sampling_temperature=2 --seed=0").out);
}

TEST(SamplingTest, NarrowSamplingIsGreedyAndWideSamplingVaries) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  for (const char* flags :
       {"--sampling_topk=0 --sampling_temperature=1e-6", "--sampling_topk=0 --sampling_topp=1e-6",
        "--sampling_topk=2 --sampling_topp=1e-6", "--sampling_topk=1"}) {
    EXPECT_EQ(With(flags).out, kEinHund) << flags;
  }
  const std::string hot = "--sampling_temperature=3 --max_decoding_length=20 --seed=2 ";
  const std::string all = With(hot + "--sampling_topk=0").out;
  EXPECT_EQ(With(hot + "--sampling_topk=1000000").out, all);
  EXPECT_NE(With(hot + "--sampling_topk=2").out, all);
  const auto samples =
      Hypotheses("--sampling_topk=10 --sampling_temperature=2 --num_hypotheses=20", kDog);
  ASSERT_EQ(samples.size(), 20u);
  std::set<std::string> texts;
  for (size_t i = 0; i < samples.size(); ++i) {
    texts.insert(samples[i]["text"].get<std::string>());
    if (i > 0) {
      EXPECT_LE(samples[i]["score"].get<double>(), samples[i - 1]["score"].get<double>());
    }
  }
  EXPECT_GT(texts.size(), 3u);
}

}  // namespace
}  // namespace nibu::internal
