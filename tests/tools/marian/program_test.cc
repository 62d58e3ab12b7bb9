// Tests of nibu-marian as its users run it, on a tiny Marian model and on the captions model.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/models/files.h"
#include "tests/models/tiny_marian.h"
#include "tests/paths.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::vector<std::string> Fields(const std::string& line) { return absl::StrSplit(line, " ||| "); }

double Number(const std::string& text) {
  double number = 0;
  EXPECT_TRUE(absl::SimpleAtod(text, &number)) << text;
  return number;
}

// Returns the numbers behind the first word of a field.
std::vector<double> Numbers(const std::string& field) {
  std::vector<double> numbers;
  const std::vector<std::string> words = absl::StrSplit(field, ' ');
  for (size_t i = 1; i < words.size(); ++i) numbers.push_back(Number(words[i]));
  return numbers;
}

// A folder with a tiny model whose tokens are a, b, c and d, and the program's calls there.
class MarianProgramTest : public ::testing::Test {
 protected:
  MarianProgramTest() {
    const testing::TinyMarianModel tiny;
    testing::WriteFile(folder_ / "m.npz", tiny.Npz());
    testing::WriteFile(folder_ / "v.yml", tiny.VocabularyYml());
    testing::WriteFile(folder_ / "decoder.yml",
                       "relative-paths: true\nmodels: [m.npz]\nvocabs: [v.yml, v.yml]\n"
                       "beam-size: 3\nnormalize: 1\nquiet: true\n");
  }

  Outcome Run(const std::string& flags, const std::string& input = "") const {
    return Shell(absl::StrCat("cd '", folder_.path(), "'; ", Program("nibu-marian"), " ", flags),
                 input);
  }
  std::string Out(const std::string& flags, const std::string& input = "") const {
    const Outcome outcome = Run(flags, input);
    EXPECT_EQ(outcome.status, 0) << flags << ": " << outcome.err;
    EXPECT_EQ(outcome.err, "") << flags;
    return outcome.out;
  }

  const testing::TempFolder folder_;
};

TEST_F(MarianProgramTest, TranslatesPieces) {
  const std::string out = Out("-c decoder.yml", "a b c\n\nd\r\nx a\n");
  const auto lines = Lines(out);
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_EQ(lines[1], "");
  for (const std::string& line : lines) {
    for (const absl::string_view token : absl::StrSplit(line, ' ', absl::SkipEmpty())) {
      EXPECT_THAT((std::vector<std::string>{"a", "b", "c", "d"}), ::testing::Contains(token));
    }
  }
  // The same by flags, without vocabularies, which lie beside the model, and with other batches.
  const std::string input = "a b c\n\nd\nx a\n";
  for (const char* flags :
       {"decode -m m.npz -v v.yml v.yml -b3 -n1 --quiet", "-m m.npz -b 3 -n --quiet",
        "-c decoder.yml --mini-batch 2 --maxi-batch 10 --cpu-threads 2 -b3",
        "-c decoder.yml --mini-batch-words 100 --no-spm-decode --allow-special -d 0 --fp16"}) {
    EXPECT_EQ(Out(flags, input), out) << flags;
  }
  testing::WriteFile(folder_ / "in", input);
  EXPECT_EQ(Out("-c decoder.yml -i in -o out"), "");
  EXPECT_EQ(ReadFile(folder_ / "out"), out);
  EXPECT_EQ(Shell(absl::StrCat("gzip -k '", folder_ / "in", "'"), "").status, 0);
  EXPECT_EQ(Out("-c decoder.yml -i in.gz -o out.gz"), "");
  EXPECT_EQ(Shell(absl::StrCat("gunzip -c '", folder_ / "out.gz", "'"), "").out, out);
}

