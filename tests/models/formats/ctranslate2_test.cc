// Tests of the reader of CTranslate2's directories: every binary version and type of weights, the
// configuration, vocabularies, and errors.
#include "models/formats/ctranslate2.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/containers/ctranslate2_bin.h"
#include "models/load_model.h"
#include "tests/models/greedy.h"
#include "tests/models/tiny_ctranslate2.h"

namespace nibu::internal {
namespace {

using testing::Bytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TempFolder;
using testing::TinyCTranslate2;
using testing::WriteFile;

absl::StatusOr<LoadedModel> Load(const TinyCTranslate2& tiny, const std::string& config = "") {
  const TempFolder folder;
  tiny.Write(folder);
  if (!config.empty()) WriteFile(folder / "config.json", config);
  return LoadModel(folder.path(), ComputeType::kFloat32);
}

std::string Error(const std::function<void(TinyCTranslate2*)>& damage) {
  TinyCTranslate2 tiny;
  damage(&tiny);
  const absl::StatusOr<LoadedModel> loaded = Load(tiny);
  EXPECT_FALSE(loaded.ok());
  return std::string(loaded.status().message());
}

TEST(CTranslate2, LoadsEveryVersion) {
  for (uint32_t version = 2; version <= 6; ++version) {
    const absl::StatusOr<LoadedModel> loaded = Load(TinyCTranslate2(version));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->format, "CTranslate2");
    const ModelConfig& config = loaded->model->config;
    EXPECT_EQ(config.d_model, 8);
    EXPECT_EQ(config.ffn_decoder, 16);
    EXPECT_EQ(config.layers_encoder, 1);
    EXPECT_EQ(config.heads_decoder, 2);
    EXPECT_EQ(config.norm_order, NormOrder::kPre);
    EXPECT_TRUE(config.final_norm);
    EXPECT_EQ(config.activation, Activation::kRelu);
    EXPECT_EQ(config.position_kind, PositionKind::kSinusoidalHalfMinusOne);
    EXPECT_EQ(config.position_offset, 1);
    EXPECT_EQ(config.decoder_start, 1);
    EXPECT_EQ(config.eos, 2);
    EXPECT_EQ(config.unk, 4);
    EXPECT_EQ(config.unk_target, 0);
    EXPECT_TRUE(config.source_suffix.empty());
    EXPECT_TRUE(config.suppressed.empty());
    EXPECT_THAT(loaded->vocabulary.source_tokens, ElementsAre("</s>", "<s>", "a", "b", "<unk>"));
    EXPECT_EQ(loaded->vocabulary.target_tokens[3], "x");
    EXPECT_TRUE(std::isfinite(Greedy(*loaded).score));
  }
}

TEST(CTranslate2, EveryTypeOfWeights) {
  const float expected = Greedy(*Load(TinyCTranslate2())).token_scores[0];
  for (const uint8_t type : {1, 2}) {
    const absl::StatusOr<LoadedModel> loaded = Load(TinyCTranslate2(6, type));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_NEAR(Greedy(*loaded).token_scores[0], expected, type == 1 ? 0.05 : 0.005);
  }
}

TEST(CTranslate2, ConfigurationOfVersion6) {
  const absl::StatusOr<LoadedModel> loaded =
      Load(TinyCTranslate2(),
           R"({"add_source_bos":false,"add_source_eos":true,"bos_token":"<s>","eos_token":"</s>",
          "decoder_start_token":"</s>","layer_norm_epsilon":1e-6,"unk_token":"<unk>"})");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(loaded->model->config.source_suffix, ElementsAre(0));
  EXPECT_EQ(loaded->model->config.decoder_start, 2);
  EXPECT_FLOAT_EQ(loaded->model->config.norm_epsilon, 1e-6f);
  const auto error = [](const std::string& config) {
    return std::string(Load(TinyCTranslate2(), config).status().message());
  };
  EXPECT_THAT(error(R"({"add_source_bos":true})"), HasSubstr("add_source_bos"));
  EXPECT_THAT(error(R"({"eos_token":"</e>"})"), HasSubstr("the token \"</e>\" is missing"));
  EXPECT_THAT(error(R"({"layer_norm_epsilon":"x"})"), HasSubstr("\"layer_norm_epsilon\" must be"));
  EXPECT_THAT(error("[1]"), HasSubstr("config.json: not an object"));
}

