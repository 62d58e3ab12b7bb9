// Tests of what is read of languages and vocabularies from multilingual Hugging Face directories.
// reference_test.cc tests that the models translate correctly.
#include "models/formats/multilingual.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "tests/models/files.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReadFile;
using testing::TempFolder;
using testing::WriteFile;
using Change = std::function<void(const TempFolder&)>;

// Opens a copy of a directory of the test data after `change` has changed it.
absl::StatusOr<OpenedModel> Open(const char* name, const Change& change) {
  const TempFolder folder;
  std::filesystem::copy(TestdataPath(name), folder.path());
  change(folder);
  return OpenModel(folder.path());
}

std::string Error(const char* name, const Change& change) {
  const absl::StatusOr<OpenedModel> opened = Open(name, change);
  EXPECT_FALSE(opened.ok());
  return std::string(opened.status().message());
}

// Returns a change that sets fields of a JSON file.
Change Set(const std::string& file, const nlohmann::json& fields) {
  return [file, fields](const TempFolder& folder) {
    nlohmann::json json = nlohmann::json::object();
    if (std::filesystem::exists(folder / file))
      json = nlohmann::json::parse(ReadFile(folder / file));
    json.update(fields);
    WriteFile(folder / file, json.dump());
  };
}

Change Both(const Change& a, const Change& b) {
  return [a, b](const TempFolder& folder) {
    a(folder);
    b(folder);
  };
}

Change Remove(const std::string& file) {
  return [file](const TempFolder& folder) { std::filesystem::remove(folder / file); };
}

void Nothing(const TempFolder&) {}

std::vector<std::string> Codes(const ModelLanguages& languages) {
  std::vector<std::string> codes;
  for (const auto& language : languages.languages) codes.push_back(language.code);
  return codes;
}

TEST(Multilingual, LanguageCodes) {
  for (const char* code : {"deu_Latn", "zho_Hans", "de_DE", "en_XX"}) {
    EXPECT_EQ(LanguageCode(code), code);
  }
  EXPECT_EQ(LanguageCode("__de__"), "de");
  EXPECT_EQ(LanguageCode("__ast__"), "ast");
  for (const char* other : {"", "_", "__", "____", "<mask>", "de", "de_", "_DE", "x_Y", "deut_DE",
                            "d1_DE", "▁de_DE", "de_DE "}) {
    EXPECT_EQ(LanguageCode(other), "") << other;
  }
}

TEST(Multilingual, WhatTheDirectoriesSay) {
  const auto m2m = Open("m2m", Nothing);
  ASSERT_TRUE(m2m.ok()) << m2m.status();
  EXPECT_EQ(m2m->format, "Hugging Face M2M-100");
  EXPECT_EQ(m2m->config.norm_order, NormOrder::kPre);
  EXPECT_EQ(m2m->config.position_kind, PositionKind::kSinusoidalHalfMinusOne);
  EXPECT_EQ(m2m->config.position_offset, 2);
  EXPECT_FLOAT_EQ(m2m->config.embedding_scale, 4);
  EXPECT_EQ(m2m->config.unk, 3);
  EXPECT_THAT(m2m->config.source_suffix, ElementsAre(2));
  // These are <s>, <pad>, the languages and unused ids, but not </s>, <unk> and the pieces.
  EXPECT_THAT(m2m->config.suppressed, ElementsAre(0, 1, 37, 38, 39, 40, 41, 42));
  EXPECT_EQ(m2m->vocabulary.source_tokens[37], "__de__");
  EXPECT_EQ(m2m->vocabulary.source_tokens[42], "<unused 42>");
  const ModelLanguages& languages = m2m->vocabulary.languages;
  EXPECT_THAT(Codes(languages), ElementsAre("de", "en", "fr"));
  EXPECT_EQ(languages.languages[2].token, 39);
  EXPECT_TRUE(languages.source_in_front);
  EXPECT_TRUE(languages.target_follows_start);
  EXPECT_EQ(languages.default_source, "");
  EXPECT_EQ(languages.default_target, "");

  const auto mbart = Open("mbart50", Nothing);
  ASSERT_TRUE(mbart.ok()) << mbart.status();
  EXPECT_EQ(mbart->format, "Hugging Face mBART");
  EXPECT_TRUE(mbart->config.embedding_norm);
  EXPECT_EQ(mbart->vocabulary.languages.default_target, "en_XX");
  // Languages are in the order of their codes, and keep the ids that they have in the file.
  EXPECT_THAT(Codes(mbart->vocabulary.languages), ElementsAre("de_DE", "en_XX", "fr_XX"));
  EXPECT_EQ(mbart->vocabulary.languages.languages[2].token, 37);
}

TEST(Multilingual, WhereTheLanguageStands) {
  const auto nllb = Open("nllb", Nothing);
  ASSERT_TRUE(nllb.ok()) << nllb.status();
  EXPECT_EQ(nllb->format, "Hugging Face NLLB");
  EXPECT_TRUE(nllb->vocabulary.languages.source_in_front);
  EXPECT_EQ(nllb->vocabulary.languages.default_source, "eng_Latn");
  const auto legacy = Open("nllb", Set("tokenizer_config.json", {{"legacy_behaviour", true}}));
  EXPECT_FALSE(legacy->vocabulary.languages.source_in_front);
  EXPECT_TRUE(legacy->vocabulary.languages.target_follows_start);

  // In mBART models the class of the tokenizer says where the language stands, or else the token
  // from which the decoder starts.
  const auto unnamed = Set("tokenizer_config.json", {{"tokenizer_class", nullptr}});
  for (const char* name : {"mbart", "mbart50"}) {
    for (const Change& change : {Change(Nothing), Change(unnamed)}) {
      const auto mbart = Open(name, change);
      ASSERT_TRUE(mbart.ok()) << mbart.status();
      const bool is_first = std::string(name) == "mbart";
      EXPECT_EQ(mbart->vocabulary.languages.source_in_front, !is_first);
      EXPECT_EQ(mbart->vocabulary.languages.target_follows_start, !is_first);
    }
  }
}

