// Tests of glossaries: which terms are found in a sentence, and how they appear in its translation.
#include "tools/text/lines/glossary.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Returns the phrases that are found, by their numbers. Each phrase's number is its only target.
std::vector<int> Found(const std::vector<std::string>& phrases, const std::string& sentence) {
  Glossary glossary;
  for (size_t i = 0; i < phrases.size(); ++i) glossary.Add(phrases[i], {static_cast<int>(i)});
  std::vector<int> found;
  for (const Constraint& constraint : glossary.Find(sentence)) found.push_back(constraint[0][0]);
  return found;
}

TEST(GlossaryTest, TheFirstThenTheLongestOfThoseThatOverlap) {
  EXPECT_THAT(Found({"dog", "hot dog", "hot"}, "a hot dog"), ElementsAre(1));
  EXPECT_THAT(Found({"a b", "b c d"}, "a b c d"), ElementsAre(0));
  EXPECT_THAT(Found({"b c d", "a", "a b x"}, "a b c d"), ElementsAre(1, 0));
  EXPECT_THAT(Found({"x", "a"}, "a x a"), ElementsAre(1, 0, 1));
}

TEST(GlossaryTest, EveryOccurrenceCounts) {
  EXPECT_THAT(Found({"dog"}, "dog, dog and dog"), ElementsAre(0, 0, 0));
  EXPECT_THAT(Found({"dog"}, ""), IsEmpty());
  EXPECT_THAT(Found({}, "dog"), IsEmpty());
  std::string many;
  for (int i = 0; i < 100; ++i) many += "dog ";
  EXPECT_EQ(Found({"dog"}, many).size(), kMostConstraints);
}

TEST(GlossaryTest, SeveralForms) {
  Glossary glossary;
  EXPECT_TRUE(glossary.empty());
  glossary.Add("dog", {1, 2});
  glossary.Add("cat", {4});
  glossary.Add("dog", {3});
  EXPECT_FALSE(glossary.empty());
  EXPECT_THAT(glossary.Find("a dog"), ElementsAre(ElementsAre(ElementsAre(1, 2), ElementsAre(3))));
}

TEST(GlossaryTest, WholeWordsOnly) {
  EXPECT_THAT(Found({"cat"}, "concatenate cats scat"), IsEmpty());
  EXPECT_THAT(Found({"cat"}, "(cat) \"cat\" cat-like cat's"), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(Found({"C++"}, "C++ or C++17"), ElementsAre(0, 0));  // "+" is a border of a word.
  EXPECT_THAT(Found({"ung"}, "Übung"), IsEmpty());
  EXPECT_THAT(Found({"кот"}, "который кот"), ElementsAre(0));
  EXPECT_THAT(Found({"7"}, "17 7"), ElementsAre(0));
}

TEST(GlossaryTest, MarksBelongToTheirLetters) {
  EXPECT_THAT(Found({"हिंद"}, "हिंदी"), IsEmpty());
  EXPECT_THAT(Found({"हिंद"}, "हिंद है"), ElementsAre(0));
  EXPECT_THAT(Found({"cafe"}, "cafe\u0301"), IsEmpty());
}

TEST(GlossaryTest, ScriptsWithoutBlanks) {
  EXPECT_THAT(Found({"北京"}, "我在北京工作"), ElementsAre(0));
  EXPECT_THAT(Found({"東京", "京都"}, "東京都"), ElementsAre(0));
  EXPECT_THAT(Found({"カメラ"}, "新しいカメラを買う"), ElementsAre(0));
  EXPECT_THAT(Found({"กรุงเทพ"}, "ผมอยู่กรุงเทพครับ"), ElementsAre(0));
  EXPECT_THAT(Found({"iPhone"}, "我的iPhone很好"), ElementsAre(0));
}

TEST(GlossaryTest, BytesThatAreNoText) {
  EXPECT_THAT(Found({"dog"}, "\xff dog\xfe"), ElementsAre(0));
  EXPECT_THAT(Found({"dog"}, "\xe2\x96"), IsEmpty());
}

TEST(ParseGlossaryTest, LinesHaveTermsOrAreSkipped) {
  const auto entries = ParseGlossary("# terms\ndog\tHund\r\n\n  \n hot dog \t Hot Dog ");
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].source, "dog");
  EXPECT_EQ((*entries)[0].target, "Hund");
  EXPECT_EQ((*entries)[1].source, "hot dog");
  EXPECT_EQ((*entries)[1].target, "Hot Dog");
  EXPECT_TRUE(ParseGlossary("")->empty());
}

TEST(ParseGlossaryTest, AWrongLineIsNamed) {
  for (const char* wrong : {"dog", "dog\t", "\tHund", "dog\tHund\tx", "dog\t \t"}) {
    const auto status = ParseGlossary(absl::StrCat("a\tb\n\n", wrong, "\nc\td")).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr("line 3 must be")) << wrong;
  }
}

