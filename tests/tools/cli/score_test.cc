// Tests of nibu-score as a user runs it.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Scores = std::vector<double>;

Scores ScoresOf(const nlohmann::json& scored) { return scored["token_scores"].get<Scores>(); }

void ExpectError(const Outcome& outcome, int status, const std::string& part) {
  ExpectOneLineError("nibu-score", outcome, status, part);
}

// Translations that are found with some flags: a line of source and target pieces with a tab
// between them for each, and their scores.
struct Found {
  std::string pairs;
  std::vector<Scores> token_scores;
  Scores scores;
};
Found Translations(const std::string& flags, const std::string& source) {
  Found found;
  for (const auto& line : JsonLines(Translate(
           absl::StrCat("--split_sentences=false --output_format=jsonl ", flags), source))) {
    const auto& best = line["hypotheses"][0];
    absl::StrAppend(&found.pairs, line["source"].get<std::string>(), "\t",
                    best["text"].get<std::string>(), "\n");
    found.token_scores.push_back(ScoresOf(best));
    found.scores.push_back(best["score"].get<double>());
  }
  return found;
}

// Returns the pieces of German captions, which serve as a source. Pieces are used since text might
// be split into other ones.
std::string PiecesOfCaptions(size_t count) {
  std::vector<std::string> lines = Lines(ReadFile(TestdataPath("multi30k.en-de.beam4.pieces")));
  lines.resize(count);
  std::string pieces;
  for (const std::string& line : lines) {
    absl::StrAppend(&pieces, line.substr(line.find('\t') + 1), "\n");
  }
  return pieces;
}

TEST(ScoreTest, EqualsTheDecodersOwnScores) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  for (const std::string type : {"float32", "bfloat16", "int8"}) {
    SCOPED_TRACE(type);
    const std::string common = absl::StrCat("--tokenized --compute_type=", type, " ");
    if (Translate(common, "").status == 2) continue;  // This CPU does not support the type.
    for (const std::string search : {"--beam_size=1", "--beam_size=4 --length_penalty=1"}) {
      const Found found =
          Translations(absl::StrCat(common, search, " --num_hypotheses=1"), PiecesOfCaptions(20));
      ASSERT_EQ(found.scores.size(), 20u);
      for (const char* speed : {"--threads=1 --batch_size=1", "--threads=2 --batch_size=7", ""}) {
        const auto scored = JsonLines(Score(
            absl::StrCat(common, "--min_decoding_length=1 --tsv --output_format=jsonl ", speed),
            found.pairs));
        ASSERT_EQ(scored.size(), found.scores.size());
        for (size_t i = 0; i < scored.size(); ++i) {
          Scores token_scores = ScoresOf(scored[i]);
          EXPECT_EQ(scored[i]["tokens"].size(), token_scores.size());
          EXPECT_EQ(scored[i]["tokens"].back(), "</s>");
          token_scores.pop_back();  // A translation has no score of the EOS.
          EXPECT_EQ(token_scores, found.token_scores[i]) << i;
          EXPECT_EQ(scored[i]["score"].get<double>(), found.scores[i]) << i;
        }
      }
    }
  }
}

// A line that nibu-translate has translated gets the score that it printed, if the text is split
// into the pieces that were generated.
TEST(ScoreTest, EqualsWhatTranslatePrints) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  std::string source = Captions(100);
  source +=
      "A dog runs. A cat sleeps on a mat.\nA man sees https://example.com on a sign.\n"
      "A dog \xf0\x9f\x98\x80 runs.\n---\n12:30\n\n";
  const size_t captions = 100;
  const auto translated = Lines(Translate("--print_scores", source).out);
  std::string scores;
  std::string targets;
  for (const std::string& line : translated) {
    const size_t tab = line.find('\t');
    absl::StrAppend(&scores, line.substr(0, tab), "\n");
    absl::StrAppend(&targets, line.substr(tab + 1), "\n");
  }
  const Outcome scored =
      Score(absl::StrCat("--min_decoding_length=1 --src=", TestFile("src", source),
                         " --tgt=", TestFile("tgt", targets)));
  EXPECT_EQ(scored.status, 0) << scored.err;
  EXPECT_EQ(scored.err, "");
  const auto expected = Lines(scores);
  const auto lines = Lines(scored.out);
  ASSERT_EQ(lines.size(), expected.size());
  size_t equal = 0;
  for (size_t i = 0; i < captions; ++i) equal += lines[i] == expected[i] ? 1 : 0;
  EXPECT_GE(equal, 95u);
  for (size_t i = captions; i < lines.size(); ++i)
    EXPECT_EQ(lines[i], expected[i]) << translated[i];
}