TEST(Multilingual, LanguagesAreFoundInAnyOfTheirPlaces) {
  const Change none = Remove("special_tokens_map.json");
  const nlohmann::json decoder = {{"added_tokens_decoder",
                                   {{"37", {{"content", "__de__"}}},
                                    {"39", {{"content", "__en__"}}},
                                    {"40", {{"content", "<mask>"}}}}}};
  const nlohmann::json tokenizer = {
      {"version", "1.0"},
      {"added_tokens", {{{"id", 37}, {"content", "__de__"}}, {{"id", 39}, {"content", "__en__"}}}}};
  const nlohmann::json added = {{"__de__", 37}, {"__en__", 39}};
  const nlohmann::json listed = {
      {"additional_special_tokens", {"__de__", "<other>", {{"content", "__fr__"}}, "__en__"}}};
  for (const Change& place :
       {Set("tokenizer_config.json", decoder), Set("tokenizer.json", tokenizer),
        Set("added_tokens.json", added), Set("tokenizer_config.json", listed),
        Set("special_tokens_map.json", listed)}) {
    const auto opened = Open("m2m", Both(none, place));
    ASSERT_TRUE(opened.ok()) << opened.status();
    const auto& languages = opened->vocabulary.languages.languages;
    EXPECT_EQ(languages[0].code, "de");
    EXPECT_EQ(languages[0].token, 37);
    EXPECT_EQ(languages[1].code, "en");
    EXPECT_EQ(languages[1].token, 39);
    EXPECT_EQ(opened->vocabulary.source_tokens[39], "__en__");
  }
}

TEST(Multilingual, AddedTextIsGenerated) {
  const auto opened = Open("m2m", Set("added_tokens.json", {{"__de__", 37}, {"word", 38}}));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->vocabulary.source_tokens[38], "word");
  EXPECT_THAT(opened->config.suppressed, Not(Contains(38)));
}

TEST(MultilingualDamage, VocabulariesThatDoNotFitAreNamed) {
  EXPECT_THAT(Error("m2m", Remove("special_tokens_map.json")),
              HasSubstr("no language tokens in it; a Hugging Face directory of M2M-100"));
  EXPECT_THAT(Error("m2m", Remove("sentencepiece.bpe.model")),
              HasSubstr("sentencepiece.bpe.model: no such file; a Hugging Face directory of"));
  EXPECT_THAT(Error("nllb", Set("added_tokens.json", {{"fra_Latn", 37}})),
              HasSubstr("added_tokens.json: id 37 belongs to both \"deu_Latn\" and \"fra_Latn\""));
  EXPECT_THAT(Error("nllb", Set("added_tokens.json", {{"fra_Latn", 43}})),
              HasSubstr("token \"fra_Latn\" has id 43, expected 0 to 42, as vocab_size of"));
  EXPECT_THAT(Error("nllb", Set("added_tokens.json", {{"fra_Latn", "x"}})),
              HasSubstr("added_tokens.json: \"fra_Latn\" must be an integer, found \"x\""));
  EXPECT_THAT(Error("nllb", Set("config.json", {{"vocab_size", 20}})),
              HasSubstr("has id 20, expected 0 to 19"));
  for (const int size : {-5, 0}) {
    EXPECT_THAT(Error("nllb", Set("config.json", {{"vocab_size", size}})),
                HasSubstr(absl::StrCat("has id 0, expected 0 to ", size - 1)));
  }
  EXPECT_THAT(Error("nllb", Set("config.json", {{"vocab_size", 2000000000}})),
              HasSubstr("tokens, expected 2000000000, the size in config.json"));
  EXPECT_THAT(Error("m2m", Set("config.json", {{"vocab_size", 20}})),
              HasSubstr("vocab.json: 37 tokens, expected 20"));
  EXPECT_THAT(Error("m2m", Set("vocab.json", {{"x", 90}})),
              HasSubstr("the id of token \"x\" is not a number from 0 to 37"));
  EXPECT_THAT(Error("nllb", Set("tokenizer.json", {{"added_tokens", {{{"id", 3}}}}})),
              HasSubstr("tokenizer.json: \"added_tokens\" is not a list of tokens with their ids"));
  EXPECT_THAT(Error("nllb",
                    [](const TempFolder& folder) {
                      std::filesystem::copy_file(CaptionsModelPath("source.spm"),
                                                 folder / "sentencepiece.bpe.model",
                                                 std::filesystem::copy_options::overwrite_existing);
                    }),
              HasSubstr("sentencepiece.bpe.model: its first pieces are not <unk>, <s> and </s>"));
  EXPECT_THAT(Error("nllb", Set("tokenizer_config.json", {{"src_lang", "xyz_Abcd"}})),
              HasSubstr("\"src_lang\" must be one of the model's languages, found \"xyz_Abcd\""));
}

TEST(MultilingualDamage, MissingWeightsAndUnknownActivationsAreNamed) {
  EXPECT_THAT(Error("m2m", Remove("model.safetensors")), HasSubstr("no weights in it"));
  EXPECT_THAT(Error("m2m", Set("config.json", {{"activation_function", "mish"}})),
              HasSubstr("config.json: \"activation_function\" must be"));
}

}  // namespace
}  // namespace nibu::internal