TEST(CTranslate2, ScalarsAndOptionalParts) {
  TinyCTranslate2 tiny;
  for (const std::string stack : {"encoder", "decoder"}) {
    tiny.AddScalar(stack + "/activation", 2);
    tiny.AddScalar(stack + "/scale_embeddings", 0);
    tiny.AddNorm(stack + "/layernorm_embedding");
    tiny.AddMatrix(stack + "/position_encodings/encodings", 12, 8);
  }
  tiny.AddScalar("decoder/start_from_zero_embedding", 1);
  tiny.AddScalar("with_source_eos", 1);
  const absl::StatusOr<LoadedModel> loaded = Load(tiny);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const ModelConfig& config = loaded->model->config;
  EXPECT_EQ(config.activation, Activation::kSwish);
  EXPECT_EQ(config.embedding_scale, 1.0f);
  EXPECT_TRUE(config.embedding_norm);
  EXPECT_EQ(config.position_kind, PositionKind::kLearned);
  EXPECT_EQ(config.max_positions, 12);
  EXPECT_EQ(config.decoder_start, -1);
  EXPECT_THAT(config.source_suffix, ElementsAre(0));
  EXPECT_TRUE(std::isfinite(Greedy(*loaded).score));
}

// Returns the floats of a variable.
std::vector<float> FloatsOf(const TinyCTranslate2& tiny, const std::string& name) {
  for (const TinyCTranslate2::Variable& variable : tiny.variables) {
    if (variable.name != name) continue;
    std::vector<float> values(variable.data.size() / sizeof(float));
    std::memcpy(values.data(), variable.data.data(), variable.data.size());
    return values;
  }
  return {};
}

// OpenNMT-tf has a table for keys and one for values, OpenNMT-py has one for both, and older files
// have a flag as well.
TEST(CTranslate2, RelativePositionVectors) {
  for (const std::string stack : {"encoder", "decoder"}) {
    TinyCTranslate2 partial;
    partial.AddMatrix(stack + "/layer_0/self_attention/relative_position_keys", 7, 4);
    EXPECT_FALSE(Load(partial).ok());
  }
  for (const bool shared : {false, true}) {
    TinyCTranslate2 tiny;
    for (const std::string stack : {"encoder", "decoder"}) {
      const std::string name = stack + "/layer_0/self_attention/relative_position_";
      tiny.AddMatrix(name + "keys", 7, 4);
      if (shared) {
        tiny.aliases.emplace_back(name + "values", name + "keys");
      } else {
        tiny.AddMatrix(name + "values", 7, 4);
      }
    }
    tiny.AddScalar("with_relative_position", 1);
    tiny.AddScalar("encoder/scale_embeddings", 0);
    tiny.AddScalar("decoder/scale_embeddings", 0);
    const absl::StatusOr<LoadedModel> loaded = Load(tiny);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    const Model& model = *loaded->model;
    EXPECT_EQ(model.config.position_kind, PositionKind::kRelativeVectors);
    EXPECT_EQ(model.config.position_max_distance, 3);
    EXPECT_EQ(model.config.embedding_scale, 1);
    const auto expect = [&](const SelfAttentionWeights& self, const std::string& layer) {
      const std::string name = layer + "/self_attention/relative_position_";
      EXPECT_EQ(self.relative_keys, FloatsOf(tiny, name + "keys"));
      EXPECT_EQ(self.relative_values, FloatsOf(tiny, name + (shared ? "keys" : "values")));
    };
    expect(model.weights.encoder[0].self, "encoder/layer_0");
    expect(model.weights.decoder[0].self, "decoder/layer_0");
    EXPECT_TRUE(std::isfinite(Greedy(*loaded).score));
  }
}

// With a gate that is 1 everywhere, the feed-forward sublayer is what it was without one.
TEST(CTranslate2, GatedFeedForward) {
  const auto gated = [](float bias) {
    TinyCTranslate2 tiny;
    for (const std::string stack : {"encoder", "decoder"}) {
      const std::string gate = stack + "/layer_0/ffn/linear_0_noact/";
      tiny.variables.push_back({gate + "weight", {16, 8}, 0, std::string(16 * 8 * 4, '\0')});
      std::string biases;
      for (int i = 0; i < 16; ++i) biases += Bytes(bias);
      tiny.variables.push_back({gate + "bias", {16}, 0, biases});
    }
    const absl::StatusOr<LoadedModel> loaded = Load(tiny);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_TRUE(loaded->model->config.gated_ffn);
    return Greedy(*loaded).score;
  };
  EXPECT_FLOAT_EQ(gated(1), Greedy(*Load(TinyCTranslate2())).score);
  EXPECT_NE(gated(0.5), gated(1));
}

// CTranslate2 computes a norm without a beta as an RMS norm.
TEST(CTranslate2, RmsNorms) {
  TinyCTranslate2 tiny;
  auto& all = tiny.variables;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const auto& v) { return absl::EndsWith(v.name, "/beta"); }),
            all.end());
  const absl::StatusOr<LoadedModel> loaded = Load(tiny);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->model->config.norm_kind, NormKind::kRms);
  EXPECT_FLOAT_EQ(loaded->model->config.norm_epsilon, 1e-6f);
  EXPECT_TRUE(loaded->model->weights.encoder_norm.beta.empty());
  tiny.AddVector("decoder/layer_norm/beta", 8);
  EXPECT_THAT(std::string(Load(tiny).status().message()),
              HasSubstr("of no known use: decoder/layer_norm/beta"));
}

