// Tests of what is read from the options and vocabularies of OpenNMT-py's checkpoints.
// reference_test.cc tests that the models translate correctly.
#include "models/formats/opennmt.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "tests/models/files.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ReadFile;
using testing::TempFolder;
using testing::WriteFile;

std::string OpenNmtData(const char* name) { return TestdataPath(name); }

TEST(OpenNmt, WhatTheCheckpointsSay) {
  const auto second = OpenModel(OpenNmtData("opennmt-2"));
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->format, "OpenNMT-py");
  EXPECT_EQ(second->config.position_kind, PositionKind::kSinusoidalInterleaved);
  EXPECT_EQ(second->config.norm_order, NormOrder::kPre);
  EXPECT_EQ(second->config.norm_kind, NormKind::kLayer);
  EXPECT_FLOAT_EQ(second->config.norm_epsilon, 1e-6f);
  EXPECT_FLOAT_EQ(second->config.embedding_scale, 4);
  EXPECT_FALSE(second->config.gated_ffn);
  EXPECT_EQ(second->config.vocab_source, 40);
  EXPECT_EQ(second->config.vocab_target, 30);
  EXPECT_EQ(second->config.decoder_start, 2);
  EXPECT_EQ(second->config.eos, 3);
  EXPECT_THAT(second->config.suppressed, ElementsAre(1));
  EXPECT_THAT(second->config.source_suffix, IsEmpty());
  EXPECT_EQ(second->vocabulary.source_tokens[1], "<blank>");
  EXPECT_EQ(second->names.Tensor("output"), "generator.0.weight");

  const auto third = OpenModel(OpenNmtData("opennmt-3/model_step_8.pt"));
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(third->config.position_kind, PositionKind::kSinusoidalHalfMinusOne);
  EXPECT_EQ(third->config.norm_kind, NormKind::kRms);
  EXPECT_FLOAT_EQ(third->config.norm_epsilon, 1e-5f);
  EXPECT_TRUE(third->config.gated_ffn);
  EXPECT_EQ(third->config.decoder_start, 3);
  EXPECT_THAT(third->names.tensors.at("encoder.0.self.q+k+v").biases, IsEmpty());
  EXPECT_THAT(third->names.tensors.at("output").biases, ElementsAre("generator.bias"));

  const auto relative = OpenModel(OpenNmtData("opennmt-relative"));
  ASSERT_TRUE(relative.ok()) << relative.status();
  EXPECT_EQ(relative->config.position_kind, PositionKind::kRelativeVectors);
  EXPECT_EQ(relative->config.position_max_distance, 3);
  EXPECT_EQ(relative->config.embedding_scale, 1);
}

TEST(OpenNmt, SizesOfAnyAge) {
  const auto read = [](const char* text) {
    return ReadOpenNmtConfig(*ConfigFile::Parse(text, "f"));
  };
  EXPECT_EQ(read(R"({"rnn_size": 64, "enc_rnn_size": 64, "layers": 3})")->layers_decoder, 3);
  EXPECT_EQ(read(R"({"rnn_size": -1, "enc_rnn_size": 64, "dec_rnn_size": 64})")->d_model, 64);
  EXPECT_EQ(read(R"({"hidden_size": 32, "enc_layers": 6})")->layers_encoder, 6);
  EXPECT_EQ(read(R"({"hidden_size": 32, "enc_layers": 6})")->ffn_encoder, 2048);
  EXPECT_EQ(read(R"({"enc_rnn_size": 64, "dec_rnn_size": 32})").status().message(),
            "f: \"dec_rnn_size\" must be 64, found 32");
  EXPECT_EQ(read("{}").status().message(), "f: \"hidden_size\" must be a size, found nothing");
}

