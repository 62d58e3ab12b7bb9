// Tests of Marian's forms of command lines and YAML files.
#include "tools/marian/marian_options.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<MarianOptions> Read(const std::string& line,
                                   MarianCommand command = MarianCommand::kDecode) {
  const std::vector<std::string> arguments = absl::StrSplit(line, ' ', absl::SkipEmpty());
  return MarianOptions::Read(command, arguments);
}

MarianOptions Options(const std::string& line, MarianCommand command = MarianCommand::kDecode) {
  auto options = Read(line, command);
  EXPECT_TRUE(options.ok()) << options.status();
  return *std::move(options);
}

std::string Error(const std::string& line, MarianCommand command = MarianCommand::kDecode) {
  const auto options = Read(line, command);
  EXPECT_FALSE(options.ok()) << line;
  return std::string(options.status().message());
}

TEST(MarianOptionsTest, Defaults) {
  const MarianOptions options = Options("");
  EXPECT_EQ(options.Int("beam-size"), 12);
  EXPECT_EQ(options.Float("normalize"), 0);
  EXPECT_EQ(options.Float("max-length-factor"), 3);
  EXPECT_EQ(options.Int("max-length"), 1000);
  EXPECT_EQ(options.Text("alignment"), "");
  EXPECT_THAT(options.List("input"), ElementsAre("stdin"));
  EXPECT_THAT(options.List("vocabs"), IsEmpty());
  EXPECT_FALSE(options.IsOn("quiet"));
  EXPECT_FALSE(options.WasGiven("beam-size"));
  EXPECT_THAT(options.Ignored(), IsEmpty());
}

TEST(MarianOptionsTest, FormsOfFlags) {
  for (const char* line :
       {"-b4 -n1 -m a b -v s t -d 0 1", "-b 4 -n 1 --models a b --vocabs s t -d0",
        "--beam-size=4 --normalize -m a -m b --vocabs=s t --devices=0 1",
        "-n --beam-size 4 --models=a b -v s -v t -w 10000"}) {
    const MarianOptions options = Options(line);
    EXPECT_EQ(options.Int("beam-size"), 4) << line;
    EXPECT_EQ(options.Float("normalize"), 1) << line;
    EXPECT_THAT(options.List("models"), ElementsAre("a", "b")) << line;
    EXPECT_THAT(options.List("vocabs"), ElementsAre("s", "t")) << line;
  }
  EXPECT_FLOAT_EQ(static_cast<float>(Options("-n 0.6").Float("normalize")), 0.6f);
  EXPECT_EQ(Options("--word-penalty -0.5").Float("word-penalty"), -0.5);
  EXPECT_EQ(Options("-n -0.5").Float("normalize"), -0.5);
  EXPECT_EQ(Options("-b 4 -b 5").Int("beam-size"), 5);
  EXPECT_TRUE(Options("--n-best --quiet").IsOn("n-best"));
  EXPECT_FALSE(Options("--quiet=false").IsOn("quiet"));
  EXPECT_EQ(Options("--cpu-threads --quiet").Int("cpu-threads"), 1);
  EXPECT_EQ(Options("--cpu-threads 3").Int("cpu-threads"), 3);
  EXPECT_EQ(Options("--alignment").Text("alignment"), "hard");
  EXPECT_EQ(Options("--alignment soft").Text("alignment"), "soft");
  EXPECT_THAT(Options("--output-sampling topk 10 0.5 --n-best").List("output-sampling"),
              ElementsAre("topk", "10", "0.5"));
  EXPECT_THAT(Options("--output-sampling").List("output-sampling"), ElementsAre("full"));
  EXPECT_EQ(Options("-m a -t b c", MarianCommand::kScore).Text("model"), "a");
}

TEST(MarianOptionsTest, IgnoredOnes) {
  EXPECT_THAT(Options("--fp16 -d 0 1 -w 9000 -b 2").Ignored(),
              ElementsAre("--workspace", "--devices", "--fp16"));
  EXPECT_THAT(Options("-w 512 --fp16=false").Ignored(), IsEmpty());
}

TEST(MarianOptionsTest, WrongUsage) {
  EXPECT_THAT(Error("--beamsize 4"), HasSubstr("unknown flag --beamsize; did you mean beam-size?"));
  EXPECT_THAT(Error("-x"), HasSubstr("unknown flag -x"));
  EXPECT_THAT(Error("--b 4"), HasSubstr("unknown flag --b"));
  EXPECT_THAT(Error("-train-sets a"), HasSubstr("unknown flag -t"));
  EXPECT_THAT(Error("text"), HasSubstr("unexpected argument \"text\""));
  EXPECT_THAT(Error("--quiet text"), HasSubstr("unexpected argument \"text\""));
  EXPECT_THAT(Error("-b"), HasSubstr("--beam-size needs a value"));
  EXPECT_THAT(Error("--models --quiet"), HasSubstr("--models needs a value"));
  EXPECT_THAT(Error("-b four"), HasSubstr("--beam-size must be a whole number, not \"four\""));
  EXPECT_THAT(Error("-b 4.5"), HasSubstr("must be a whole number"));
  EXPECT_THAT(Error("-nbest"), HasSubstr("--normalize must be a number, not \"best\""));
  EXPECT_THAT(Error("--quiet=maybe"), HasSubstr("must be true or false"));
  EXPECT_THAT(Error("--dump-quantmult"), HasSubstr("--dump-quantmult is refused: nibu has no"));
  EXPECT_THAT(Error("-p 8080"), HasSubstr("--port is refused: this program is no server"));
  EXPECT_THAT(Error("--n-best", MarianCommand::kScore), HasSubstr("unknown flag --n-best"));
}

