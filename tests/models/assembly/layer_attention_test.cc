// Tests of the mechanisms of a model's layers, and of their weights, in files. Each layer of
// testdata/mixers has another encoder_attention, and each of testdata/cross another
// cross_attention.
#include "models/assembly/layer_attention.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/assembly/mixer_text.h"
#include "models/load_model.h"
#include "models/random_model.h"
#include "models/writers/hugging_face_writer.h"
#include "models/writers/native_writer.h"
#include "nlohmann/json.hpp"
#include "tests/models/files.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;
using testing::TinyMarian;

const std::string& Mixers() {
  static const auto& path = *new std::string(TestdataPath("mixers"));
  return path;
}
const std::string& Cross() {
  static const auto& path = *new std::string(TestdataPath("cross"));
  return path;
}

std::vector<float> Scores(const std::shared_ptr<const Model>& model) {
  auto translator = Translator::Create(model, {});
  EXPECT_TRUE(translator.ok()) << translator.status();
  DecodingOptions options;
  options.beam_size = 1;
  options.max_decoding_length = 8;
  std::vector<float> scores;
  const std::vector<std::vector<int>> sources = {{5}, {2, 3, 4, 5, 2, 3, 4}};
  const auto results = (*translator)->Translate(sources, options);
  EXPECT_TRUE(results.ok()) << results.status();
  for (const auto& hypotheses : *results) {
    const std::vector<float>& own = hypotheses[0].token_scores;
    scores.insert(scores.end(), own.begin(), own.end());
  }
  return scores;
}

std::vector<float> Scores(const std::string& path, ComputeType type) {
  const absl::StatusOr<LoadedModel> loaded = LoadModel(path, type);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? Scores(loaded->model) : std::vector<float>();
}

// Replaces the mechanisms of a model and builds it.
absl::StatusOr<LoadedModel> Replaced(const std::string& path, const std::string& encoder,
                                     const std::string& cross = "") {
  absl::StatusOr<OpenedModel> opened = OpenModel(path);
  EXPECT_TRUE(opened.ok()) << opened.status();
  const absl::Status status = ReplaceLayerAttention(
      {*ParseMixers(encoder, "encoder_attention"), *ParseMixers(cross, "cross_attention")},
      &*opened);
  if (!status.ok()) return status;
  return LoadModel(*std::move(opened), ComputeType::kFloat32);
}

class LayerAttentionFiles : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, LayerAttentionFiles, ::testing::Values(Mixers(), Cross()),
                         [](const auto& test) {
                           return test.param == Cross() ? "cross" : "mixers";
                         });

TEST_P(LayerAttentionFiles, WeightsAreWrittenAndRead) {
  const std::vector<float> expected = Scores(GetParam(), ComputeType::kFloat32);
  const TempFolder folder;
  const absl::Status written = WriteHuggingFace(*OpenModel(GetParam()), {}, folder / "hf");
  ASSERT_TRUE(written.ok()) << written;
  EXPECT_EQ(Scores(folder / "hf", ComputeType::kFloat32), expected);
  int number = 0;
  for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kInt8}) {
    for (const bool packed : {false, true}) {
      const Quantization options = packed ? Quantization(type) : std::nullopt;
      const std::string path = folder / absl::StrCat(++number, ".nibu");
      const absl::Status status = WriteNative(*OpenModel(GetParam()), options, path);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(Scores(path, type), Scores(GetParam(), type));
    }
  }
}