TEST_F(MarianProgramTest, NBestListsHaveScoresAndAlignmentsWithEnds) {
  const auto lines =
      Lines(Out("-c decoder.yml --n-best --word-scores --alignment", "a b c\n\nd a\n"));
  ASSERT_THAT(lines, SizeIs(7));
  EXPECT_EQ(lines[3], "1 |||  |||  ||| WordScores= ||| F0= 0 ||| 0");
  for (const size_t i : {0, 1, 2, 4, 5, 6}) {
    const std::vector<std::string> fields = Fields(lines[i]);
    ASSERT_THAT(fields, SizeIs(6)) << lines[i];
    EXPECT_EQ(fields[0], i < 3 ? "0" : "2");
    const std::vector<std::string> tokens = absl::StrSplit(fields[1], ' ', absl::SkipEmpty());
    const size_t sources = i < 3 ? 4 : 3;
    // A pair and a score for each token and, unless the length is at its limit, for the end.
    const std::vector<double> scores = Numbers(fields[3]);
    EXPECT_EQ(scores.size(), tokens.size() + (tokens.size() < 3 * sources ? 1 : 0)) << lines[i];
    const std::vector<std::string> pairs = absl::StrSplit(fields[2], ' ');
    EXPECT_EQ(pairs.size(), scores.size()) << lines[i];
    double sum = 0;
    for (const double score : scores) sum += score;
    EXPECT_NEAR(Numbers(fields[4])[0], sum, 1e-3);
    EXPECT_NEAR(Number(fields[5]), sum / static_cast<double>(scores.size()), 1e-3);
    if (i != 0 && i != 4) {
      EXPECT_LE(Number(fields[5]), Number(Fields(lines[i - 1])[5]));
    }
  }
  const std::string soft = Fields(Lines(Out("-c decoder.yml --alignment soft", "a b c\n"))[0])[1];
  for (const absl::string_view row : absl::StrSplit(soft, ' ')) {
    double sum = 0;
    const std::vector<std::string> weights = absl::StrSplit(row, ',');
    EXPECT_THAT(weights, SizeIs(4));
    for (const std::string& weight : weights) sum += Number(weight);
    EXPECT_NEAR(sum, 1, 1e-4);
  }
}

TEST_F(MarianProgramTest, LongLines) {
  const std::string input = "a b c d a b c d\nb\n";
  const Outcome split = Run("-c decoder.yml --max-length 5", input);
  EXPECT_EQ(split.status, 0);
  EXPECT_THAT(Lines(split.out), SizeIs(2));
  EXPECT_THAT(split.err, HasSubstr("1 line(s) of more than 5 tokens were split and "
                                   "translated in parts"));
  EXPECT_EQ(Lines(split.out)[1], Lines(Out("-c decoder.yml", "b\n"))[0]);
  EXPECT_EQ(Out("-c decoder.yml --max-length 5 --max-length-crop", input),
            Out("-c decoder.yml", "a b c d\nb\n"));
}

TEST_F(MarianProgramTest, Ensembles) {
  const std::string flags = "-c decoder.yml --n-best";
  const auto one = Lines(Out(flags, "a b c\nd\n"));
  const auto two = Lines(Out(flags + " -m m.npz m.npz", "a b c\nd\n"));
  const auto weighted = Lines(Out(flags + " -m m.npz m.npz --weights 0.5 1", "a b c\nd\n"));
  ASSERT_EQ(one.size(), two.size());
  ASSERT_EQ(one.size(), weighted.size());
  for (size_t i = 0; i < one.size(); ++i) {
    const auto a = Fields(one[i]);
    for (const auto& [lines, sum] : {std::pair(&two, 2.0), std::pair(&weighted, 1.5)}) {
      const auto b = Fields((*lines)[i]);
      ASSERT_THAT(b, SizeIs(4));
      EXPECT_EQ(b[1], a[1]);
      EXPECT_NEAR(Number(b[3]), sum * Number(a[3]), 1e-3);
      const std::vector<std::string> features = absl::StrSplit(b[2], ' ');
      ASSERT_THAT(features, SizeIs(4));
      EXPECT_EQ(features[0], "F0=");
      EXPECT_EQ(features[2], "F1=");
      // A member's score is among all tokens, the search's among those that it may choose.
      EXPECT_EQ(features[1], features[3]);
      EXPECT_LE(Number(features[1]), Numbers(a[2])[0] + 1e-4);
    }
  }
  ExpectOneLineError("nibu-marian", Run("-c decoder.yml --weights 1 2", "a\n"), 2,
                     "--weights must be one for each of 1 models, not 2");
}

