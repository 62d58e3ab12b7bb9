// Tests of what is read from the options and dictionaries of fairseq's checkpoints.
// reference_test.cc tests that the models translate correctly.
#include "models/formats/fairseq.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/formats/checkpoint.h"
#include "models/load_model.h"
#include "tests/models/files.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ReadFile;
using testing::TempFolder;
using testing::WriteFile;

std::string Data(const char* name) { return TestdataPath(name); }

std::string OpenError(const std::string& path) {
  const absl::StatusOr<OpenedModel> opened = OpenModel(path);
  EXPECT_FALSE(opened.ok());
  return std::string(opened.status().message());
}

TEST(Fairseq, WhatTheCheckpointsSay) {
  const auto newer = OpenModel(Data("fairseq-new"));
  ASSERT_TRUE(newer.ok()) << newer.status();
  EXPECT_EQ(newer->format, "fairseq");
  EXPECT_EQ(newer->config.norm_order, NormOrder::kPost);
  EXPECT_EQ(newer->config.position_kind, PositionKind::kSinusoidalHalfMinusOne);
  EXPECT_EQ(newer->config.position_offset, 2);
  EXPECT_EQ(newer->config.max_positions, 40);
  EXPECT_EQ(newer->config.vocab_source, 41);
  EXPECT_EQ(newer->config.vocab_target, 32);
  EXPECT_THAT(newer->config.suppressed, ElementsAre(1));
  EXPECT_EQ(newer->vocabulary.target_tokens[31], "madeupword0001");
  EXPECT_EQ(newer->names.Tensor("output"), "decoder.output_projection.weight");
  EXPECT_EQ(newer->vocabulary.source_sentencepiece, "");

  // A checkpoint can be given by its file as well as by its directory.
  const auto older = OpenModel(Data("fairseq-old/model.pt"));
  ASSERT_TRUE(older.ok()) << older.status();
  EXPECT_EQ(older->config.norm_order, NormOrder::kPre);
  EXPECT_TRUE(older->config.final_norm);
  EXPECT_TRUE(older->config.embedding_norm);
  EXPECT_EQ(older->config.position_kind, PositionKind::kLearned);
  EXPECT_EQ(older->config.activation, Activation::kGelu);
  EXPECT_EQ(older->names.Tensor("encoder.tokens"), older->names.Tensor("output"));
}

TEST(Fairseq, DefaultsAreThoseOfFairseq) {
  const ConfigFile options = *ConfigFile::Parse(R"({"source_lang":"a","target_lang":"b"})", "f");
  const auto config = ReadFairseqConfig(options);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->model.d_model, 512);
  EXPECT_EQ(config->model.ffn_decoder, 2048);
  EXPECT_EQ(config->model.layers_encoder, 6);
  EXPECT_EQ(config->model.heads_decoder, 8);
  EXPECT_EQ(config->model.norm_order, NormOrder::kPost);
  EXPECT_EQ(config->model.activation, Activation::kRelu);
  EXPECT_FALSE(config->shared_embeddings);
  EXPECT_FALSE(config->tied_output);
}

TEST(FairseqDamage, OptionsThatAreNotSupported) {
  const auto error = [](const nlohmann::json& fields) {
    nlohmann::json json = {{"source_lang", "a"}, {"target_lang", "b"}};
    json.update(fields);
    return std::string(ReadFairseqConfig(*ConfigFile::From(json, "f")).status().message());
  };
  EXPECT_EQ(error({{"adaptive_softmax_cutoff", nullptr},
                   {"cross_self_attention", false},
                   {"base_layers", 0},
                   {"quant_noise_pq", 0.0},
                   {"encoder_layers_to_keep", ""}}),
            "");
  EXPECT_THAT(error({{"adaptive_softmax_cutoff", {1000, 2000}}}),
              HasSubstr("f: trained with \"adaptive_softmax_cutoff\"; nibu reads"));
  EXPECT_THAT(error({{"quant_noise_pq", 0.1}}), HasSubstr("\"quant_noise_pq\""));
  EXPECT_THAT(error({{"encoder_layers_to_keep", "0,2"}}), HasSubstr("\"encoder_layers_to_keep\""));
  EXPECT_THAT(error({{"arch", "transformer_lm_gpt"}}), HasSubstr("\"arch\" must be one of"));
  EXPECT_THAT(error({{"arch", "lstm"}}), HasSubstr("\"arch\" must be one of"));
  EXPECT_THAT(error({{"task", "translation_multi_simple_epoch"}}),
              HasSubstr("\"task\" must be \"translation\""));
  EXPECT_THAT(error({{"encoder_embed_dim", 8}, {"decoder_embed_dim", 16}}),
              HasSubstr("encoder_embed_dim is 8 and decoder_embed_dim 16"));
  EXPECT_THAT(error({{"encoder_normalize_before", true}, {"decoder_normalize_before", false}}),
              HasSubstr("encoder_normalize_before is true and"));
  EXPECT_THAT(error({{"decoder_output_dim", 8}}),
              HasSubstr("\"decoder_output_dim\" must be 512, found 8"));
  EXPECT_THAT(error({{"activation_fn", "tanh"}}), HasSubstr("\"activation_fn\" must be relu"));
  EXPECT_THAT(error({{"source_lang", nullptr}}),
              HasSubstr("\"source_lang\" must be the XX of a dict.XX.txt, found nothing"));
  EXPECT_THAT(error({{"target_lang", "../x"}}), HasSubstr("\"target_lang\" must be the XX"));
  EXPECT_THAT(error({{"encoder_learned_pos", true},
                     {"max_source_positions", 10},
                     {"max_target_positions", 11}}),
              HasSubstr("\"max_target_positions\" must be max_source_positions, 10"));
}

