// Tests of --target_prefix, and of tokens that the model does not know.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Outcome With(const std::string& prefixes, const std::string& flags, const std::string& source) {
  const std::string path = TestFile("prefix", prefixes);
  return Translate(absl::StrCat("--compute_type=float32 --target_prefix=", path, " ", flags),
                   source);
}

TEST(TargetPrefixTest, LineByLine) {
  const Outcome outcome = With("Eine Katze\n\n  \nZwei\n", "",
                               "A dog runs.\nA dog runs.\nA dog runs.\nTwo cats sleep.\n");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const auto lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[0], StartsWith("Eine Katze"));
  EXPECT_EQ(lines[1], "Ein Hund rennt.");
  EXPECT_EQ(lines[2], "Ein Hund rennt.");
  EXPECT_THAT(lines[3], StartsWith("Zwei"));
  EXPECT_EQ(With("Eine Katze\n", "'A dog runs.'", "").out, lines[0] + "\n");
  EXPECT_EQ(Translate("--compute_type=float32 --target_prefix=- 'A dog runs.'", "Eine Katze\n").out,
            lines[0] + "\n");
}

// The sentences of a prefix begin those of the line. Alternatives are those of the sentence in
// which the prefix ends.
TEST(TargetPrefixTest, SentenceBySentence) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const auto with = [](const std::string& prefix, const std::string& flags = "") {
    return With(prefix + "\n", flags, "A man runs. A dog sleeps.\n").out;
  };
  EXPECT_EQ(with("Ein"), "Ein Mann rennt. Ein Hund schläft.\n");
  EXPECT_EQ(with("Ein Mann läuft. Ein Tier"), "Ein Mann läuft. Ein Tier schläft.\n");
  EXPECT_THAT(with("Ein Mann läuft. Ein Hund schläft. Und"),
              StartsWith("Ein Mann läuft. Ein Hund schläft. Und"));
  // A sentence whose prefix goes on in the next sentence is all prefix. The prefix is split by the
  // rules of the target's language.
  EXPECT_EQ(with("Hallo! Ein"), "Hallo! Ein Hund schläft.\n");
  for (const std::string& line :
       Lines(with("Ein Mann. Ein", "--num_hypotheses=4 --output_format=nbest"))) {
    EXPECT_THAT(line, StartsWith("0 ||| Ein Mann. Ein "));
  }
  EXPECT_THAT(with("Am 3. Mai"), StartsWith("Am 3. Mai"));
  EXPECT_THAT(with("Am 3. Mai"), HasSubstr(". Ein Hund schläft."));
  const std::string expand = "--return_alternatives --num_hypotheses=3 --output_format=nbest";
  for (const std::string& line : Lines(with("Ein Mann läuft. Ein", expand))) {
    EXPECT_THAT(line, StartsWith("0 ||| Ein Mann läuft. Ein "));
  }
  const auto first = Lines(with("", expand));
  ASSERT_EQ(first.size(), 3u);
  for (const std::string& line : first) EXPECT_THAT(line, HasSubstr(". Ein Hund schläft. ||| "));
}

// A prefix may stand in front of protected parts, and have some itself.
TEST(TargetPrefixTest, StandsInFrontOfParts) {
  const std::string source = "The dog {0} and {1} runs at http://a.org/x now.\n";
  for (const char* prefix : {"{1}", "Ein Mann", "http://a.org/x", "{0} und {1}", "Der Hund {0}"}) {
    const std::string out = With(absl::StrCat(prefix, "\n"), "", source).out;
    EXPECT_THAT(out, StartsWith(prefix));
    for (const char* part : {"{0}", "{1}", "http://a.org/x"}) EXPECT_THAT(out, HasSubstr(part));
  }
}

// A prefix that goes on in the next sentence is the whole translation of this one. The model does
// not see the emoji, so the sentence has a prefix that is nothing for the model. It must not be
// translated freely all the same.
TEST(TargetPrefixTest, MayHaveNothingForTheModel) {
  const Outcome outcome =
      Translate("--compute_type=float32 --input_format=jsonl --output_format=jsonl",
                R"({"text":"😀 Good dog 😀. A dog runs.","prefix":"😀\rEin Tier"})"
                "\n");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  const auto& best = json["hypotheses"][0];
  EXPECT_EQ(best["text"], "😀😀 Ein Tier rennt.");
  EXPECT_EQ(best["tokens"][0], "▁Ein");
}

