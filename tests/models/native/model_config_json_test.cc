// Tests that every field of a model's configuration is the same after it was written as JSON.
#include "models/native/model_config_json.h"

#include "gtest/gtest.h"
#include "models/files/json.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {
namespace {

TEST(ModelConfigJson, EveryFieldComesBack) {
  ModelConfig config;
  config.d_model = 8;
  config.activation = Activation::kGeluSigmoid;
  config.norm_order = NormOrder::kPre;
  config.norm_epsilon = 1e-6f;
  config.embedding_scale = 2.8284271f;
  config.position_kind = PositionKind::kLearned;
  config.decoder_memory = DecoderMemory::kSsru;
  config.alignment_layer = -2;
  config.alignment_heads = 0;
  config.decoder_start = -1;
  config.suppressed = {3, 5};
  config.final_norm = true;
  const nlohmann::json json = ConfigToJson(config);
  ModelConfig read;
  const auto parsed = ConfigFile::Parse(json.dump(), "c.json");
  ASSERT_TRUE(ConfigFromJson(*parsed, &read).ok());
  EXPECT_EQ(ConfigToJson(read), json);
  EXPECT_EQ(read.norm_epsilon, config.norm_epsilon);
  EXPECT_EQ(read.decoder_memory, DecoderMemory::kSsru);
  EXPECT_EQ(read.alignment_layer, -2);
  EXPECT_EQ(read.alignment_heads, 0);
}

}  // namespace
}  // namespace nibu::internal