TEST(MarianOptionsTest, ConfigFiles) {
  const std::string first = TestFile("first.yml",
                                     "version: v1.9.0\nbeam-size: 6\nnormalize: true\nquiet: on\n"
                                     "models: [a.npz, /b.npz]\nvocabs:\n  - s.spm\n  - t.spm\n"
                                     "shortlist: [lex.bin, false]\nrelative-paths: true\n"
                                     "weights: []\nlog: run.log\nword-penalty: 0.5\nfp16: true\n");
  const std::string second = TestFile("second.yml", "beam-size: 7\ninput: in.txt\n");
  const MarianOptions options =
      Options(absl::StrCat("-c ", first, " ", second, " -n 0.6 --word-penalty 0"));
  const std::string folder = first.substr(0, first.rfind('/'));
  EXPECT_EQ(options.Int("beam-size"), 7);
  EXPECT_FLOAT_EQ(static_cast<float>(options.Float("normalize")), 0.6f);
  EXPECT_EQ(options.Float("word-penalty"), 0);
  EXPECT_TRUE(options.IsOn("quiet"));
  EXPECT_THAT(options.List("models"), ElementsAre(folder + "/a.npz", "/b.npz"));
  EXPECT_THAT(options.List("shortlist"), ElementsAre(folder + "/lex.bin", "false"));
  EXPECT_EQ(options.Text("log"), folder + "/run.log");
  EXPECT_EQ(options.Text("input"), "in.txt");  // the second file does not ask for relative paths
  EXPECT_THAT(options.List("weights"), IsEmpty());
  EXPECT_THAT(options.Ignored(), ElementsAre("--fp16"));
  EXPECT_THAT(Options(absl::StrCat("-m c.npz -c ", first)).List("models"), ElementsAre("c.npz"));

  EXPECT_THAT(Error(absl::StrCat("-c ", TestFile("bad.yml", "quiet: true\nbeam: 4\n"))),
              HasSubstr("bad.yml: line 2: unknown option beam; did you mean beam-size?"));
  EXPECT_THAT(Error(absl::StrCat("-c ", TestFile("bad.yml", "beam-size: [1, 2]\n"))),
              HasSubstr("bad.yml: line 1: beam-size must be one value"));
  EXPECT_THAT(Error(absl::StrCat("-c ", TestFile("bad.yml", "dump-quantmult: true\n"))),
              HasSubstr("dump-quantmult is refused"));
  EXPECT_FALSE(Options(absl::StrCat("-c ", TestFile("off.yml", "dump-quantmult: false\n")))
                   .IsOn("dump-quantmult"));
  EXPECT_THAT(Error(absl::StrCat("-c ", TestFile("bad.yml", "- a\n"))), HasSubstr("must be a map"));
  EXPECT_THAT(Error("-c /no/such.yml"), HasSubstr("/no/such.yml"));
}

TEST(MarianOptionsTest, Environment) {
  ASSERT_EQ(setenv("NIBU_TEST_FOLDER", "/folder", 1), 0);
  EXPECT_EQ(Options("-m ${NIBU_TEST_FOLDER}/m.npz --interpolate-env-vars").Text("models"),
            "/folder/m.npz");
  EXPECT_EQ(Options("-m ${NIBU_TEST_FOLDER}/m.npz").Text("models"), "${NIBU_TEST_FOLDER}/m.npz");
  const std::string file =
      TestFile("env.yml", "interpolate-env-vars: true\nmodels:\n- ${NIBU_TEST_FOLDER}/m.npz\n");
  EXPECT_EQ(Options(absl::StrCat("-c ", file)).Text("models"), "/folder/m.npz");
  EXPECT_THAT(Error("-m ${NIBU_NO_SUCH_VARIABLE} --interpolate-env-vars"),
              HasSubstr("the environment has no variable NIBU_NO_SUCH_VARIABLE"));
}

TEST(MarianOptionsTest, Yaml) {
  const MarianOptions options = Options("-m a b -b 4 --log=x:y --dump-config minimal");
  EXPECT_THAT(options.Yaml(/*all=*/false),
              ElementsAre("models:", "  - a", "  - b", "beam-size: 4", "log: \"x:y\""));
  const std::string all = absl::StrJoin(options.Yaml(/*all=*/true), "\n");
  EXPECT_THAT(all, HasSubstr("\nmax-length: 1000\n"));
  // What is written is read again.
  const std::string file = TestFile("all.yml", all + "\n");
  EXPECT_EQ(Options(absl::StrCat("-c ", file)).Yaml(/*all=*/true), options.Yaml(/*all=*/true));
}

}  // namespace
}  // namespace nibu::internal