TEST(OpenNmtDamage, OptionsThatAreNotSupported) {
  const auto error = [](const nlohmann::json& fields) {
    nlohmann::json json = {{"hidden_size", 8}};
    json.update(fields);
    return std::string(ReadOpenNmtConfig(*ConfigFile::From(json, "f")).status().message());
  };
  EXPECT_EQ(error({{"max_relative_positions", 0},
                   {"copy_attn", false},
                   {"lora_layers", nlohmann::json::array()},
                   {"quant_type", nullptr}}),
            "");
  EXPECT_EQ(error({{"max_relative_positions", 20}}), "");
  EXPECT_EQ(error({{"max_relative_positions", 20}, {"position_encoding", false}}), "");
  EXPECT_THAT(error({{"max_relative_positions", 20}, {"position_encoding", true}}),
              HasSubstr("f: trained with max_relative_positions = 20 and position_encoding = true; "
                        "nibu reads OpenNMT-py's Transformers with one of the two"));
  for (const int rotary_or_alibi : {-1, -2}) {
    EXPECT_THAT(error({{"max_relative_positions", rotary_or_alibi}, {"position_encoding", false}}),
                HasSubstr("neither rotary positions (-1) nor ALiBi (-2)"));
  }
  EXPECT_THAT(error({{"relative_positions_buckets", 32}}),
              HasSubstr("relative_positions_buckets = 32"));
  EXPECT_THAT(error({{"quant_type", "not UTF-8: \xff"}}), HasSubstr("\"not UTF-8: \\ufffd\""));
  EXPECT_THAT(error({{"copy_attn", true}}), HasSubstr("trained with copy_attn = true"));
  EXPECT_THAT(error({{"encoder_type", "brnn"}}), HasSubstr("encoder_type = \"brnn\""));
  EXPECT_THAT(error({{"model_task", "lm"}}), HasSubstr("with \"seq2seq\""));
  EXPECT_THAT(error({{"position_encoding", false}}), HasSubstr("position_encoding = false"));
  EXPECT_THAT(error({{"lora_layers", {"w_1"}}}), HasSubstr("lora_layers = [\"w_1\"]"));
  EXPECT_THAT(error({{"self_attn_type", "average"}}), HasSubstr("\"self_attn_type\" must be"));
  EXPECT_THAT(error({{"position_encoding_type", "Rotary"}}),
              HasSubstr("\"position_encoding_type\" must be SinusoidalInterleaved or"));
  EXPECT_THAT(error({{"pos_ffn_activation_fn", "tanh"}}), HasSubstr("must be relu, gelu, silu"));
  EXPECT_THAT(error({{"layer_norm", "batch"}}), HasSubstr("must be standard or rms"));
  EXPECT_THAT(error({{"norm_eps", "x"}}), HasSubstr("\"norm_eps\" must be a number"));
}

TEST(OpenNmtDamage, ChangedFilesAreRefused) {
  const TempFolder folder;
  const auto error = [&](const char* model, const char* from, const char* to) {
    const std::string bytes = ReadFile(OpenNmtData(model));
    const std::string changed = absl::StrReplaceAll(bytes, {{from, to}});
    EXPECT_NE(bytes, changed);
    WriteFile(folder / "m.pt", changed);
    const absl::StatusOr<OpenedModel> opened = OpenModel(folder / "m.pt");
    EXPECT_FALSE(opened.ok());
    return std::string(opened.status().message());
  };
  // Members of zip archives have checksums, but that of the pickle is not checked.
  EXPECT_THAT(
      error("opennmt-2/model_step_8.pt", "torchtext.vocab\nVocab", "torchtext.vocab\nOther"),
      HasSubstr("refers to \"torchtext.vocab Other\", which has no place in"));
  EXPECT_THAT(error("opennmt-2/model_step_8.pt", "itos", "iXos"),
              HasSubstr("its vocabulary of \"src\" is in an unknown form"));
  EXPECT_THAT(error("opennmt-3/model_step_8.pt", "generator", "gXnerator"),
              HasSubstr("its weights are not in it; save it with save_format=pytorch"));
  EXPECT_THAT(error("opennmt-3/model_step_8.pt", "<blank>", "<XXXXX>"),
              HasSubstr("the token \"<blank>\" is missing"));
}

}  // namespace
}  // namespace nibu::internal