TEST_F(MarianProgramTest, Scores) {
  const auto best = Fields(Lines(Out("-c decoder.yml --n-best -m m.npz m.npz", "a b c\n"))[0]);
  const double log_prob = Number(std::vector<std::string>(absl::StrSplit(best[2], ' '))[1]);
  testing::WriteFile(folder_ / "src", "a b c\n");
  testing::WriteFile(folder_ / "trg", best[1] + "\n");
  const std::string flags = "score -m m.npz -v v.yml v.yml --quiet ";
  EXPECT_NEAR(Number(Lines(Out(flags + "-t src trg"))[0]), log_prob, 1e-3);
  const auto length = static_cast<double>(
      std::vector<std::string>(absl::StrSplit(best[1], ' ', absl::SkipEmpty())).size() + 1);
  EXPECT_NEAR(Number(Lines(Out(flags + "-n1 --tsv", absl::StrCat("a b c\t", best[1], "\n")))[0]),
              log_prob / length, 1e-3);
  ExpectOneLineError("nibu-marian", Run(flags + "-t src"), 2, "--train-sets must name 2 files");
  // A pair without a target is named, and the lines behind it are scored.
  const Outcome missing = Run(flags + "--tsv", "a b\nb\ta\n");
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(Lines(missing.out), SizeIs(2));
  EXPECT_THAT(missing.err, HasSubstr("1 line(s) could not be scored; the first is line 1"));
}

TEST_F(MarianProgramTest, ForcedBeginnings) {
  testing::WriteFile(folder_ / "src", "a b c\nd\n");
  testing::WriteFile(folder_ / "prefix", "d d c\n\n");
  const std::string out = Out("-c decoder.yml --force-decode -i src prefix");
  EXPECT_THAT(Lines(out)[0], StartsWith("d d c"));
  EXPECT_EQ(Lines(out)[1], Lines(Out("-c decoder.yml", "d\n"))[0]);
  EXPECT_EQ(Out("-c decoder.yml --force-decode --tsv", "a b c\td d c\nd\t\n"), out);
  ExpectOneLineError("nibu-marian", Run("-c decoder.yml --force-decode -i src"), 2,
                     "--input must name 2 files, not 1");
  ExpectOneLineError("nibu-marian", Run("-c decoder.yml --tsv --tsv-fields 2"), 2,
                     "--tsv-fields must be 1, not 2");
}

TEST_F(MarianProgramTest, Samples) {
  const std::string flags = "-c decoder.yml -b 5 --n-best --output-sampling full";
  const std::string out = Out(flags, "a b c\n");
  EXPECT_THAT(Lines(out), SizeIs(5));
  EXPECT_EQ(Out(flags, "a b c\n"), out);
  EXPECT_NE(Out(flags + " --seed 7", "a b c\n"), out);
  EXPECT_THAT(Lines(Out("-c decoder.yml --output-sampling topk 3 0.5", "a\nb\n")), SizeIs(2));
  ExpectOneLineError("nibu-marian", Run("-c decoder.yml --output-sampling best"), 2,
                     "--output-sampling must be full");
}

TEST_F(MarianProgramTest, Log) {
  const Outcome outcome =
      Run("-m m.npz -b 2 --stat-freq 1 --mini-batch 2 --log run.log -d 0 -w 9", "a\nb\nc\n");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(
      outcome.err,
      AllOf(HasSubstr("] [config] beam-size: 2\n"), HasSubstr("ignored: --workspace\n"),
            HasSubstr("] Best translation 0 : "),
            HasSubstr("Processed 1 batches, 2 lines, 2 source tokens in "),
            HasSubstr("Processed 2 batches, 3 lines, 3 source tokens in "), HasSubstr("s wall\n")));
  EXPECT_THAT(Lines(outcome.err), Each(StartsWith("[2")));
  EXPECT_EQ(ReadFile(folder_ / "run.log"), outcome.err);
  const std::string quiet = Run("-m m.npz --quiet-translation", "a\n").err;
  EXPECT_THAT(quiet, ::testing::Not(HasSubstr("Best translation")));
}