std::string With(const std::string& glossary, const std::string& flags, const std::string& line) {
  const std::string path = TestFile("terms.tsv", glossary);
  const Outcome outcome =
      Translate(absl::StrCat("--glossary='", path, "' ", flags), absl::StrCat(line, "\n"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.out;
}

TEST(GlossaryTest, WithTheCaptionsModel) {
  const std::string line = "A man is riding a bicycle.";
  EXPECT_EQ(Translate("", line + "\n").out, "Ein Mann fährt Fahrrad.\n");
  for (const char* flags : {"--compute_type=float32", "--compute_type=int8", "--beam_size=2",
                            "--search_compat=marian", "--search_compat=huggingface",
                            "--print_scores", "--alignment=hard", "--output_format=nbest"}) {
    EXPECT_THAT(With("bicycle\tMotorrad\n", flags, line), HasSubstr("Motorrad")) << flags;
  }
  // One of the two forms is in the translation anyway, so it stays as it is.
  EXPECT_EQ(With("bicycle\tMotorrad\nbicycle\tFahrrad\n", "", line), "Ein Mann fährt Fahrrad.\n");
  // Terms that are not in the sentence, and parts of words, change nothing.
  EXPECT_EQ(With("horse\tPferd\nid\tId\ncycle\tZyklus\n", "", line), "Ein Mann fährt Fahrrad.\n");
  EXPECT_EQ(With("# nothing\n", "", line), "Ein Mann fährt Fahrrad.\n");
  EXPECT_EQ(With("bicycle\tMotorrad\n", "", ""), "\n");
}

// The names that stand for protected parts are not terms.
TEST(GlossaryTest, NamesBesideParts) {
  for (const char* line : {"The man likes {0}.", "Open notes.md and {0}."}) {
    const std::string out = With("Tom\tTim\nMaria\tMarie\n", "", line);
    EXPECT_EQ(out.find("Tim"), std::string::npos) << out;
    EXPECT_EQ(out.find("Marie"), std::string::npos) << out;
  }
}

TEST(GlossaryTest, SeveralTermsAndSentences) {
  const std::string out = With("dog\tPudel\ncat\tKater\n", "", "A dog and a cat. A dog runs.");
  EXPECT_THAT(out, HasSubstr("Kater"));
  const size_t first = out.find("Pudel");
  ASSERT_NE(first, std::string::npos) << out;
  EXPECT_NE(out.find("Pudel", first + 1), std::string::npos) << out;
  const std::string twice = With("dog\tPudel\n", "", "A dog is running after another dog.");
  const size_t one = twice.find("Pudel");
  ASSERT_NE(one, std::string::npos) << twice;
  EXPECT_NE(twice.find("Pudel", one + 1), std::string::npos) << twice;
}

TEST(GlossaryTest, TargetsAreWholeWords) {
  const std::string line = "Dogs run at a dog racetrack.";
  // The model's choice between the forms should not depend on how a CPU rounds int8.
  const std::string flags = "--compute_type=float32";
  EXPECT_THAT(With("dog\tHund\n", flags, line), HasSubstr(" Hund."));
  EXPECT_EQ(With("dog\tHund\ndog\tHundbahn\n", flags, line), "Hunde laufen auf einer Hundbahn.\n");
}

TEST(GlossaryTest, TermsOfTokenizedLinesArePieces) {
  EXPECT_THAT(With("▁bicycle\t▁Motor rad\n", "--tokenized", "▁A ▁man ▁is ▁riding ▁a ▁bicycle ."),
              HasSubstr("▁Motor rad"));
}

TEST(GlossaryTest, IsTheSameWhateverTheBatch) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string path = TestFile("terms.tsv", "man\tHerr\nwoman\tDame\ndog\tPudel\n");
  const std::string flags = absl::StrCat("--print_scores --glossary='", path, "' ");
  const std::string source = Captions(20);
  const std::string expected = Translate(flags + "--threads=1 --batch_size=1", source).out;
  EXPECT_THAT(expected, HasSubstr("Herr"));
  EXPECT_EQ(Translate(flags + "--threads=1 --batch_size=8", source).out, expected);
  EXPECT_EQ(Translate(flags + "--threads=3", source).out, expected);
}

TEST(GlossaryTest, FromAPipe) {
  const std::string path = TestFile("terms.tsv", "dog\tPudel\r\n");
  const Outcome outcome =
      Shell(absl::StrCat("cat '", path, "' | ", CaptionsProgram("nibu-translate"), " ",
                         "--glossary=/dev/stdin 'A dog runs.'"),
            "");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Pudel"));
  ExpectUsageError(Translate("--glossary=-", "a\n"), "--glossary must be a file");
}

TEST(GlossaryTest, RefusesDamagedFilesAndSearchesWithoutABeam) {
  const std::string path = TestFile("terms.tsv", "dog\tHund\nx\n");
  ExpectOneLineError("nibu-translate", Translate(absl::StrCat("--glossary=", path), "a\n"), 1,
                     "terms.tsv: line 2 must be");
  ExpectOneLineError("nibu-translate", Translate("--glossary=/nonexistent", "a\n"), 1,
                     "/nonexistent");
  TestFile("terms.tsv", "dog\tHund\n");
  for (const char* flags : {"--beam_size=1", "--sampling_topk=0", "--return_alternatives"}) {
    ExpectUsageError(Translate(absl::StrCat("--glossary=", path, " ", flags), "a\n"),
                     "--glossary needs a beam_size above 1");
  }
  TestFile("terms.tsv", "dog\t\u3000\n");
  ExpectUsageError(Translate(absl::StrCat("--glossary=", path), "a\n"), "--glossary: \"dog\"");
}

}  // namespace
}  // namespace nibu::internal