TEST(TargetPrefixTest, StaysAsItWasGiven) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  for (const char* prefix : {"[Ein", "Ein {0} Mann", "\u2167 Ein", "Ein  Mann"}) {
    EXPECT_THAT(With(absl::StrCat(prefix, "\n"), "", "A man runs.\n").out, StartsWith(prefix));
    EXPECT_THAT(With(absl::StrCat(prefix, "\n"), "", "{0} A man runs.\n").out, StartsWith(prefix));
  }
}

TEST(TargetPrefixTest, CountsInLengthsAndNotInScores) {
  for (const char* beam : {"--beam_size=1", "--beam_size=4", "--search_compat=marian",
                           "--search_compat=huggingface", "--sampling_topk=4"}) {
    SCOPED_TRACE(beam);
    const auto lines = JsonLines(With("▁Eine ▁Katze\n",
                                      absl::StrCat("--tokenized ", "--output_format=jsonl ", beam),
                                      "▁A ▁dog ▁runs .\n"));
    const auto& best = lines[0]["hypotheses"][0];
    EXPECT_THAT(best["text"].get<std::string>(), StartsWith("▁Eine ▁Katze"));
    EXPECT_EQ(best["token_scores"][0], 0.0);
    EXPECT_EQ(best["token_scores"][1], 0.0);
    EXPECT_LT(best["token_scores"][2].get<double>(), 0.0);
  }
  // A prefix that the model would have generated itself is continued in the same way.
  const auto lines = JsonLines(With("Ein Hund\n", "--output_format=jsonl", "A dog runs.\n"));
  EXPECT_EQ(lines[0]["hypotheses"][0]["text"], "Ein Hund rennt.");
  const auto cut = JsonLines(
      With("Ein Hund rennt\n", "--output_format=jsonl --max_decoding_length=2", "A dog runs.\n"));
  EXPECT_EQ(cut[0]["hypotheses"][0]["text"], "Ein Hund");
  EXPECT_EQ(cut[0]["hypotheses"][0]["finished"], false);
}

TEST(TargetPrefixTest, OfAWholeTranslation) {
  const Outcome outcome = With("Ein Hund rennt.\n", "", "A dog runs.\n");
  EXPECT_EQ(outcome.out, "Ein Hund rennt.\n");
  // The prefix has a whole sentence of the line.
  const auto whole = With("Ein Hund rennt. Zwei\n", "", "A dog runs. Two cats sleep.\n");
  EXPECT_THAT(whole.out, StartsWith("Ein Hund rennt. Zwei"));
}

TEST(TargetPrefixTest, BlankSources) {
  EXPECT_EQ(With("Ein\nEin\n", "", "\nA dog runs.\n").out, "\nEin Hund rennt.\n");
  EXPECT_EQ(With("Ein\n", "", "😀\n").out, "Ein 😀\n");
}

TEST(TargetPrefixTest, FilesThatAreShortOrLongOrMissing) {
  const Outcome few = With("Ein\n", "", "A dog runs.\nA cat.\nA cow.\n");
  EXPECT_EQ(few.status, 1);
  EXPECT_THAT(few.err, HasSubstr("2 line(s) could not be translated; the first is line 2: "));
  EXPECT_THAT(few.err, HasSubstr("prefix has no line for it"));
  EXPECT_EQ(few.out, "Ein Hund rennt.\n\n\n");
  const Outcome many = With("Ein\nEin\n", "", "A dog runs.\n");
  EXPECT_EQ(many.status, 0);
  EXPECT_EQ(many.out, "Ein Hund rennt.\n");
  EXPECT_THAT(many.err, HasSubstr("has more lines than the source"));
  ExpectOneLineError("nibu-translate", Translate("--target_prefix=/nonexistent", "a\n"), 1,
                     "/nonexistent");
}

