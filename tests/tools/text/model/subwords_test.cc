// Tests of models whose files say more about subwords and targets than the weights need: merges of
// subword-nmt, and the token that each translation of an Argos package begins with.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "tests/models/files.h"
#include "tests/models/tiny_ctranslate2.h"
#include "tests/models/tiny_marian.h"
#include "tests/tools/text/models.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TempFolder;
using testing::WriteFile;

Options Short() {
  Options options;
  options.max_decoding_length = 6;
  options.return_scores = true;
  return options;
}

TEST(Subwords, MergesSplitTheTextOfAnOpusModel) {
  const TempFolder folder;
  testing::TinyMarianModel tiny;
  tiny.tokens = {"</s>", "<unk>", "a@@", "b", "ab", "d@@"};
  WriteFile(folder / "model.npz", tiny.Npz());
  WriteFile(folder / "opus.vocab.yml", tiny.VocabularyYml());
  for (const char* name : {"source.bpe", "target.bpe"}) {
    WriteFile(folder / name, "#version: 0.2\na b</w>\n");
  }
  const auto model = LoadNibu(folder.path());
  ASSERT_NE(model, nullptr);
  EXPECT_THAT(model->info().notes, ElementsAre(HasSubstr("Moses")));
  const auto translator = NewTranslator();
  Options tokenized = Short();
  tokenized.tokenized = true;
  const auto pieces = TranslateWith(translator.get(), model, tokenized, {"d@@ ab ab a@@ d@@ b"});
  const auto text = TranslateWith(translator.get(), model, Short(), {"dab ab adb"});
  ASSERT_EQ(text.size(), 1u);
  const nibu::Hypothesis& best = text[0].hypotheses[0];
  EXPECT_EQ(best.tokens, pieces[0].hypotheses[0].tokens);
  EXPECT_EQ(best.score, pieces[0].hypotheses[0].score);
  std::string expected;
  for (const std::string& token : best.tokens) {
    expected += absl::EndsWith(token, "@@") ? token.substr(0, token.size() - 2) : token + " ";
  }
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(best.text, absl::StripAsciiWhitespace(expected));
}

TEST(Subwords, TranslationsOfAnArgosPackageBeginWithItsTargetPrefix) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "model");
  const testing::TinyCTranslate2 tiny;
  WriteFile(folder / "model/model.bin", tiny.Bin());
  WriteFile(folder / "model/source_vocabulary.txt", tiny.source_vocabulary);
  WriteFile(folder / "model/target_vocabulary.json", tiny.target_vocabulary);
  const std::string metadata = folder / "metadata.json";
  Options options = Short();
  options.tokenized = true;
  options.beam_size = 1;
  std::vector<float> scores;
  for (const char* prefix : {"", "x"}) {
    WriteFile(metadata, absl::StrCat(R"({"to_code": "de", "target_prefix": ")", prefix, "\"}"));
    const auto model = LoadNibu(folder.path());
    ASSERT_NE(model, nullptr);
    const auto results = TranslateWith(NewTranslator().get(), model, options, {"a b"});
    const auto loaded = LoadModel(folder.path(), ComputeType::kFloat32);
    DecodingOptions plain;
    plain.beam_size = 1;
    plain.max_decoding_length = 6;
    plain.length_penalty = 0.2f;
    if (*prefix != '\0') plain.frame = Frame{{}, {}, {loaded->model->config.decoder_start, 3}};
    auto engine = Translator::Create(loaded->model, {});
    ASSERT_TRUE(engine.ok()) << engine.status();
    const Hypothesis expected = (*engine)->Translate({{2, 3}}, plain).value()[0][0];
    std::vector<std::string> tokens;
    for (const int id : expected.tokens) {
      tokens.push_back(loaded->vocabulary.target_tokens[static_cast<size_t>(id)]);
    }
    EXPECT_EQ(results[0].hypotheses[0].tokens, tokens);
    EXPECT_EQ(results[0].hypotheses[0].score, expected.score);
    scores.push_back(expected.score);
  }
  EXPECT_NE(scores[0], scores[1]);
}

}  // namespace
}  // namespace nibu::internal