TEST_F(MarianProgramTest, Shortlists) {
  testing::WriteFile(folder_ / "lex", "c a 0.9\nc b 0.9\n");
  for (const std::string& token :
       Lines(Out("-c decoder.yml -b1 --shortlist lex 2 1 0", "a b a\nb\n"))) {
    for (const absl::string_view each : absl::StrSplit(token, ' ', absl::SkipEmpty())) {
      EXPECT_EQ(each, "c");  // the first two tokens are the end and the unknown one
    }
  }
  ExpectOneLineError("nibu-marian", Run("-c decoder.yml --shortlist lex two"), 2,
                     "--shortlist must be PATH");
}

TEST_F(MarianProgramTest, WrongUsageIsOneLine) {
  for (const auto& [flags, error] :
       {std::pair("", "no model is given; name it with --models"), std::pair("-b", "needs a value"),
        std::pair("-m m.npz --dump-quantmult", "--dump-quantmult is refused"),
        std::pair("-c decoder.yml -b 0", "--beam-size must be"),
        std::pair("-c decoder.yml -b 5000", "--beam-size must be"),
        std::pair("-c decoder.yml --alignment words", "--alignment must be"),
        std::pair("-c decoder.yml --max-length-factor 0", "--max-length-factor must be above 0"),
        std::pair("-c decoder.yml --cpu-threads -1", "--cpu-threads must be 0 or more"),
        std::pair("-c decoder.yml -v v.yml v.spm", "text and pieces do not mix"),
        std::pair("-c decoder.yml -v a b c", "--vocabs must be two")}) {
    ExpectOneLineError("nibu-marian", Run(absl::StrCat("--quiet ", flags), "a\n"), 2, error);
  }
  ExpectOneLineError("nibu-marian", Run("-m no.npz --quiet", "a\n"), 1, "no.npz: no such file");
  ExpectOneLineError("nibu-marian", Run("-c decoder.yml -i no.txt"), 1, "no.txt: cannot be read");
}

TEST_F(MarianProgramTest, Answers) {
  const Outcome version = Run("--version");
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out, "");
  EXPECT_THAT(version.err, StartsWith("nibu-marian "));
  EXPECT_THAT(Run("--build-info").err, HasSubstr("Instruction set: "));
  EXPECT_EQ(Out("-c decoder.yml -b 4 --dump-config minimal"),
            absl::StrCat("models:\n  - ./m.npz\nvocabs:\n  - ./v.yml\n  - ./v.yml\n"
                         "beam-size: 4\nnormalize: 1\nquiet: true\n"));
  EXPECT_THAT(Out("--help"), AllOf(HasSubstr("Usage: nibu-marian [decode|score] [flags]"),
                                   HasSubstr("--beam-size=12")));
  EXPECT_THAT(Out("score --help=all"), HasSubstr("--train-sets=stdin"));
  // The names by which it is called choose the command.
  for (const char* name : {"decoder", "scorer", "server"}) {
    ASSERT_EQ(
        Shell(absl::StrCat("ln -s ", Program("nibu-marian"), " '", folder_ / "marian-", name, "'"),
              "")
            .status,
        0);
  }
  const auto call = [&](const std::string& line) {
    return Shell(absl::StrCat("cd '", folder_.path(), "'; ./", line), "a\ta\n");
  };
  EXPECT_EQ(call("marian-decoder -c decoder.yml --tsv").out, Out("-c decoder.yml", "a\n"));
  EXPECT_LT(Number(Lines(call("marian-scorer -m m.npz --tsv --quiet").out)[0]), 0);
  ExpectOneLineError("marian-server", call("marian-server -p 80"), 2, "nibu-serve is one");
}

// Models of other formats work, too: text in, text out.
TEST(MarianTextTest, CaptionsModel) {
  const std::string program =
      absl::StrCat(Program("nibu-marian"), " -m '", CaptionsModelPath(), "' -b 2 -n --quiet ");
  EXPECT_EQ(Shell(program, "A dog runs.\n\n").out, "Ein Hund rennt.\n\n");
  EXPECT_EQ(Shell(program + "--no-spm-decode", "A dog runs.\n").out, "▁Ein ▁Hund ▁rennt .\n");
  EXPECT_EQ(Shell(program + "--no-spm-encode", "▁A ▁dog ▁run s .\n").out, "Ein Hund rennt.\n");
}

}  // namespace
}  // namespace nibu::internal
