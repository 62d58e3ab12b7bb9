// Tests of ModelConfig::Validate: a sound configuration passes, and an error names the field that
// is wrong.
#include "engine/model/config.h"

#include <functional>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/attention/spec.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;

ModelConfig Base() {
  ModelConfig config;
  config.d_model = 8;
  config.heads_encoder = config.heads_decoder = 2;
  config.ffn_encoder = config.ffn_decoder = 16;
  config.layers_encoder = config.layers_decoder = 1;
  config.vocab_source = 10;
  config.vocab_target = 9;
  config.max_positions = 16;
  config.source_suffix = {0};
  config.suppressed = {8};
  return config;
}

TEST(ModelConfig, ValidatesWhatMakesSense) {
  EXPECT_TRUE(Base().Validate().ok()) << Base().Validate();
  ModelConfig config = Base();
  config.decoder_start = -1;
  EXPECT_TRUE(config.Validate().ok());
  config.d_head = 3;
  config.heads_encoder = config.heads_decoder = 5;
  config.final_norm = true;
  config.output_scale = 0.5f;
  config.position_kind = PositionKind::kRelative;
  EXPECT_TRUE(config.Validate().ok()) << config.Validate();
  EXPECT_EQ(config.inner_decoder(), 15);
}

TEST(ModelConfig, NamesTheFieldThatDoesNot) {
  const struct {
    const char* field;
    std::function<void(ModelConfig*)> damage;
  } cases[] = {
      {"d_model", [](ModelConfig* c) { c->d_model = 0; }},
      {"d_model", [](ModelConfig* c) { c->d_model = 1 << 20; }},
      {"heads_encoder", [](ModelConfig* c) { c->heads_encoder = 3; }},
      {"heads_decoder", [](ModelConfig* c) { c->heads_decoder = 0; }},
      {"ffn_encoder", [](ModelConfig* c) { c->ffn_encoder = -1; }},
      {"ffn_decoder", [](ModelConfig* c) { c->ffn_decoder = 0; }},
      {"layers_encoder", [](ModelConfig* c) { c->layers_encoder = 0; }},
      {"layers_decoder", [](ModelConfig* c) { c->layers_decoder = 1001; }},
      {"vocab_source", [](ModelConfig* c) { c->vocab_source = 0; }},
      {"vocab_target", [](ModelConfig* c) { c->vocab_target = 1 << 25; }},
      {"position_offset", [](ModelConfig* c) { c->position_offset = -1; }},
      {"max_positions", [](ModelConfig* c) { c->max_positions = 0; }},
      {"max_positions", [](ModelConfig* c) { c->encoder_attention = {Spec("mlp:15")}; }},
      {"sinusoidal", [](ModelConfig* c) { c->d_model = c->heads_encoder = c->heads_decoder = 7; }},
      {"norm_epsilon", [](ModelConfig* c) { c->norm_epsilon = 0; }},
      {"norm_epsilon",
       [](ModelConfig* c) { c->norm_epsilon = std::numeric_limits<float>::quiet_NaN(); }},
      {"embedding_scale", [](ModelConfig* c) { c->embedding_scale = 0; }},
      {"d_head", [](ModelConfig* c) { c->d_head = -1; }},
      {"d_head", [](ModelConfig* c) { c->d_head = 1 << 16; }},
      {"attention_scale", [](ModelConfig* c) { c->attention_scale = -1; }},
      {"output_scale", [](ModelConfig* c) { c->output_scale = 0.5f; }},
      {"position_buckets",
       [](ModelConfig* c) {
         c->position_kind = PositionKind::kRelative;
         c->position_buckets = 3;
       }},
      {"position_max_distance",
       [](ModelConfig* c) {
         c->position_kind = PositionKind::kRelative;
         c->position_max_distance = 16;
       }},
      {"position_max_distance",
       [](ModelConfig* c) {
         c->position_kind = PositionKind::kRelativeVectors;
         c->position_max_distance = 0;
       }},
      {"encoder_attention",
       [](ModelConfig* c) {
         c->position_kind = PositionKind::kRelativeVectors;
         c->encoder_attention = {Spec("window:2")};
       }},
      {"eos", [](ModelConfig* c) { c->eos = 9; }},
      {"unk", [](ModelConfig* c) { c->unk = 10; }},
      {"unk_target", [](ModelConfig* c) { c->unk_target = 9; }},
      {"decoder_start", [](ModelConfig* c) { c->decoder_start = -2; }},
      {"source_suffix", [](ModelConfig* c) { c->source_suffix = {10}; }},
      {"source_suffix", [](ModelConfig* c) { c->source_suffix.assign(16, 0); }},
      {"suppressed", [](ModelConfig* c) { c->suppressed = {-1}; }},
      {"suppressed", [](ModelConfig* c) { c->suppressed = {c->eos}; }},
      {"output_tokens",
       [](ModelConfig* c) {
         c->output_tokens = {c->eos, c->vocab_target};
       }},
      {"output_tokens",
       [](ModelConfig* c) {
         c->output_tokens = {c->eos, c->eos};
       }},
      {"output_tokens", [](ModelConfig* c) { c->output_tokens = {c->eos + 1}; }},
  };
  for (const auto& test : cases) {
    ModelConfig config = Base();
    test.damage(&config);
    const absl::Status status = config.Validate();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << test.field;
    EXPECT_THAT(std::string(status.message()), HasSubstr(test.field));
  }
}

}  // namespace
}  // namespace nibu::internal