TEST(ScoreTest, OtherSentencesAreScoredAsOne) {
  const std::string pair = "A dog runs. A cat sleeps.\tEin Hund rennt und eine Katze schläft.\n";
  const Outcome whole = Score("--tsv", pair);
  EXPECT_EQ(whole.status, 0);
  EXPECT_THAT(whole.err,
              HasSubstr("1 line(s) were scored as one sentence, the first is line 1: source"));
  EXPECT_EQ(JsonLines(Score("--tsv --output_format=jsonl", pair))[0]["scored_whole"], true);
  const Outcome unsplit = Score("--tsv --nosplit_sentences", pair);
  EXPECT_EQ(unsplit.err, "");
  EXPECT_EQ(whole.out, unsplit.out);
  // A sentence without letters is joined to the one before it, if this gives both sides as many
  // sentences.
  const Outcome emoji =
      Score("--tsv --output_format=jsonl", "Hello \xf0\x9f\x98\x80\tHallo! \xf0\x9f\x98\x80\n");
  EXPECT_EQ(emoji.err, "");
  EXPECT_FALSE(JsonLines(emoji)[0].contains("scored_whole"));
  // A sentence that is only copied has the score 0, but a translation of it is scored.
  EXPECT_EQ(Score("--tsv", "12:30\t12:30\n").out, "0.000000\n");
  EXPECT_LT(std::stod(Score("--tsv", "12:30\tHalb eins.\n").out), 0);
}

TEST(ScoreTest, TwoFilesOrOneGiveTheSame) {
  const std::string src = TestFile("src", "A dog runs.\nTwo cats\tsleep.\n");
  const std::string tgt = TestFile("tgt", "Ein Hund rennt.\nZwei Katzen schlafen.\n");
  const Outcome two = Score(absl::StrCat("--src=", src, " --tgt=", tgt));
  EXPECT_EQ(two.status, 0) << two.err;
  EXPECT_EQ(two.err, "");
  ASSERT_EQ(Lines(two.out).size(), 2u);
  const Outcome one =
      Score("--tsv", "A dog runs.\tEin Hund rennt.\nTwo cats sleep.\tZwei Katzen schlafen.\n");
  EXPECT_EQ(one.out, two.out) << one.err;
  EXPECT_EQ(Score(absl::StrCat("--tgt=", tgt), "A dog runs.\nTwo cats sleep.\n").out, two.out);
  // A good translation is more probable than a bad one.
  const auto lines =
      Lines(Score("--tsv", "A dog runs.\tEin Hund rennt.\nA dog runs.\tDrei Katzen.\n").out);
  EXPECT_GT(std::stod(lines[0]), std::stod(lines[1]));
}

