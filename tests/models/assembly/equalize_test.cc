// Tests that channels of very different sizes are equalized before weights become int8, wherever
// that leaves the model's function as it is.
#include "models/assembly/equalize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/ops/convert.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "models/native/unpack.h"
#include "models/random_model.h"
#include "models/writers/native_writer.h"
#include "tests/models/files.h"
#include "tests/models/greedy.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;

std::vector<float> ValuesOf(const OpenedModel& model, const std::string& name) {
  const TensorView& view = model.source->Find(name)->view;
  std::vector<float> values(static_cast<size_t>(view.elements()));
  ConvertToFloat(view.dtype, view.data, values.size(), values.data());
  return values;
}

void Replace(OpenedModel* model, const std::string& name, const std::vector<float>& values) {
  StoredTensor& tensor = *model->source->Mutable(name);
  tensor.file = FileBytes::InMemory(
      name, std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4));
  tensor.view.dtype = DType::kFloat32;
  tensor.view.data = tensor.file->bytes().data();
}

// Multiplies every third row or column of a matrix [out, in], or of a vector, by `factor`.
void Scale(OpenedModel* model, const std::string& name, float factor, bool columns = false) {
  const Shape shape = model->source->Find(name)->view.shape;
  const size_t width = shape.size() == 2 ? static_cast<size_t>(shape[1]) : 1;
  std::vector<float> values = ValuesOf(*model, name);
  for (size_t i = 0; i < values.size(); ++i) {
    if ((columns ? i % width : i / width) % 3 == 1) values[i] *= factor;
  }
  Replace(model, name, values);
}

ModelConfig SmallConfig() {
  ModelConfig config;
  config.d_model = 48;
  config.heads_encoder = config.heads_decoder = 4;
  config.ffn_encoder = config.ffn_decoder = 120;
  config.layers_encoder = config.layers_decoder = 2;
  config.vocab_source = config.vocab_target = 30;
  config.max_positions = 40;
  config.source_suffix = {0};
  return config;
}

// The tensors on both sides of channels: rows and biases of the first ones, and columns (or rows)
// of the second ones.
struct Case {
  std::string name;
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<std::string> inverse_rows;
  void (*configure)(ModelConfig* config);
};

std::vector<std::string> WithBias(const std::string& linear) {
  return {linear + ".weight", linear + ".bias"};
}

std::vector<Case> ExactCases() {
  const auto pre_norm = [](ModelConfig* config) { config->norm_order = NormOrder::kPre; };
  return {
      {"relu", WithBias("encoder.1.ffn.up"), {"encoder.1.ffn.down.weight"}, {}, nullptr},
      {"gate",
       WithBias("decoder.0.ffn.gate"),
       {"decoder.0.ffn.down.weight"},
       {},
       [](ModelConfig* config) {
         config->gated_ffn = true;
         config->activation = Activation::kGelu;
       }},
      {"values", WithBias("encoder.0.self.v"), {"encoder.0.self.out.weight"}, {}, nullptr},
      {"source", WithBias("decoder.1.cross.v"), {"decoder.1.cross.out.weight"}, {}, nullptr},
      {"keys", WithBias("decoder.1.self.k"), {}, WithBias("decoder.1.self.q"), nullptr},
      {"cross keys", WithBias("decoder.0.cross.k"), {}, WithBias("decoder.0.cross.q"), nullptr},
      {"attention norm",
       {"encoder.1.self.norm.gamma", "encoder.1.self.norm.beta"},
       {"encoder.1.self.q.weight", "encoder.1.self.k.weight", "encoder.1.self.v.weight"},
       {},
       pre_norm},
      {"ffn norm",
       {"decoder.1.ffn.norm.gamma", "decoder.1.ffn.norm.beta"},
       {"decoder.1.ffn.up.weight"},
       {},
       pre_norm},
      {"encoder norm",
       {"encoder.final_norm.gamma", "encoder.final_norm.beta"},
       {"decoder.0.cross.k.weight", "decoder.0.cross.v.weight", "decoder.1.cross.k.weight",
        "decoder.1.cross.v.weight"},
       {},
       [](ModelConfig* config) { config->final_norm = true; }},
      {"ssru norm",
       {"decoder.1.ssru.norm.gamma", "decoder.1.ssru.norm.beta"},
       {"decoder.1.ssru.gate.weight", "decoder.1.ssru.value.weight"},
       {},
       [](ModelConfig* config) {
         config->norm_order = NormOrder::kPre;
         config->decoder_memory = DecoderMemory::kSsru;
       }},
  };
}