TEST(TargetPrefixTest, IsTheSameWhateverTheBatch) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  std::string prefixes;
  const std::vector<std::string> german = Lines(ReadFile(TestdataPath("multi30k.en-de.beam4.txt")));
  for (size_t i = 0; i < 12; ++i) absl::StrAppend(&prefixes, german[i].substr(0, 3 * i), "\n");
  for (const char* beam : {"--beam_size=1 ", "", "--prefix_bias_beta=0.3 ",
                           "--return_alternatives --num_hypotheses=3 "}) {
    const std::string flags = absl::StrCat("--output_format=jsonl ", beam);
    const Outcome expected = With(prefixes, flags + "--threads=1 --batch_size=1", Captions(12));
    EXPECT_EQ(expected.status, 0) << expected.err;
    EXPECT_TRUE(With(prefixes, flags + "--threads=1 --batch_size=7", Captions(12)).out ==
                expected.out);
    EXPECT_TRUE(With(prefixes, flags + "--threads=3", Captions(12)).out == expected.out);
  }
}

TEST(TargetPrefixTest, ABiasFavoursThePrefix) {
  const std::string source = "A dog runs.\n";
  EXPECT_EQ(With("Eine Katze\n", "--prefix_bias_beta=1e-6", source).out, "Ein Hund rennt.\n");
  EXPECT_THAT(With("Eine Katze\n", "--prefix_bias_beta=0.999999", source).out,
              StartsWith("Eine Katze"));
}

TEST(TargetPrefixTest, AlternativesDifferBehindThePrefix) {
  const auto all =
      JsonLines(With("Ein\n", "--output_format=jsonl --return_alternatives --num_hypotheses=5",
                     "A dog runs.\n"))[0]["hypotheses"];
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0]["text"], "Ein Hund rennt.");
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(TokensOf(all[i])[0], "▁Ein");
    for (size_t j = 0; j < i; ++j) EXPECT_NE(TokensOf(all[i])[1], TokensOf(all[j])[1]);
  }
}

// 北京 is one unknown piece in the source and in the target.
TEST(UnknownsTest, InAPrefix) {
  const auto best = [](const std::string& flags) {
    return JsonLines(With("北京\n", absl::StrCat("--output_format=jsonl --alignment=hard ", flags),
                          "A dog runs.\n"))[0]["hypotheses"][0];
  };
  const auto kept = best("");
  EXPECT_EQ(TokensOf(kept)[1], "<unk>");
  // The prefix has it, it is not generated.
  EXPECT_EQ(TokensOf(best("--disable_unk"))[1], "<unk>");
  const auto replaced = best("--replace_unknowns");
  const std::vector<std::string> source = {"▁A", "▁dog", "▁runs", "."};
  EXPECT_EQ(TokensOf(replaced)[1], source[replaced["alignment"][1][0].get<size_t>()]);
  EXPECT_EQ(replaced["alignment"], kept["alignment"]);
  EXPECT_EQ(replaced["token_scores"], kept["token_scores"]);
}

TEST(UnknownsTest, OfPieces) {
  const auto run = [](const std::string& flags) {
    return With("xyzzy ▁Hund\n", "--tokenized " + flags, "▁A ▁dog ▁runs .\n").out;
  };
  EXPECT_THAT(run(""), StartsWith("<unk> ▁Hund"));
  EXPECT_THAT(run("--replace_unknowns"), StartsWith("▁A ▁Hund"));
}

// This model has words instead of pieces and a small vocabulary, so it generates <unk>.
TEST(UnknownsTest, GeneratedUnknownsAreForbiddenOrReplaced) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string flags =
      absl::StrCat("--model='", TestdataPath("opennmt-3"),
                   "' --tokenized --compute_type=float32 --max_decoding_length=12 ");
  const auto cases = nlohmann::json::parse(ReadFile(TestdataPath("opennmt-3/expected.json")));
  for (const auto& each : cases) {
    const std::string line = each["text"].get<std::string>() + "\n";
    for (const char* beam : {"--beam_size=1 ", "--beam_size=4 "}) {
      const Outcome never = Translate(absl::StrCat(flags, beam, "--disable_unk"), line);
      EXPECT_EQ(never.out.find("<unk>"), std::string::npos);
      const Outcome replaced = Translate(absl::StrCat(flags, beam, "--replace_unknowns"), line);
      EXPECT_EQ(replaced.status, 0) << replaced.err;
      EXPECT_EQ(replaced.out.find("<unk>"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace nibu::internal
