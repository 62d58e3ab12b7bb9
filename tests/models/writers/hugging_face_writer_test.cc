// Tests of the writer of Hugging Face directories: models of other formats stay the same, and what
// such a directory cannot hold is refused.
#include "models/writers/hugging_face_writer.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "tests/models/tiny_ctranslate2.h"
#include "tests/models/tiny_marian.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;
using testing::TinyCTranslate2;
using testing::TinyMarian;
using testing::TinyMarianModel;
using testing::WriteFile;

// Returns tokens and scores of a few sentences.
std::vector<std::pair<std::vector<int>, float>> Translations(const std::string& path) {
  const absl::StatusOr<LoadedModel> loaded = LoadModel(path, ComputeType::kFloat32);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  if (!loaded.ok()) return {};
  DecodingOptions options;
  options.beam_size = 2;
  options.max_decoding_length = 8;
  auto translator = Translator::Create(loaded->model, {});
  EXPECT_TRUE(translator.ok()) << translator.status();
  std::vector<std::pair<std::vector<int>, float>> translations;
  const std::vector<std::vector<int>> sources = {{2}, {3, 2, 3}, {1, 2, 3, 0, 2, 3}};
  const auto all = (*translator)->Translate(sources, options);
  for (const auto& hypotheses : *all) {
    translations.emplace_back(hypotheses[0].tokens, hypotheses[0].score);
  }
  return translations;
}

absl::Status Write(const std::string& from, const std::string& to, Quantization quantization = {}) {
  absl::StatusOr<OpenedModel> opened = OpenModel(from);
  if (!opened.ok()) return opened.status();
  return WriteHuggingFace(*opened, quantization, to);
}

void ExpectSame(const std::string& from) {
  const TempFolder folder;
  const absl::Status status = Write(from, folder / "hf");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(LoadModel(folder / "hf", ComputeType::kFloat32)->format, "Hugging Face MarianMT");
  EXPECT_EQ(Translations(from), Translations(folder / "hf"));
}

TEST(HuggingFaceWriter, HuggingFaceModels) {
  const TempFolder folder;
  TinyMarian().Write(folder);
  ExpectSame(folder.path());
  const absl::StatusOr<LoadedModel> before = LoadModel(folder.path(), ComputeType::kFloat32);
  ASSERT_TRUE(Write(folder.path(), folder / "hf").ok());
  const absl::StatusOr<LoadedModel> after = LoadModel(folder / "hf", ComputeType::kFloat32);
  EXPECT_EQ(after->vocabulary.source_tokens, before->vocabulary.source_tokens);
  EXPECT_EQ(after->vocabulary.source_sentencepiece, "\nsource pieces");
  EXPECT_EQ(after->model->config.suppressed, before->model->config.suppressed);
}

TEST(HuggingFaceWriter, LearnedPositionsAndTwoVocabularies) {
  const TempFolder folder;
  TinyMarian tiny;
  tiny.config["share_encoder_decoder_embeddings"] = false;
  tiny.config["tie_word_embeddings"] = false;
  tiny.config["static_position_embeddings"] = false;
  tiny.config["scale_embedding"] = false;
  tiny.tensors.erase("model.shared.weight");
  for (const std::string stack : {"model.encoder", "model.decoder"}) {
    tiny.Add(stack + ".embed_tokens.weight", {TinyMarian::kV, TinyMarian::kD});
    tiny.Add(stack + ".embed_positions.weight", {32, TinyMarian::kD});
  }
  tiny.Add("lm_head.weight", {TinyMarian::kV, TinyMarian::kD});
  tiny.tokenizer["separate_vocabs"] = true;
  tiny.Write(folder);
  nlohmann::json target = {{"</s>", 0}, {"x", 2},     {"y", 3},    {"z", 4},
                           {"w", 5},    {"<unk>", 1}, {"<pad>", 6}};
  WriteFile(folder / "target_vocab.json", target.dump());
  ExpectSame(folder.path());
}

// Marian's decoder starts from a zero vector, its positions have another formula, and its norms
// have another epsilon.
TEST(HuggingFaceWriter, MarianModels) {
  const TinyMarianModel tiny(/*ssru=*/false, "");
  const TempFolder folder;
  WriteFile(folder / "model.npz", tiny.Npz());
  WriteFile(folder / "vocab.spm", tiny.VocabularySpm());
  ExpectSame(folder.path());
  ASSERT_TRUE(Write(folder.path(), folder / "hf").ok());
  const absl::StatusOr<LoadedModel> loaded = LoadModel(folder / "hf", ComputeType::kFloat32);
  EXPECT_EQ(loaded->vocabulary.source_tokens.back(), "<pad>");
  EXPECT_EQ(loaded->model->config.decoder_start, TinyMarianModel::kV);
}