// Returns the model of a case, whose channels are scaled by `factor` and its inverse.
OpenedModel Scaled(const Case& the_case, float factor) {
  ModelConfig config = SmallConfig();
  if (the_case.configure != nullptr) the_case.configure(&config);
  OpenedModel model = OpenRandom(config, 7).value();
  for (const std::string& name : the_case.rows) Scale(&model, name, factor);
  for (const std::string& name : the_case.columns) Scale(&model, name, 1 / factor, true);
  for (const std::string& name : the_case.inverse_rows) Scale(&model, name, 1 / factor);
  return model;
}

std::string Equalize(OpenedModel* model) {
  return EqualizeForInt8(model->config, model->names, model->source.get());
}

std::map<std::string, const void*> Places(const OpenedModel& model) {
  std::map<std::string, const void*> places;
  for (const std::string& name : model.source->Names()) {
    places[name] = model.source->Find(name)->view.data;
  }
  return places;
}

// Returns the score of a translation in float32.
float Score(OpenedModel model) {
  return Greedy(LoadModel(std::move(model), ComputeType::kFloat32).value()).score;
}

// The factors are powers of two, so that the scaled model, and the equalized one, must give the
// bits of the model before it was scaled.
TEST(Equalize, RestoresChannelsWithoutChangingABit) {
  for (const Case& each : ExactCases()) {
    SCOPED_TRACE(each.name);
    const float score = Score(Scaled(each, 1.0f));
    EXPECT_EQ(Score(Scaled(each, 1.0f / 512)), score);
    for (const float factor : {1.0f / 512, 512.0f}) {
      OpenedModel before = Scaled(each, 1.0f);
      OpenedModel model = Scaled(each, factor);
      EXPECT_EQ(Equalize(&model), "");
      // The scaled channels are back, up to factors below 4.
      for (const auto* names : {&each.rows, &each.columns, &each.inverse_rows}) {
        for (const std::string& name : *names) {
          const std::vector<float> original = ValuesOf(before, name);
          const std::vector<float> equalized = ValuesOf(model, name);
          float least = INFINITY;
          float most = 0;
          for (size_t i = 0; i < original.size(); ++i) {
            if (original[i] == 0) continue;
            least = std::min(least, equalized[i] / original[i]);
            most = std::max(most, equalized[i] / original[i]);
          }
          EXPECT_LE(most, 4 * least) << name;
        }
      }
      EXPECT_EQ(Score(std::move(model)), score);
    }
  }
}

TEST(Equalize, OneChannelIsEnough) {
  for (const float factor : {1e-3f, 1e3f}) {
    OpenedModel model = OpenRandom(SmallConfig(), 7).value();
    const std::vector<float> original = ValuesOf(model, "encoder.0.self.v.weight");
    std::vector<float> rows = original;
    std::vector<float> columns = ValuesOf(model, "encoder.0.self.out.weight");
    std::vector<float> bias = ValuesOf(model, "encoder.0.self.v.bias");
    bias[5] *= factor;
    Replace(&model, "encoder.0.self.v.bias", bias);
    for (size_t i = 0; i < 48; ++i) {
      rows[5 * 48 + i] *= factor;
      columns[i * 48 + 5] /= factor;
    }
    Replace(&model, "encoder.0.self.v.weight", rows);
    Replace(&model, "encoder.0.self.out.weight", columns);
    EXPECT_EQ(Equalize(&model), "");
    const float ratio = ValuesOf(model, "encoder.0.self.v.weight")[5 * 48] / original[5 * 48];
    const float other = ValuesOf(model, "encoder.0.self.v.weight")[0] / original[0];
    EXPECT_LT(std::abs(std::log2(ratio / other)), 2.0f) << factor;
  }
}

TEST(Equalize, WarnsWhereItWouldNotBeExact) {
  ModelConfig config = SmallConfig();
  config.activation = Activation::kSwish;
  OpenedModel model = OpenRandom(config, 7).value();
  for (const std::string& name : WithBias("decoder.1.ffn.up")) Scale(&model, name, 0.01f);
  Scale(&model, "decoder.1.ffn.down.weight", 100, true);
  const auto places = Places(model);
  const std::string note = Equalize(&model);
  EXPECT_EQ(note,
            "random weights: int8 loses small values in decoder.1.ffn, whose channels differ too "
            "much in size; --compute_type=float32 or bfloat16 keeps them");
  EXPECT_EQ(Places(model), places);
  // Loading passes the line on, and so does writing int8.
  const TempFolder folder;
  std::string written;
  ASSERT_TRUE(WriteNative(model, ComputeType::kInt8, folder / "m.nibu", &written).ok());
  EXPECT_EQ(written, note);
  // The file has the line, since its int8 weights do not tell what they were.
  EXPECT_EQ(LoadModel(folder / "m.nibu", ComputeType::kInt8)->notes,
            std::vector<std::string>{note});
  EXPECT_TRUE(LoadModel(folder / "m.nibu", ComputeType::kFloat32)->notes.empty());
  EXPECT_EQ(LoadModel(std::move(model), ComputeType::kInt8)->notes, std::vector<std::string>{note});
}

