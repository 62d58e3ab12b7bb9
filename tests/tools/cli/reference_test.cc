// Tests of models of other systems as a user runs them: small random models, whose translations
// independent programs (tests/reference) computed.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;

std::string Model(const std::string& name) { return TestdataPath(name); }

Outcome Translate(const std::string& model, const std::string& flags, const std::string& input) {
  return Shell(
      absl::StrCat(
          CaptionsProgram("nibu-translate"), " --compute_type=float32 ",
          "--beam_size=1 --max_decoding_length=12 --split_sentences=false --protect=none --model='",
          Model(model), "' ", flags),
      input);
}

// Returns the expected translations of a model, which must be so many.
nlohmann::json Cases(const std::string& model, size_t count) {
  auto cases = nlohmann::json::parse(ReadFile(Model(model) + "/expected.json"));
  EXPECT_EQ(cases.size(), count) << model;
  return cases;
}

class LanguagesTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Models, LanguagesTest,
                         ::testing::Values("m2m", "nllb", "mbart50", "mbart"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(LanguagesTest, EqualTheReference) {
  const auto cases = Cases(GetParam(), 8);
  for (const nlohmann::json& expected : cases) {
    const Outcome outcome =
        Translate(GetParam(),
                  absl::StrCat("--src_lang=", expected["src_lang"].get<std::string>(),
                               " --tgt_lang=", expected["tgt_lang"].get<std::string>()),
                  absl::StrCat(expected["text"].get<std::string>(), "\n"));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, absl::StrCat(expected["translation"].get<std::string>(), "\n"));
  }
}

TEST(LanguagesTest, MissingAndUnknownOnesAreAnsweredWithAllThereAre) {
  ExpectUsageError(Translate("m2m", "", "a\n"),
                   "--src_lang is needed with this model; it has de, en, fr");
  ExpectUsageError(Translate("m2m", "--src_lang=de", "a\n"),
                   "--tgt_lang is needed with this model; it has de, en, fr");
  ExpectUsageError(Translate("mbart50", "--src_lang=dd_DE", "a\n"),
                   "--src_lang=dd_DE is not a language of this model, did you mean de_DE?; it has "
                   "de_DE, en_XX, fr_XX");
  ExpectUsageError(Translate("nllb", "--tgt_lang=xyzzy", "a\n"),
                   "--tgt_lang=xyzzy is not a language of this model; it has deu_Latn, eng_Latn, "
                   "fra_Latn");
}

TEST(LanguagesTest, TheModelsOwnNeedNotBeSaid) {
  // The NLLB model has a default source language, the mBART-50 model a default target language.
  const std::string text = "the cat sat on the mat\n";
  EXPECT_EQ(Translate("nllb", "--tgt_lang=fra_Latn", text).out,
            Translate("nllb", "--src_lang=eng_Latn --tgt_lang=fra_Latn", text).out);
  EXPECT_EQ(Translate("mbart50", "--src_lang=fr_XX", text).out,
            Translate("mbart50", "--src_lang=fr_XX --tgt_lang=en_XX", text).out);
  EXPECT_NE(Translate("mbart50", "--src_lang=fr_XX", text).out,
            Translate("mbart50", "--src_lang=fr_XX --tgt_lang=de_DE", text).out);
}

TEST(LanguagesTest, CodesOfAnyForm) {
  const std::string text = "the cat sat on the mat\n";
  const std::string expected =
      Translate("nllb", "--src_lang=eng_Latn --tgt_lang=fra_Latn", text).out;
  EXPECT_NE(expected, "");
  for (const char* flags : {"--src_lang=en --tgt_lang=fr", "--src_lang=eng --tgt_lang=fr-CA",
                            "--src_lang=en_US --tgt_lang=fra"}) {
    EXPECT_EQ(Translate("nllb", flags, text).out, expected) << flags;
  }
}

TEST(LanguagesTest, OtherModelsHaveTheirOwn) {
  const Outcome outcome =
      Shell(absl::StrCat(CaptionsProgram("nibu-translate"), " --tgt_lang=fr a"), "");
  ExpectUsageError(outcome, "--tgt_lang=fr is not for this model, which is for de");
  EXPECT_THAT(outcome.err, Not(HasSubstr(">>xx<<")));  // This model has no such tokens.
}

TEST(LanguagesTest, BenchTakesThemToo) {
  const std::string bench =
      absl::StrCat(CaptionsProgram("nibu-bench"), " --threads=1 --output_length=4 --json ",
                   "--model='", Model("m2m"), "' --src='", TestdataPath("multi30k.en"), "' ");
  const Outcome outcome =
      Shell(absl::StrCat(bench, "--max_input_length=16 --src_lang=en --tgt_lang=de"), "");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\"target_tokens\":"));
  EXPECT_THAT(Shell(absl::StrCat(bench, "--max_input_length=16"), "").err,
              HasSubstr("--src_lang is needed"));
}

// Checkpoints of fairseq and OpenNMT-py have words instead of pieces here.
TEST(CheckpointsTest, EqualTheReference) {
  for (const char* model : {"fairseq-new", "fairseq-old", "opennmt-2", "opennmt-3"}) {
    SCOPED_TRACE(model);
    const auto cases = Cases(model, 6);
    std::string source;
    std::string expected;
    for (const nlohmann::json& line : cases) {
      absl::StrAppend(&source, line["text"].get<std::string>(), "\n");
      absl::StrAppend(&expected, line["translation"].get<std::string>(), "\n");
    }
    const Outcome outcome = Translate(model, "--tokenized", source);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, expected);
  }
}

// --sentencepiece replaces a model's own SentencePiece models. Tests of CTranslate2's format cover
// models without any.
TEST(SentencePieceTest, OfTheCommandLine) {
  const std::string captions = CaptionsModelPath();
  const auto run = [&](const std::string& flags) {
    return Shell(absl::StrCat(CaptionsProgram("nibu-translate"), " ", flags,
                              " 'A man is riding a bicycle.'"),
                 "");
  };
  const std::string expected = "Ein Mann fährt Fahrrad.\n";
  const std::string spm = captions + "/source.spm";
  EXPECT_EQ(run(absl::StrCat("--sentencepiece='", spm, "'")).out, expected);
  EXPECT_EQ(run(absl::StrCat("--sentencepiece='", spm, ",", captions, "/target.spm'")).out,
            expected);
  ExpectOneLineError("nibu-translate", run("--sentencepiece=/nowhere.spm"), 1, "/nowhere.spm");
  ExpectOneLineError(
      "nibu-translate", run(absl::StrCat("--sentencepiece='", captions, "/config.json'")), 1,
      absl::StrCat("error: ", captions, "/config.json: SentencePiece of the source"));
  for (const char* files : {"a,b,c", "a,", ",b", ","}) {
    ExpectOneLineError("nibu-translate", run(absl::StrCat("--sentencepiece=", files)), 2,
                       absl::StrCat("SOURCE.spm[,TARGET.spm], not \"", files, "\""));
  }
  ExpectOneLineError("nibu-translate", run(absl::StrCat("--tokenized --sentencepiece='", spm, "'")),
                     2, "--tokenized");
}

TEST(CheckpointsTest, WithoutSentencePieceTheyNeedPieces) {
  ExpectOneLineError("nibu-translate", Translate("opennmt-2", "", "a\n"), 1, "--tokenized");
}

}  // namespace
}  // namespace nibu::internal