TEST(ScoreTest, TextIsTheMeanAndStatsTheSums) {
  const std::string pairs =
      "A dog runs.\tEin Hund rennt.\n\t\nTwo cats sleep.\tZwei Katzen schlafen.\nA dog.\t\n";
  const auto scored = JsonLines(Score("--tsv --output_format=jsonl", pairs));
  ASSERT_EQ(scored.size(), 4u);
  const Outcome text = Score("--tsv --stats", pairs);
  const auto lines = Lines(text.out);
  double sum = 0;
  size_t tokens = 0;
  for (size_t i = 0; i < scored.size(); ++i) {
    EXPECT_EQ(scored[i].size(), 4u);
    EXPECT_EQ(scored[i]["id"], i);
    double line = 0;
    for (const double score : ScoresOf(scored[i])) line += score;
    sum += line;
    tokens += ScoresOf(scored[i]).size();
    const double mean = line / std::max<double>(1, static_cast<double>(ScoresOf(scored[i]).size()));
    EXPECT_NEAR(scored[i]["score"].get<double>(), mean, 1e-6);
    EXPECT_NEAR(std::stod(lines[i]), mean, 1e-5);
  }
  // A blank pair has no tokens. A blank target has only the end token.
  EXPECT_EQ(lines[1], "0.000000");
  EXPECT_TRUE(scored[1]["tokens"].empty());
  EXPECT_EQ(scored[3]["tokens"], nlohmann::json::array({"</s>"}));
  const auto stats = nlohmann::json::parse(text.err);
  EXPECT_EQ(stats["sentences"], 4);
  EXPECT_EQ(stats["target_tokens"], tokens - 3);  // The ends of sentences do not count.
  EXPECT_NEAR(stats["log_prob"].get<double>(), sum, 1e-5);
  // Scores are printed as floats. Their mean is as exact as that, but its exponential is
  // not.
  EXPECT_NEAR(std::log(stats["perplexity"].get<double>()), -sum / static_cast<double>(tokens),
              1e-6);
  const auto none = nlohmann::json::parse(Score("--tsv --stats", "").err);
  EXPECT_EQ(none["sentences"], 0);
  EXPECT_EQ(none["perplexity"], 1);
  // Lines that were scored are counted, even if others fail.
  const Outcome failed = Score("--tsv --stats", "A dog.\tEin Hund.\nx\n");
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.err, HasSubstr("\"sentences\":2,"));
  EXPECT_THAT(failed.err, HasSubstr("1 line(s) could not be scored"));
}

// The model's penalties, shortlist and limits of length do not change the probability of a target.
TEST(ScoreTest, LongTargets) {
  std::string target;
  for (int i = 0; i < 300; ++i) target += "▁Hund ";
  target.pop_back();
  const auto scored = JsonLines(
      Score("--tokenized --tsv --output_format=jsonl", absl::StrCat("▁A ▁dog\t", target, "\n")));
  ASSERT_EQ(scored.size(), 1u);
  EXPECT_EQ(scored[0]["tokens"].size(), 301u);
}

TEST(ScoreTest, BadLinesKeepTheirPlaces) {
  const std::string good = "A dog runs.\tEin Hund rennt.";
  const std::string expected = Lines(Score("--tsv", good + "\n").out)[0];
  for (const std::string format : {"text", "jsonl"}) {
    const Outcome outcome =
        Score(absl::StrCat("--tsv --output_format=", format),
              absl::StrCat(good, "\nno tab\n", good, "\n\tEin Hund.\n", good, "\n"));
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("nibu-score: error: 2 line(s) could not be scored; the "
                                       "first is line 2: it has no tab"));
    const auto lines = Lines(outcome.out);
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines[1], "");
    EXPECT_EQ(lines[3], "");
    if (format == "text") {
      EXPECT_THAT(lines, ElementsAre(expected, "", expected, "", expected));
    }
  }
}

// The probabilities of the first tokens, of the end token and of padding among them, add up to 1.
// With a minimal length, those of the tokens do that a search may begin with.
TEST(ScoreTest, NothingIsExcludedWithoutAMinimalLength) {
  const std::string model = TestdataPath("opennmt-3");
  const auto opened = OpenModel(model);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const auto& tokens = opened->vocabulary.target_tokens;
  const auto sum = [&](const std::string& flags, const std::vector<std::string>& excluded) {
    std::string pairs;
    for (const std::string& token : tokens) {
      if (absl::c_linear_search(excluded, token)) continue;
      absl::StrAppend(&pairs, tokens[7], "\t", token == "</s>" ? "" : token, "\n");
    }
    const Outcome outcome = Score(
        absl::StrCat("--model='", model,
                     "' --compute_type=float32 --tokenized --tsv --output_format=jsonl ", flags),
        pairs);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    double all = 0;
    for (const auto& line : JsonLines(outcome)) all += std::exp(ScoresOf(line)[0]);
    return all;
  };
  EXPECT_NEAR(sum("", {}), 1, 1e-5);
  EXPECT_NEAR(sum("--min_decoding_length=1", {"</s>", "<blank>"}), 1, 1e-5);
  EXPECT_LT(sum("", {"</s>", "<blank>"}), 0.999);
}