TEST(CTranslate2, NamesThePartsThatNibuLacks) {
  const struct {
    const char* variable;
    const char* what;
  } cases[] = {
      {"decoder/layer_0/self_attention/rotary_dim", "rotary positions"},
      {"encoder/layer_0/self_attention/relative_attention_bias", "load the Hugging Face directory"},
      {"decoder/layer_0/self_attention/num_heads_kv", "that several heads share"},
      {"encoder/layer_0/self_attention/q_norm/gamma", "norms of queries and keys"},
      {"encoder/layer_0/self_attention/head_dim", "heads of a size of their own"},
      {"decoder/layer_0/input_layer_norm/gamma", "norms behind sublayers"},
      {"decoder/project_in/weight", "maps around the layers"},
      {"decoder/final_logit_softcapping", "a cap of the logits"},
  };
  for (const auto& test : cases) {
    const std::string error = Error([&](TinyCTranslate2* t) { t->AddScalar(test.variable, 1); });
    EXPECT_THAT(error, HasSubstr(absl::StrCat("model.bin: not supported: ", test.variable, ": ")));
    EXPECT_THAT(error, HasSubstr(test.what));
  }
}

// Older files give an option once for both stacks, newer ones in each of them.
TEST(CTranslate2, StacksThatDifferAreRefused) {
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->Set("decoder/pre_norm", 0); }),
              HasSubstr("model.bin: \"pre_norm\" of the decoder is not that of the encoder"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->AddScalar("decoder/activation", 2); }),
              HasSubstr("\"activation\" of the decoder"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->AddScalar("encoder/activation", 2); }),
              HasSubstr("\"activation\" of the decoder"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->AddScalar("encoder/scale_embeddings", 0); }),
              HasSubstr("\"scale_embeddings\" of the decoder"));
  TinyCTranslate2 common;
  common.AddScalar("activation", 3);
  // A flag and the scale that it stands for are equal.
  common.AddScalar("encoder/scale_embeddings", 1);
  common.variables.push_back({"decoder/scale_embeddings", {}, 0, Bytes(std::sqrt(8.0f))});
  const absl::StatusOr<LoadedModel> loaded = Load(common);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->model->config.activation, Activation::kGelu);
  EXPECT_EQ(loaded->model->config.embedding_scale, std::sqrt(8.0f));
}

TEST(CTranslate2, ReadsTheAlignmentLayerAndHeads) {
  const absl::StatusOr<LoadedModel> without = Load(TinyCTranslate2());
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(without->model->config.alignment_layer, -1);
  EXPECT_EQ(without->model->config.alignment_heads, 1);
  for (const std::string scope : {"", "decoder/"}) {
    TinyCTranslate2 tiny;
    tiny.variables.push_back({scope + "alignment_layer", {}, 2, Bytes<int16_t>(0)});
    tiny.variables.push_back({scope + "alignment_heads", {}, 2, Bytes<int16_t>(2)});
    const absl::StatusOr<LoadedModel> loaded = Load(tiny);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->model->config.alignment_layer, 0);
    EXPECT_EQ(loaded->model->config.alignment_heads, 2);
  }
  for (const auto& [name, value] :
       {std::pair("alignment_layer", 1), std::pair("alignment_layer", -2),
        std::pair("alignment_heads", 3), std::pair("alignment_heads", -1)}) {
    EXPECT_THAT(Error([n = name, v = value](TinyCTranslate2* t) {
                  t->AddScalar(absl::StrCat("decoder/", n), static_cast<int8_t>(v));
                }),
                HasSubstr(absl::StrCat("model configuration: ", name, " is ", value)));
  }
  EXPECT_THAT(Error([](TinyCTranslate2* t) {
                t->variables.push_back({"decoder/alignment_layer", {}, 0, Bytes(NAN)});
              }),
              HasSubstr("alignment_layer is 2147483647"));
}

