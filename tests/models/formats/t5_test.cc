// Tests of what is read from T5 directories. reference_test.cc tests that the models translate
// correctly.
#include "models/formats/t5.h"

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
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
using Change = std::function<void(const TempFolder&)>;

absl::StatusOr<LoadedModel> Load(const char* name, const Change& change) {
  const TempFolder folder;
  std::filesystem::copy(TestdataPath(name), folder.path());
  change(folder);
  return LoadModel(folder.path(), ComputeType::kFloat32);
}

std::string T5Error(const char* name, const Change& change) {
  const absl::StatusOr<LoadedModel> loaded = Load(name, change);
  EXPECT_FALSE(loaded.ok());
  const std::string message(loaded.status().message());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

// Returns a change that sets fields of config.json.
Change Set(const nlohmann::json& fields) {
  return [fields](const TempFolder& folder) {
    auto json = nlohmann::json::parse(ReadFile(folder / "config.json"));
    json.update(fields);
    WriteFile(folder / "config.json", json.dump());
  };
}

Change RemoveField(const std::string& file) {
  return [file](const TempFolder& folder) { std::filesystem::remove(folder / file); };
}

HuggingFaceConfig Config(const nlohmann::json& json) {
  const auto config = ReadT5Config(*ConfigFile::From(json, "config.json"));
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : HuggingFaceConfig();
}

TEST(T5, DefaultsAreThoseOfTheSmallModels) {
  HuggingFaceConfig t5 = Config({{"model_type", "t5"}});
  EXPECT_EQ(t5.model.d_model, 512);
  EXPECT_EQ(t5.model.d_head, 64);
  EXPECT_EQ(t5.model.heads_decoder, 8);
  EXPECT_EQ(t5.model.ffn_encoder, 2048);
  EXPECT_EQ(t5.model.layers_encoder, 6);
  EXPECT_EQ(t5.model.layers_decoder, 6);
  EXPECT_EQ(t5.model.vocab_target, 32128);
  EXPECT_EQ(t5.model.position_kind, PositionKind::kRelative);
  EXPECT_EQ(t5.model.position_buckets, 32);
  EXPECT_EQ(t5.model.position_max_distance, 128);
  EXPECT_EQ(t5.model.norm_kind, NormKind::kRms);
  EXPECT_EQ(t5.model.norm_order, NormOrder::kPre);
  EXPECT_FLOAT_EQ(t5.model.norm_epsilon, 1e-6f);
  EXPECT_FLOAT_EQ(t5.model.attention_scale, 1.0f);
  EXPECT_FLOAT_EQ(t5.model.embedding_scale, 1.0f);
  EXPECT_FLOAT_EQ(t5.model.output_scale, 1 / std::sqrt(512.0f));
  EXPECT_EQ(t5.model.activation, Activation::kRelu);
  EXPECT_FALSE(t5.model.gated_ffn);
  EXPECT_TRUE(t5.tied_output);
  EXPECT_EQ(t5.model.eos, 1);
  EXPECT_EQ(t5.model.decoder_start, 0);
  EXPECT_THAT(t5.model.suppressed, ElementsAre(0));

  const HuggingFaceConfig mt5 = Config({{"model_type", "mt5"}});
  EXPECT_EQ(mt5.model.heads_encoder, 6);
  EXPECT_EQ(mt5.model.ffn_decoder, 1024);
  EXPECT_EQ(mt5.model.layers_decoder, 8);
  EXPECT_EQ(mt5.model.vocab_source, 250112);
  EXPECT_EQ(mt5.model.activation, Activation::kGeluTanh);
  EXPECT_TRUE(mt5.model.gated_ffn);
  EXPECT_FALSE(mt5.tied_output);
  EXPECT_FLOAT_EQ(mt5.model.output_scale, 1.0f);
}

TEST(T5, FeedForwards) {
  const auto with = [](nlohmann::json fields) {
    fields["model_type"] = "t5";
    const ModelConfig model = Config(fields).model;
    return std::make_pair(model.activation, model.gated_ffn);
  };
  EXPECT_EQ(with({{"feed_forward_proj", "gelu"}}), std::make_pair(Activation::kGelu, false));
  EXPECT_EQ(with({{"feed_forward_proj", "gated-gelu"}}),
            std::make_pair(Activation::kGeluTanh, true));
  EXPECT_EQ(with({{"feed_forward_proj", "gated-silu"}}), std::make_pair(Activation::kSwish, true));
  EXPECT_EQ(with({{"feed_forward_proj", "gated-gelu"}, {"dense_act_fn", "gelu"}}),
            std::make_pair(Activation::kGelu, true));
  EXPECT_THAT(T5Error("t5", Set({{"feed_forward_proj", "gated-mish"}})),
              HasSubstr("\"feed_forward_proj\" must be relu, gelu, silu, gated-gelu"));
}

TEST(T5, OutputsAreScaledAsTheFileSays) {
  // In files of newer versions, tied embeddings do not say whether outputs are scaled.
  const auto scale = [](bool tied, bool scaled) {
    return Config({{"model_type", "t5"},
                   {"tie_word_embeddings", tied},
                   {"scale_decoder_outputs", scaled},
                   {"d_model", 4}})
        .model.output_scale;
  };
  EXPECT_FLOAT_EQ(scale(true, false), 1.0f);
  EXPECT_FLOAT_EQ(scale(true, true), 0.5f);
  // An output layer that is in the file is used, even if embeddings are tied.
  const auto madlad = Load("madlad", [](const TempFolder&) {});
  const auto newer =
      Load("madlad", Set({{"tie_word_embeddings", true}, {"scale_decoder_outputs", false}}));
  ASSERT_TRUE(madlad.ok()) << madlad.status();
  ASSERT_TRUE(newer.ok()) << newer.status();
  EXPECT_EQ(newer->model->weights.output.blocks[0].packed_bytes(),
            madlad->model->weights.output.blocks[0].packed_bytes());
  EXPECT_EQ(newer->model->weights.decoder_norm.gamma, madlad->model->weights.decoder_norm.gamma);
}

TEST(T5, VocabulariesHaveTheSentinelTokens) {
  const auto t5 = Load("t5", [](const TempFolder&) {});
  ASSERT_TRUE(t5.ok()) << t5.status();
  EXPECT_EQ(t5->format, "Hugging Face T5");
  const auto& tokens = t5->vocabulary.source_tokens;
  ASSERT_EQ(tokens.size(), 41u);
  EXPECT_EQ(tokens[0], "<pad>");
  EXPECT_EQ(tokens[36], "<extra_id_2>");
  EXPECT_EQ(tokens[38], "<extra_id_0>");
  EXPECT_EQ(tokens[39], "<unused 39>");
  EXPECT_THAT(t5->model->config.suppressed, ElementsAre(0, 36, 37, 38, 39, 40));
  EXPECT_THAT(t5->model->config.source_suffix, ElementsAre(1));
  EXPECT_EQ(t5->model->config.unk, 2);
  EXPECT_TRUE(t5->vocabulary.language_tokens.empty());
  const auto madlad = Load("madlad", [](const TempFolder&) {});
  ASSERT_TRUE(madlad.ok()) << madlad.status();
  EXPECT_FALSE(madlad->vocabulary.language_tokens.empty());
  EXPECT_THAT(madlad->model->config.suppressed, ElementsAre(1));
  EXPECT_EQ(madlad->model->config.decoder_start, 0);
  EXPECT_EQ(madlad->model->config.eos, 2);
}

// The tokenizer ends sources, whatever ends translations.
TEST(T5, SourcesEndInTheTokenizersEndToken) {
  for (const nlohmann::json& ends : {nlohmann::json{1, 26}, nlohmann::json{26, 1}}) {
    const auto t5 = Load("t5", Set({{"eos_token_id", ends}}));
    ASSERT_TRUE(t5.ok()) << t5.status();
    EXPECT_THAT(t5->model->config.source_suffix, ElementsAre(1)) << ends;
  }
}

TEST(T5, WhatIsWrongIsNamed) {
  EXPECT_THAT(T5Error("t5", RemoveField("spiece.model")),
              HasSubstr("spiece.model: no such file; a Hugging Face directory of T5"));
  EXPECT_THAT(T5Error("t5", RemoveField("model.safetensors")), HasSubstr("no weights in it"));
  for (const int size : {-1, 35, 1 << 30}) {
    EXPECT_THAT(T5Error("t5", Set({{"vocab_size", size}})),
                HasSubstr(absl::StrCat("spiece.model: 36 tokens, expected ", size)));
  }
  EXPECT_THAT(T5Error("t5", Set({{"vocab_size", 40}})), HasSubstr("\"shared.weight\""));
  EXPECT_THAT(T5Error("t5", Set({{"d_kv", 4}})), HasSubstr("SelfAttention.q.weight"));
  EXPECT_THAT(T5Error("t5", Set({{"feed_forward_proj", "gated-gelu"}})),
              HasSubstr("layer.1.DenseReluDense.wi_0.weight\" is missing"));
  EXPECT_THAT(T5Error("t5", Set({{"num_layers", 1}})), HasSubstr("block.1."));
  EXPECT_THAT(T5Error("t5", Set({{"relative_attention_num_buckets", 16}})),
              HasSubstr("relative_attention_bias.weight"));
  EXPECT_THAT(T5Error("t5", Set({{"relative_attention_num_buckets", 2}})),
              HasSubstr("position_buckets is 2"));
  EXPECT_THAT(T5Error("t5", Set({{"layer_norm_epsilon", "x"}})),
              HasSubstr("\"layer_norm_epsilon\" must be a number"));
  EXPECT_THAT(T5Error("madlad", Set({{"model_type", "umt5"}})), HasSubstr("\"t5\" or \"mt5\""));
}

}  // namespace
}  // namespace nibu::internal