TEST(ScoreTest, WhatIsNeverGeneratedHasNoScoreInASearch) {
  const std::string pairs = "▁A ▁dog .\t▁Ein ▁Hund .\n▁A ▁dog .\t▁Ein <pad>\n";
  EXPECT_EQ(Score("--tokenized --tsv", pairs).status, 0);
  for (const std::string format : {"text", "jsonl"}) {
    const Outcome outcome =
        Score("--min_decoding_length=1 --tokenized --tsv --stats --output_format=" + format, pairs);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("nibu-score: error: 1 line(s) could not be scored; the "
                                       "first is line 2: its target has \"<pad>\" where"));
    EXPECT_THAT(outcome.err, HasSubstr("\"target_tokens\":3,\"log_prob\":-"));
    ASSERT_EQ(Lines(outcome.out).size(), 2u);
    EXPECT_EQ(Lines(outcome.out)[1], "");
  }
}

TEST(ScoreTest, TooLongLinesKeepTheirPlaces) {
  const std::string pairs =
      "A dog runs.\tEin Hund rennt.\nA man is riding a bicycle.\tEin Mann.\nA dog.\tEin Hund.\n";
  const Outcome outcome = Score("--tsv --max_input_length=4", pairs);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("1 line(s) could not be scored; the first is line 2: "));
  EXPECT_THAT(outcome.err, HasSubstr("longer than max_input_length, 4; raise --max_input_length"));
  const auto lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "");
  EXPECT_NE(lines[2], "");
  // The source or the target has more tokens than the model has positions.
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "a ";
  for (const std::string& pair : {absl::StrCat(many, "\ta"), absl::StrCat("a\t", many)}) {
    const Outcome longest = Score("--tsv", absl::StrCat(pair, "\nA dog.\tEin Hund.\n"));
    EXPECT_EQ(longest.status, 1);
    EXPECT_EQ(Lines(longest.err).size(), 1u);
    ASSERT_EQ(Lines(longest.out).size(), 2u);
    EXPECT_EQ(Lines(longest.out)[0], "");
    EXPECT_EQ(Lines(longest.out)[1], lines[2]);
  }
}

TEST(ScoreTest, FilesThatAreMissingOrShort) {
  const std::string src = TestFile("src", "A dog.\nA cat.\n");
  const std::string tgt = TestFile("tgt", "Ein Hund.\n");
  const std::string files = absl::StrCat("--src=", src, " --tgt=", tgt);
  const Outcome fewer = Score(files);
  EXPECT_EQ(fewer.status, 1);
  EXPECT_THAT(fewer.err,
              HasSubstr("1 line(s) could not be scored; the first is line 2: --tgt has"));
  EXPECT_EQ(Lines(fewer.out).size(), 2u);
  EXPECT_EQ(Lines(fewer.out)[1], "");
  const Outcome swapped = Score(absl::StrCat("--src=", tgt, " --tgt=", src));
  EXPECT_EQ(swapped.status, 1);
  EXPECT_THAT(swapped.err, HasSubstr("--src has fewer lines than --tgt"));
  ExpectError(Score(absl::StrCat("--src=", src, " --tgt=/nonexistent")), 1, "/nonexistent");
  ExpectError(Score("--tsv --src=/nonexistent"), 1, "/nonexistent");
  ExpectError(Score("--tsv --model=/nonexistent"), 1, "/nonexistent");
}