TEST(Fairseq, DictionariesBeginWithSpecialTokens) {
  const auto read = [](const char* text) { return ReadFairseqDictionary(text, "d"); };
  EXPECT_THAT(*read("a 5\nb c 3\r\n@@ 1\n"),
              ElementsAre("<s>", "<pad>", "</s>", "<unk>", "a", "b c", "@@"));
  EXPECT_THAT(*read("a 5"), ElementsAre("<s>", "<pad>", "</s>", "<unk>", "a"));
  EXPECT_EQ(read("a 5\nb\n").status().message(), "d: line 2 is not a token, a space and a count");
  EXPECT_EQ(read("a x").status().message(), "d: line 1 is not a token, a space and a count");
  EXPECT_EQ(read("a 5 #fairseq:overwrite").status().message(),
            "d: line 1 is not a token, a space and a count");
  EXPECT_EQ(read(" 5").status().message(), "d: line 1 is not a token, a space and a count");
  EXPECT_EQ(read("a 5\nb 4\na 3\n").status().message(), "d: line 3 has \"a\" for the second time");
}

TEST(FairseqDamage, MissingOrWrongFilesAreNamed) {
  const TempFolder folder;
  const auto copy = [&](const char* from, const char* to) {
    std::filesystem::copy_file(Data(from), folder / to,
                               std::filesystem::copy_options::overwrite_existing);
  };
  copy("fairseq-old/model.pt", "model.pt");
  EXPECT_THAT(OpenError(folder.path()),
              HasSubstr("dict.de.txt: no such file; a fairseq checkpoint has its dictionaries"));
  copy("fairseq-old/dict.de.txt", "dict.de.txt");
  copy("fairseq-old/dict.en.txt", "dict.en.txt");
  EXPECT_TRUE(OpenModel(folder.path()).ok());
  copy("m2m/sentencepiece.bpe.model", "spm.model");
  EXPECT_EQ(OpenModel(folder.path())->vocabulary.target_sentencepiece,
            ReadFile(Data("m2m/sentencepiece.bpe.model")));

  copy("fairseq-old/model.pt", "other.pt");
  EXPECT_THAT(OpenError(folder.path()), HasSubstr("2 models in it, give one of them"));
  EXPECT_TRUE(OpenModel(folder / "other.pt").ok());
  std::filesystem::remove(folder / "other.pt");

  // This dictionary belongs to another model.
  WriteFile(folder / "dict.en.txt", "a 1\n");
  const absl::StatusOr<LoadedModel> loaded = LoadModel(folder.path(), ComputeType::kFloat32);
  EXPECT_THAT(std::string(loaded.status().message()), HasSubstr("embed_tokens.weight\" has shape"));

  // No checkpoint has this class.
  std::string bytes = ReadFile(folder / "model.pt");
  bytes = absl::StrReplaceAll(bytes, {{"AverageMeter", "AverageXXXXX"}});
  WriteFile(folder / "model.pt", bytes);
  EXPECT_THAT(OpenError(folder.path()),
              HasSubstr("refers to \"fairseq.meters AverageXXXXX\", which has no place in"));

  // This file has only weights.
  copy("nllb/pytorch_model.bin", "model.pt");
  EXPECT_THAT(OpenError(folder / "model.pt"),
              HasSubstr("a PyTorch file, but not a checkpoint of fairseq or OpenNMT-py"));
}

}  // namespace
}  // namespace nibu::internal