TEST_P(LayerAttentionFiles, RandomModelsHaveThem) {
  const absl::StatusOr<OpenedModel> mixers = OpenModel(GetParam());
  ASSERT_TRUE(mixers.ok()) << mixers.status();
  absl::StatusOr<OpenedModel> random = OpenRandom(mixers->config, 1);
  ASSERT_TRUE(random.ok()) << random.status();
  const auto loaded = LoadModel(*std::move(random), ComputeType::kFloat32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_FALSE(Scores(loaded->model).empty());
}

TEST(LayerAttentionTest, OtherMixersLeaveWeightsUnused) {
  const auto replaced =
      Replaced(Mixers(),
               "window:3;full;lsh;local_p:3;mean:2;factorized;mlp:positions=20,hidden=11;pool:5;"
               "full;window:2;shifted:3;causal");
  ASSERT_TRUE(replaced.ok()) << replaced.status();
  EXPECT_NE(Scores(replaced->model), Scores(Mixers(), ComputeType::kFloat32));
  const auto crossed =
      Replaced(Cross(), "", "full;full;local_m:2;mean:3;local_p:9;full;full;local_m:5,score=dot");
  ASSERT_TRUE(crossed.ok()) << crossed.status();
  EXPECT_NE(Scores(crossed->model), Scores(Cross(), ComputeType::kFloat32));
  const TempFolder folder;
  TinyMarian().Write(folder);
  // Pooling leaves the weights of attention where they are.
  const auto pooled = Replaced(folder.path(), "pool:3");
  ASSERT_TRUE(pooled.ok()) << pooled.status();
  const auto full = Replaced(folder.path(), "full");
  ASSERT_TRUE(full.ok()) << full.status();
  EXPECT_EQ(Scores(full->model), Scores(folder.path(), ComputeType::kFloat32));
}

TEST(LayerAttentionTest, RefusesWhatTheModelHasNoWeightsFor) {
  const TempFolder folder;
  TinyMarian().Write(folder);
  ASSERT_TRUE(WriteNative(*OpenModel(folder.path()), {}, folder / "tiny.nibu").ok());
  for (const std::string& path : {folder.path(), folder / "tiny.nibu"}) {
    for (const char* mixer :
         {"full:score=general", "full:score=concat", "local_p:width=3", "reduction:reduction=2",
          "deformable:reduction=2", "mlp:positions=64"}) {
      const std::string error(Replaced(path, absl::StrCat("full;", mixer)).status().message());
      EXPECT_THAT(error, HasSubstr(path));
      EXPECT_THAT(error, HasSubstr(absl::StrCat("layer 1 has no weights for encoder_attention \"",
                                                mixer, "\"")));
    }
  }
  for (const char* mixer : {"full:score=general", "full:score=concat", "local_p:width=3",
                            "reduction:reduction=2", "local_m:width=2,score=general"}) {
    const std::string error(Replaced(folder.path(), "", mixer).status().message());
    EXPECT_THAT(error, HasSubstr(absl::StrCat("its decoder layer 0 has no weights for "
                                              "cross_attention \"",
                                              mixer, "\"")));
  }
  for (const char* mixer : {"window:3", "lsh", "causal", "pool", "factorized", "deformable:2"}) {
    const std::string error(Replaced(folder.path(), "", mixer).status().message());
    EXPECT_THAT(error, HasSubstr("cross-attention has full, local_m, local_p, mean and reduction"));
  }
  EXPECT_THAT(
      std::string(Replaced(Mixers(), "full").status().message()),
      HasSubstr("layer 6 has no weights for encoder_attention \"full\" (no \"self.q+k+v\")"));
  EXPECT_THAT(std::string(Replaced(folder.path(), "block_grid:4,both=1").status().message()),
              HasSubstr("(no \"grid.self.q+k+v\")"));
  // These weights have the right names, but are for another reduction.
  EXPECT_THAT(std::string(Replaced(Cross(), "", "full;full;full;full;full;full;reduction:4;full")
                              .status()
                              .message()),
              HasSubstr("its decoder layer 6 has weights of another size than are needed for "
                        "cross_attention \"reduction:reduction=4\" (\"reduce\")"));
  EXPECT_THAT(std::string(Replaced(Mixers(), "full;full").status().message()),
              HasSubstr("config.json: model configuration: the length of encoder_attention is 2"));
}

TEST(LayerAttentionTest, ConfigurationAndTensorsMustAgree) {
  const auto error = [](const std::function<void(TinyMarian*)>& change) {
    TinyMarian model;
    change(&model);
    const TempFolder folder;
    model.Write(folder);
    return std::string(LoadModel(folder.path(), ComputeType::kFloat32).status().message());
  };
  const std::string score = "model.encoder.layers.0.self_attn.score";
  EXPECT_THAT(error([](TinyMarian* m) { m->config["encoder_attention"] = "windw:3"; }),
              HasSubstr("config.json: encoder_attention \"windw:3\": no such mechanism"));
  EXPECT_THAT(error([](TinyMarian* m) { m->config["encoder_attention"] = "full:score=general"; }),
              HasSubstr(score));  // It is missing.
  // It has no use.
  EXPECT_THAT(error([&](TinyMarian* m) { m->Add(score, {8, 4}); }), HasSubstr(score));
  const auto general = [&](std::vector<int64_t> shape) {
    return error([&](TinyMarian* m) {
      m->config["encoder_attention"] = "full:score=general;full";
      m->Add(score, shape);
    });
  };
  EXPECT_EQ(general({8, 4}), "");
  EXPECT_THAT(general({4, 8}), HasSubstr(score));  // It has another shape.
}

}  // namespace
}  // namespace nibu::internal