TEST(ScoreTest, WrongUsage) {
  const std::string tgt = TestFile("tgt", "Ein Hund.\n");
  ExpectError(Score(""), 2, "--tgt");
  ExpectError(Score(absl::StrCat("--tsv --tgt=", tgt)), 2, "--tsv");
  ExpectError(Score("--tgt=-"), 2, "cannot both be standard input");
  ExpectError(Score("--tsv --output_format=nbest"), 2, "output_format");
  ExpectError(Score("--tsv --beam_size=4"), 2, "unknown flag --beam_size");
  ExpectError(Score("--tsv text"), 2, "unexpected argument");
  ExpectError(Score("--tsv --tgt_lang=fr"), 2, "--tgt_lang");
  ExpectError(Score("--tsv --max_input_length=0"), 2, "--max_input_length");
  ExpectError(Score(absl::StrCat("--tsv --src=", tgt, " >>", tgt)), 2, "is the file that is read");
  ExpectError(Score("--tsv --src="), 2, "--src is empty");
  const Outcome help = Score("--help=all");
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("perplexity"));
  EXPECT_THAT(help.out, Not(HasSubstr("looping_sentences")));
}

TEST(ScoreTest, LanguagesOfAModelThatHasThem) {
  const auto cases = nlohmann::json::parse(ReadFile(TestdataPath("m2m/expected.json")));
  const auto& first = cases[0];
  const std::string flags =
      absl::StrCat("--model='", TestdataPath("m2m"),
                   "' --compute_type=float32 --src_lang=", first["src_lang"].get<std::string>(),
                   " --tgt_lang=", first["tgt_lang"].get<std::string>());
  const std::string pair = absl::StrCat(first["text"].get<std::string>(), "\t",
                                        first["translation"].get<std::string>(), "\n");
  const Outcome outcome = Score(absl::StrCat("--tsv ", flags), pair);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_LT(std::stod(outcome.out), 0);
  ExpectError(Score(absl::StrCat("--tsv --model='", TestdataPath("m2m"), "'"), pair), 2,
              "--src_lang is needed");
}

TEST(ScoreTest, AnEnsembleOfEqualModelsScoresAsOne) {
  const std::string captions = CaptionsModelPath();
  const std::string pairs = "A dog runs.\tEin Hund rennt.\n";
  const auto one = JsonLines(Score("--tsv --output_format=jsonl", pairs));
  const auto two = JsonLines(Score(
      absl::StrCat("--tsv --output_format=jsonl --model='", captions, ",", captions, "'"), pairs));
  for (size_t i = 0; i < ScoresOf(one[0]).size(); ++i) {
    EXPECT_NEAR(ScoresOf(one[0])[i], ScoresOf(two[0])[i], 1e-5);
  }
}

// These scores are in CTranslate2's own tests (python/tests/test_translator.py).
TEST(ScoreTest, SharedModelsAsCTranslate2) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string model = SharedPath("models/ct2/v2/aren-transliteration");
  if (!std::filesystem::exists(model)) GTEST_SKIP() << model << " is not there";
  const auto scored = JsonLines(
      Score(absl::StrCat("--tokenized --compute_type=float32 --tsv --output_format=jsonl --model=",
                         model),
            "آ ت ز م و ن\ta t z m o n\nآ ت ش ي س و ن\ta c h i s o n\n"));
  const std::vector<Scores> expected = {
      {-0.106023, -0.065410, -0.056002, -0.447953, -0.230714, -0.092184, -0.063463},
      {-0.072660, -0.300309, -0.181187, -0.395671, -0.025631, -0.123466, -0.002034, -0.012639}};
  ASSERT_EQ(scored.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const Scores scores = ScoresOf(scored[i]);
    ASSERT_EQ(scores.size(), expected[i].size());
    for (size_t t = 0; t < scores.size(); ++t) EXPECT_NEAR(scores[t], expected[i][t], 1e-4);
  }
}

}  // namespace
}  // namespace nibu::internal