// A post-norm's channels are those of the residual sum, too.
TEST(Equalize, LeavesPostNormsAlone) {
  OpenedModel model = OpenRandom(SmallConfig(), 7).value();
  Scale(&model, "encoder.0.self.norm.gamma", 0.001f);
  Scale(&model, "encoder.0.ffn.up.weight", 1000, true);
  const auto places = Places(model);
  EXPECT_THAT(Equalize(&model), HasSubstr(" in encoder.0.ffn, "));
  EXPECT_EQ(Places(model), places);
}

// Relative position vectors are added to keys and values: to scale these alone would not be exact.
TEST(Equalize, LeavesKeysAndValuesBesideRelativeVectorsAlone) {
  for (const Case& each : ExactCases()) {
    if (each.name != "values" && each.name != "keys") continue;
    Case relative = each;
    relative.configure = [](ModelConfig* config) {
      config->position_kind = PositionKind::kRelativeVectors;
      config->position_max_distance = 3;
    };
    OpenedModel model = Scaled(relative, 1.0f / 512);
    const auto places = Places(model);
    (void)Equalize(&model);
    EXPECT_EQ(Places(model), places) << each.name;
  }
}

TEST(Equalize, ScalesTiedLayersOnceAndHalfTiedOnesNever) {
  for (const bool all : {true, false}) {
    OpenedModel model = Scaled(ExactCases()[0], 1.0f / 512);
    for (const char* part : {"up", "down"}) {
      if (!all && part == std::string("down")) continue;
      model.names.tensors[absl::StrCat("encoder.0.ffn.", part)] =
          model.names.tensors[absl::StrCat("encoder.1.ffn.", part)];
    }
    const auto places = Places(model);
    const std::string note = Equalize(&model);
    EXPECT_EQ(note.empty(), all) << note;
    EXPECT_EQ(Places(model) == places, !all);
  }
}

TEST(Equalize, ConvertedModelsTranslateAsLoadedOnes) {
  const TempFolder folder;
  for (const Case& each : ExactCases()) {
    const Hypothesis expected =
        Greedy(LoadModel(Scaled(each, 1.0f / 512), ComputeType::kInt8).value());
    ASSERT_TRUE(WriteNative(Scaled(each, 1.0f / 512), ComputeType::kInt8, folder / "m.nibu").ok());
    const Hypothesis found = Greedy(LoadModel(folder / "m.nibu", ComputeType::kInt8).value());
    EXPECT_EQ(found.tokens, expected.tokens) << each.name;
    EXPECT_EQ(found.score, expected.score) << each.name;
  }
}

TEST(Equalize, LeavesInt8AndDamagedTensorsAlone) {
  const TempFolder folder;
  {
    OpenedModel model = Scaled(ExactCases()[0], 1.0f / 512);
    std::string note;
    ASSERT_TRUE(WriteNative(model, ComputeType::kInt8, folder / "int8.nibu", &note).ok());
    EXPECT_EQ(note, "");
  }
  OpenedModel int8 = OpenModel(folder / "int8.nibu").value();
  ASSERT_TRUE(UnpackLinears(&int8).ok());
  const auto places = Places(int8);
  EXPECT_EQ(Equalize(&int8), "");
  EXPECT_EQ(Places(int8), places);
  for (const float value : {NAN, INFINITY, 1e30f}) {
    OpenedModel model = OpenRandom(SmallConfig(), 7).value();
    std::vector<float> values = ValuesOf(model, "encoder.0.ffn.up.weight");
    values[7] = value;
    Replace(&model, "encoder.0.ffn.up.weight", values);
    Equalize(&model);
    EXPECT_EQ(LoadModel(std::move(model), ComputeType::kInt8).ok(), std::isfinite(value));
  }
}

TEST(Equalize, LeavesTrainedModelsAlone) {
  for (const std::string& path :
       {CaptionsModelPath(), TestdataPath("de-en"), SourcePath("models/pretrained/en-de")}) {
    OpenedModel model = OpenModel(path).value();
    const auto places = Places(model);
    EXPECT_EQ(Equalize(&model), "") << path;
    EXPECT_EQ(Places(model), places) << path;
  }
}

}  // namespace
}  // namespace nibu::internal