TEST(CTranslate2, OtherFilesOfTheDirectory) {
  const TempFolder folder;
  TinyCTranslate2().Write(folder);
  WriteFile(folder / "vmap.txt", "\tx\na\tx <s>\n");
  WriteFile(folder / "sentencepiece.model", "pieces");
  const absl::StatusOr<LoadedModel> loaded = LoadModel(folder.path(), ComputeType::kFloat32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_NE(loaded->shortlist, nullptr);
  EXPECT_THAT(loaded->shortlist->always, ElementsAre(3));
  EXPECT_EQ(loaded->vocabulary.target_sentencepiece, "pieces");
}

TEST(CTranslate2, NamesWhatIsWrong) {
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->version = 1; }),
              HasSubstr("model.bin: CTranslate2 binary version 1 is not supported"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->version = 7; }), HasSubstr("version 7"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->spec = "WhisperSpec"; }),
              HasSubstr("a model of kind \"WhisperSpec\""));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->AddScalar("decoder/alibi", 1); }),
              HasSubstr("\"alibi\" is set"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->AddScalar("encoder/activation", 9); }),
              HasSubstr("activation 9 is not supported"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->AddScalar("with_source_bos", 1); }),
              HasSubstr("add_source_bos"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->AddMatrix("encoder/extra", 2, 2); }),
              HasSubstr("1 tensor of no known use: encoder/extra"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->variables[0].name = "encoder/heads"; }),
              HasSubstr("1 tensor of no known use: encoder/heads"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) {
                t->variables.pop_back();
                t->aliases.clear();
              }),
              HasSubstr("\"decoder/projection/weight\" is missing"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->aliases[0].second = "nothing"; }),
              HasSubstr("stands for \"nothing\", which is not there"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->variables.push_back(t->variables[2]); }),
              HasSubstr("is there twice"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) {
                t->variables.push_back({"y_scale", {}, 0, "1234"});
              }),
              HasSubstr("1 tensor of no known use: y_scale"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->source_vocabulary += "c\n"; }),
              HasSubstr("source_vocabulary: 6 tokens, expected 5, the size in model.bin"));
  EXPECT_THAT(Error([](TinyCTranslate2* t) { t->target_vocabulary = "[\"a\", 1]"; }),
              HasSubstr("not an array of tokens"));
  // The message stays short, whatever bytes a name has.
  const std::string longest = Error([](TinyCTranslate2* t) {
    t->variables.push_back({std::string(60'000, '\xe4') + "_scale", {}, 0, "1234"});
  });
  EXPECT_LT(longest.size(), 1010u);
  EXPECT_THAT(longest, HasSubstr("1 tensor of no known use"));
  EXPECT_EQ(longest.find('\xe4'), std::string::npos);
  const TempFolder folder;
  TinyCTranslate2().Write(folder);
  std::filesystem::remove(folder / "source_vocabulary.txt");
  EXPECT_THAT(std::string(LoadModel(folder.path(), ComputeType::kFloat32).status().message()),
              HasSubstr("source_vocabulary.json: no such file, nor .txt"));
}

TEST(CTranslate2Bin, RefusesDamage) {
  TinyCTranslate2 tiny(6, 1);
  tiny.variables.resize(4);
  tiny.aliases = {{"alias", tiny.variables[2].name}};
  const std::string whole = tiny.Bin();
  const auto read = [](const std::string& bytes) {
    return ReadCTranslate2Bin(FileBytes::InMemory("model.bin", bytes));
  };
  const absl::StatusOr<CTranslate2File> file = read(whole);
  ASSERT_TRUE(file.ok()) << file.status();
  const StoredTensor* alias = file->source.Find("alias");
  EXPECT_EQ(alias->scales.size(), 24u);
  EXPECT_EQ(alias->scales.data(), file->source.Find(tiny.variables[2].name)->scales.data());
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(read(whole.substr(0, n)).ok()) << n;
  EXPECT_FALSE(read(whole + "x").ok());
  for (const auto& variable :
       std::vector<TinyCTranslate2::Variable>{{"v", {2}, 0, "1234"},
                                              {"v", {1u << 31, 1u << 31, 1u << 31}, 0, "1234"},
                                              {"v", std::vector<uint32_t>(9, 1), 1, "1"}}) {
    TinyCTranslate2 damaged;
    damaged.variables = {variable};
    EXPECT_FALSE(read(damaged.Bin()).ok());
  }
  std::string type = whole;
  // It stands behind the name, a NUL byte and the rank.
  type[whole.find("encoder/num_heads") + 19] = 9;
  EXPECT_THAT(std::string(read(type).status().message()), HasSubstr("unknown type 9"));
}

TEST(CTranslate2Vocabulary, LinesAndArrays) {
  EXPECT_THAT(*ReadCTranslate2Vocabulary("a\r\n b\n\nc", "v"), ElementsAre("a", " b", "", "c"));
  EXPECT_THAT(*ReadCTranslate2Vocabulary("[\"a\", \"\\n\"]", "v"), ElementsAre("a", "\n"));
  EXPECT_THAT(*ReadCTranslate2Vocabulary("[PAD]\n[\n", "v"), ElementsAre("[PAD]", "["));
  EXPECT_THAT(*ReadCTranslate2Vocabulary("", "v"), ElementsAre());
  EXPECT_FALSE(ReadCTranslate2Vocabulary("[\"a\"", "v").ok());
}

}  // namespace
}  // namespace nibu::internal