TEST(HuggingFaceWriter, CTranslate2Models) {
  for (const uint8_t type : {0, 1, 2}) {
    const TempFolder folder;
    TinyCTranslate2 tiny(6, type);
    for (const std::string stack : {"encoder", "decoder"}) {  // which MarianMT can express
      tiny.Set(stack + "/pre_norm", 0);
      std::erase_if(tiny.variables, [&](const auto& variable) {
        return absl::StartsWith(variable.name, stack + "/layer_norm/");
      });
    }
    tiny.Write(folder);
    WriteFile(folder / "config.json", R"({"add_source_eos": true, "layer_norm_epsilon": 1e-6})");
    WriteFile(folder / "sentencepiece.model", "\npieces");
    if (type == 0) ExpectSame(folder.path());
    const absl::Status status = Write(folder.path(), folder / "hf", ComputeType::kBFloat16);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_FALSE(Translations(folder / "hf").empty());
  }
}

TEST(HuggingFaceWriter, SaysWhatCannotBeHeld) {
  const TempFolder folder;
  const auto message = [&](const std::string& path) {
    const std::string text(Write(path, folder / "hf").message());
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_FALSE(std::filesystem::exists(folder / "hf"));
    return text;
  };
  {
    const TempFolder ssru;
    WriteFile(ssru / "model.npz", TinyMarianModel(/*ssru=*/true).Npz());
    WriteFile(ssru / "vocab.spm", TinyMarianModel().VocabularySpm());
    EXPECT_THAT(message(ssru.path()), HasSubstr("cannot hold an SSRU decoder; write a .nibu file"));
  }
  {
    const TempFolder no_pieces;
    TinyCTranslate2(6, 0).Write(no_pieces);
    EXPECT_THAT(message(no_pieces.path()), HasSubstr("whose sources end in no token"));
    WriteFile(no_pieces / "config.json", R"({"add_source_eos": true})");
    EXPECT_THAT(message(no_pieces.path()), HasSubstr("without SentencePiece models"));
    WriteFile(no_pieces / "vmap.txt", "\tx\n");
    EXPECT_THAT(message(no_pieces.path()), HasSubstr("a shortlist (it can be left out)"));
  }
  EXPECT_THAT(message(TestdataPath("m2m")), HasSubstr("a choice of languages"));
  {
    const TempFolder merges;
    WriteFile(merges / "model.npz", TinyMarianModel().Npz());
    WriteFile(merges / "vocab.yml", TinyMarianModel().VocabularyYml());
    WriteFile(merges / "source.bpe", "#version: 0.2\na b\n");
    WriteFile(merges / "target.bpe", "#version: 0.2\na b\n");
    EXPECT_THAT(message(merges.path()), HasSubstr("cannot hold merges of subword-nmt"));
  }
  {
    TinyMarianModel pre_norm(/*ssru=*/false, "_pre");
    pre_norm.options["transformer-preprocess"] = "n";
    pre_norm.options["transformer-postprocess"] = "da";
    const TempFolder model;
    WriteFile(model / "model.npz", pre_norm.Npz());
    WriteFile(model / "vocab.spm", pre_norm.VocabularySpm());
    EXPECT_THAT(message(model.path()), HasSubstr("layers that begin with their norm"));
  }
  for (const auto& [field, norm, what] :
       {std::tuple("add_final_layer_norm", ".layer_norm", "a norm behind the last layer"),
        {"normalize_embedding", ".layernorm_embedding", "a norm behind the embeddings"}}) {
    TinyMarian with_norm;
    with_norm.config[field] = true;
    for (const std::string stack : {"model.encoder", "model.decoder"}) {
      with_norm.AddNorm(stack + norm);
    }
    const TempFolder model;
    with_norm.Write(model);
    EXPECT_THAT(message(model.path()), HasSubstr(what));
  }
  const TempFolder tiny;
  TinyMarian().Write(tiny);
  EXPECT_THAT(std::string(Write(tiny.path(), tiny.path() + "/").message()),
              HasSubstr("is there already"));
}

}  // namespace
}  // namespace nibu::internal
