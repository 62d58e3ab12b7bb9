// Tests of the help, and of what nibu-translate refuses before it begins.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

TEST(UsageTest, HelpOnAFullDisk) {
  for (const char* name : {"nibu-translate", "nibu-score", "nibu-split", "nibu-bench",
                           "nibu-convert", "nibu-inspect"}) {
    for (const char* flag : {"--help", "--version"}) {
      const Outcome outcome = Shell(absl::StrCat(Program(name), " ", flag, " >/dev/full"), "");
      ExpectOneLineError(name, outcome, 1, "standard output: cannot be written");
    }
  }
}

TEST(UsageTest, Utf16IsNamed) {
  for (const auto& [name, text] : {std::pair("UTF-16", std::string("\xff\xfe"
                                                                   "A\0\n\0",
                                                                   6)),
                                   {"UTF-16", std::string("\xfe\xff\0A\0\n", 6)},
                                   {"UTF-16", "\xff\xfe"},
                                   {"UTF-32", std::string("\xff\xfe\0\0A\0\0\0", 8)},
                                   {"UTF-32", std::string("\0\0\xfe\xff\0\0\0A", 8)}}) {
    const std::string what = absl::StrCat(": is ", name, " text; only UTF-8 text is read");
    ExpectOneLineError("nibu-translate", Translate("", text), 1, "standard input" + what);
    if (text.size() > 2) {
      const std::string compressed = absl::StrCat("gzip | ", CaptionsProgram("nibu-translate"));
      ExpectOneLineError("nibu-translate", Shell(compressed, text), 1, "standard input" + what);
    }
    // The error comes before a line of the other file has been scored.
    const std::string tgt = TestFile("tgt", text);
    const Outcome scored =
        Shell(absl::StrCat(CaptionsProgram("nibu-score"), " --tgt=", tgt), "A dog runs.\nA cat.\n");
    ExpectOneLineError("nibu-score", scored, 1, tgt + what);
    EXPECT_EQ(scored.out, "");
  }
}

TEST(UsageTest, WrongUsage) {
  ExpectUsageError(Translate("--beam=3", ""), "did you mean --beam_size?");
  ExpectUsageError(Translate("--beam_size=0", ""), "beam_size");
  ExpectUsageError(Translate("--beam_size=x", ""), "beam_size");
  ExpectUsageError(Translate("--num_hypotheses=5 --output_format=nbest", ""), "num_hypotheses");
  // Options that would have no effect are refused.
  ExpectUsageError(Translate("--num_hypotheses=4", ""), "--num_hypotheses needs --output_format");
  for (const char* format : {"jsonl", "nbest"}) {
    ExpectUsageError(Translate(absl::StrCat("--print_scores --output_format=", format), ""),
                     "--print_scores is for --output_format=text");
  }
  ExpectUsageError(Translate("--split_language=german", ""), "--split_language must be a code");
  ExpectUsageError(Translate("--split_language=de --nosplit_sentences", ""),
                   "--split_language means nothing");
  ExpectUsageError(Translate("--split_language=de --tokenized", ""),
                   "--split_language means nothing");
  const Outcome language = Translate("--src_lang=fr", "");
  ExpectUsageError(language, "--src_lang=fr is not for this model, which is for en");
  EXPECT_EQ(language.err.find(">>"), std::string::npos) << language.err;
  ExpectUsageError(Translate("--output_format=xml", ""), "output_format");
  ExpectUsageError(Translate("--long_input=x", ""), "long_input");
  ExpectUsageError(Translate("--compute_type=int2", ""), "compute_type");
  ExpectUsageError(Translate("--max_input_length=0", ""), "max_input_length");
  ExpectUsageError(Translate("--threads=-1", ""), "threads");
  ExpectUsageError(Translate("--src=x 'A dog.'", ""), "either TEXT or --src");
  ExpectUsageError(Translate("--src=", ""), "--src is empty");
  ExpectUsageError(Translate("--out= 'A dog.'", ""), "--out is empty");
  ExpectUsageError(Translate("--model=x,", ""), "--model=x, has a comma with no model beside it");
  ExpectUsageError(Translate("--model=,x", ""), "--model=,x has a comma");
  EXPECT_EQ(Translate("--version", "").out.rfind("nibu-translate ", 0), 0u);
  const Outcome help = Translate("--help", "");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("--beam_size=4"), std::string::npos);
  EXPECT_EQ(help.out.find("--word_penalty"), std::string::npos);
  EXPECT_NE(Translate("--help=all", "").out.find("--word_penalty=0"), std::string::npos);
  ExpectUsageError(Translate("--help=pdf", ""), "--help must be all, man");
}

}  // namespace
}  // namespace nibu::internal
