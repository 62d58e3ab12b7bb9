// Tests of the reader of Hugging Face's MarianMT directories: configuration, defaults, tensors, and
// the error for each kind of damage.
#include "models/formats/hugging_face.h"

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "tests/models/files.h"
#include "tests/models/greedy.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TempFolder;
using testing::TinyMarian;
using testing::WriteFile;

absl::StatusOr<LoadedModel> Load(const TinyMarian& tiny) {
  const TempFolder folder;
  tiny.Write(folder);
  return LoadModel(folder.path(), ComputeType::kFloat32);
}

// Returns the one line of the error after `damage` has changed a tiny model. The folder is left
// out.
std::string Error(const std::function<void(TinyMarian*)>& damage) {
  TinyMarian tiny;
  damage(&tiny);
  const absl::StatusOr<LoadedModel> loaded = Load(tiny);
  EXPECT_FALSE(loaded.ok());
  const std::string message(loaded.status().message());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

// Returns the error after `damage` has changed the files of the folder.
std::string FileError(const std::function<void(const TempFolder&)>& damage) {
  const TempFolder folder;
  TinyMarian().Write(folder);
  damage(folder);
  const absl::StatusOr<LoadedModel> loaded = LoadModel(folder.path(), ComputeType::kFloat32);
  EXPECT_FALSE(loaded.ok());
  std::string message(loaded.status().message());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_THAT(message, HasSubstr(folder.path()));
  return message;
}

TEST(HuggingFace, LoadsATinyModel) {
  const absl::StatusOr<LoadedModel> loaded = Load(TinyMarian());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->format, "Hugging Face MarianMT");
  const ModelConfig& config = loaded->model->config;
  EXPECT_EQ(config.d_model, 8);
  EXPECT_EQ(config.layers_decoder, 2);
  EXPECT_EQ(config.activation, Activation::kSwish);
  EXPECT_EQ(config.norm_order, NormOrder::kPost);
  EXPECT_EQ(config.position_kind, PositionKind::kSinusoidalHalf);
  EXPECT_FLOAT_EQ(config.embedding_scale, std::sqrt(8.0f));
  EXPECT_EQ(config.decoder_start, 6);
  EXPECT_EQ(config.unk, 1);
  EXPECT_EQ(config.unk_target, 1);
  EXPECT_THAT(config.source_suffix, ElementsAre(0));
  EXPECT_THAT(config.suppressed, ElementsAre(6));
  EXPECT_EQ(loaded->model->weights.source.tokens, loaded->model->weights.target.tokens);
  EXPECT_EQ(loaded->vocabulary.source_tokens[2], "a");
  EXPECT_EQ(loaded->vocabulary.target_tokens, loaded->vocabulary.source_tokens);
  EXPECT_EQ(loaded->vocabulary.source_sentencepiece, "\nsource pieces");
  EXPECT_EQ(loaded->vocabulary.target_sentencepiece, "\ntarget pieces");
  EXPECT_TRUE(loaded->vocabulary.language_tokens.empty());
  EXPECT_TRUE(std::isfinite(Greedy(*loaded).score));
}

TEST(HuggingFace, OptionalFilesMayBeAbsent) {
  const TempFolder folder;
  TinyMarian().Write(folder);
  std::filesystem::remove(folder / "generation_config.json");
  std::filesystem::remove(folder / "tokenizer_config.json");
  EXPECT_TRUE(LoadModel(folder.path(), ComputeType::kFloat32).ok());
}

TEST(HuggingFace, GenerationConfigWins) {
  TinyMarian tiny;
  tiny.generation = {{"eos_token_id", {5}}, {"decoder_start_token_id", 4}, {"pad_token_id", 6}};
  const absl::StatusOr<LoadedModel> loaded = Load(tiny);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->model->config.eos, 5);
  EXPECT_EQ(loaded->model->config.decoder_start, 4);
  EXPECT_THAT(loaded->model->config.source_suffix, ElementsAre(0));
}

TEST(HuggingFace, DefaultsAreThoseOfTransformers) {
  const absl::StatusOr<ConfigFile> file = ConfigFile::Parse("{}", "config.json");
  const absl::StatusOr<HuggingFaceConfig> config = ReadHuggingFaceConfig(*file);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->model.d_model, 1024);
  EXPECT_EQ(config->model.layers_encoder, 12);
  EXPECT_EQ(config->model.heads_decoder, 16);
  EXPECT_EQ(config->model.ffn_decoder, 4096);
  EXPECT_EQ(config->model.vocab_target, 58101);
  EXPECT_EQ(config->model.decoder_start, 58100);
  EXPECT_EQ(config->model.activation, Activation::kGelu);
  EXPECT_EQ(config->model.embedding_scale, 1.0f);
  EXPECT_TRUE(config->shared_embeddings);
  EXPECT_TRUE(config->tied_output);
}

TEST(HuggingFace, TiedCopiesAreTheSameModel) {
  TinyMarian tiny;
  const Hypothesis expected = Greedy(*Load(tiny));
  tiny.tensors["lm_head.weight"] = tiny.tensors["model.shared.weight"];
  tiny.tensors["model.encoder.embed_tokens.weight"] = tiny.tensors["model.shared.weight"];
  tiny.tensors["model.decoder.embed_tokens.weight"] = tiny.tensors["model.shared.weight"];
  absl::StatusOr<LoadedModel> loaded = Load(tiny);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(Greedy(*loaded).log_prob, expected.log_prob);
  // A file may have any one of the copies.
  tiny.tensors.erase("model.shared.weight");
  tiny.tensors.erase("model.encoder.embed_tokens.weight");
  tiny.tensors.erase("model.decoder.embed_tokens.weight");
  loaded = Load(tiny);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(Greedy(*loaded).log_prob, expected.log_prob);

  tiny.Add("model.shared.weight", {7, 8});
  EXPECT_THAT(std::string(Load(tiny).status().message()),
              HasSubstr("tensor \"lm_head.weight\" differs from \"model.shared.weight\""));
}

TEST(HuggingFace, StoredPositionsAreUsed) {
  TinyMarian tiny;
  const Hypothesis expected = Greedy(*Load(tiny));
  const AlignedBuffer<float> table = SinusoidalPositions(PositionKind::kSinusoidalHalf, 32, 0, 8);
  const testing::TestTensor positions{{32, 8}, {table.data(), table.data() + table.size()}};
  tiny.tensors["model.encoder.embed_positions.weight"] = positions;
  tiny.tensors["model.decoder.embed_positions.weight"] = positions;
  absl::StatusOr<LoadedModel> loaded = Load(tiny);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->model->config.position_kind, PositionKind::kLearned);
  EXPECT_EQ(loaded->model->weights.source.positions, loaded->model->weights.target.positions);
  EXPECT_EQ(Greedy(*loaded).log_prob, expected.log_prob);
  // Other values give another result, whether or not the configuration calls them static.
  tiny.config["static_position_embeddings"] = false;
  tiny.Add("model.encoder.embed_positions.weight", {32, 8});
  loaded = Load(tiny);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_NE(loaded->model->weights.source.positions, loaded->model->weights.target.positions);
  EXPECT_NE(Greedy(*loaded).log_prob, expected.log_prob);
}

TEST(HuggingFace, NormsOfOlderConfigurations) {
  TinyMarian tiny;
  tiny.config["normalize_before"] = true;
  tiny.config["normalize_embedding"] = true;
  tiny.config["add_final_layer_norm"] = true;
  for (const char* stack : {"model.encoder", "model.decoder"}) {
    tiny.AddNorm(absl::StrCat(stack, ".layernorm_embedding"));
    tiny.AddNorm(absl::StrCat(stack, ".layer_norm"));
  }
  const absl::StatusOr<LoadedModel> loaded = Load(tiny);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->model->config.norm_order, NormOrder::kPre);
  EXPECT_EQ(loaded->model->weights.decoder_norm.gamma.size(), 8u);
  EXPECT_EQ(loaded->model->weights.source.norm.beta.size(), 8u);
  EXPECT_TRUE(std::isfinite(Greedy(*loaded).score));
}

TEST(HuggingFace, SeparateVocabulariesAndOutput) {
  TinyMarian tiny;
  tiny.config["share_encoder_decoder_embeddings"] = false;
  tiny.config["tie_word_embeddings"] = false;
  tiny.config["decoder_vocab_size"] = 5;
  for (const char* key : {"pad_token_id", "decoder_start_token_id"}) tiny.config[key] = 4;
  tiny.config["bad_words_ids"] = nullptr;
  tiny.generation = nlohmann::json::object();
  tiny.tokenizer = {{"separate_vocabs", true}, {"unk_token", {{"content", "c"}}}};
  tiny.tensors.erase("model.shared.weight");
  tiny.Add("model.encoder.embed_tokens.weight", {7, 8});
  tiny.Add("model.decoder.embed_tokens.weight", {5, 8});
  tiny.Add("lm_head.weight", {5, 8});
  tiny.Add("final_logits_bias", {1, 5});
  const TempFolder folder;
  tiny.Write(folder);
  EXPECT_THAT(std::string(LoadModel(folder.path(), ComputeType::kFloat32).status().message()),
              HasSubstr("target_vocab.json: no such file"));
  WriteFile(folder / "target_vocab.json", R"({"</s>":0,"x":1,"c":2,"z":3,"<pad>":4})");
  const absl::StatusOr<LoadedModel> loaded = LoadModel(folder.path(), ComputeType::kFloat32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->model->config.vocab_target, 5);
  EXPECT_EQ(loaded->model->config.unk, 4);
  EXPECT_EQ(loaded->model->config.unk_target, 2);
  EXPECT_EQ(loaded->vocabulary.source_tokens.size(), 7u);
  EXPECT_EQ(loaded->vocabulary.target_tokens[1], "x");
  EXPECT_TRUE(std::isfinite(Greedy(*loaded).score));
}

TEST(HuggingFace, OutputBiasMayBeAbsent) {
  TinyMarian tiny;
  tiny.tensors.erase("final_logits_bias");
  EXPECT_TRUE(Load(tiny).ok());
}

TEST(HuggingFaceDamage, MissingFiles) {
  for (const char* name :
       {"config.json", "model.safetensors", "vocab.json", "source.spm", "target.spm"}) {
    const std::string message =
        FileError([&](const TempFolder& folder) { std::filesystem::remove(folder / name); });
    EXPECT_THAT(message, HasSubstr(name));
    EXPECT_THAT(message, AnyOf(HasSubstr("directory has"), HasSubstr("no config.json in it"),
                               HasSubstr("no weights in it")));
  }
  EXPECT_THAT(std::string(LoadModel("/no/such/model", ComputeType::kFloat32).status().message()),
              HasSubstr("/no/such/model: no such file or directory"));
}

TEST(HuggingFaceDamage, EmptyFiles) {
  for (const char* name : {"vocab.json", "source.spm", "target.spm"}) {
    EXPECT_THAT(FileError([&](const TempFolder& folder) {
                  std::filesystem::resize_file(folder / name, 0);
                }),
                HasSubstr(std::string(name) + ": not a whole file, it is empty"));
  }
}

TEST(HuggingFaceDamage, DirectoriesInPlaceOfFiles) {
  EXPECT_THAT(FileError([](const TempFolder& folder) {
                std::filesystem::remove(folder / "vocab.json");
                std::filesystem::create_directory(folder / "vocab.json");
              }),
              HasSubstr("vocab.json: not a regular file"));
}

TEST(HuggingFaceDamage, NotJson) {
  for (const char* name :
       {"config.json", "generation_config.json", "tokenizer_config.json", "vocab.json"}) {
    for (const char* text : {"", "not JSON", "[1, 2]", "{\"a\": }", "{\"a\": 1", "\xff\xfe"}) {
      EXPECT_THAT(FileError([&](const TempFolder& folder) { WriteFile(folder / name, text); }),
                  HasSubstr(absl::StrCat("/", name, ": not ")))
          << text;
    }
  }
}

TEST(HuggingFaceDamage, TruncatedWeights) {
  const TempFolder whole;
  TinyMarian().Write(whole);
  const std::string bytes = testing::ReadFile(whole / "model.safetensors");
  for (const size_t n : {size_t{0}, size_t{7}, size_t{8}, size_t{100}, bytes.size() - 1}) {
    EXPECT_THAT(FileError([&](const TempFolder& folder) {
                  WriteFile(folder / "model.safetensors", bytes.substr(0, n));
                }),
                HasSubstr("model.safetensors: not a whole safetensors file"));
  }
}

TEST(HuggingFaceDamage, TensorsThatDoNotFit) {
  EXPECT_THAT(Error([](TinyMarian* t) { t->tensors.erase("model.decoder.layers.1.fc2.bias"); }),
              HasSubstr("model.safetensors: tensor \"model.decoder.layers.1.fc2.bias\" is missing, "
                        "expected with shape [8]"));
  EXPECT_THAT(Error([](TinyMarian* t) {
                t->Add("model.encoder.layers.0.fc1.weight", {8, 16});
              }),
              HasSubstr("tensor \"model.encoder.layers.0.fc1.weight\" has shape [8, 16], expected "
                        "[16, 8]"));
  EXPECT_THAT(Error([](TinyMarian* t) {
                t->Add("model.shared.weight", {6, 8});
              }),
              HasSubstr("\"model.shared.weight\" has shape [6, 8], expected [7, 8]"));
  EXPECT_THAT(Error([](TinyMarian* t) { t->AddNorm("model.encoder.layer_norm"); }),
              HasSubstr("2 tensors of no known use: model.encoder.layer_norm.bias, "
                        "model.encoder.layer_norm.weight;"));
  EXPECT_THAT(Error([](TinyMarian* t) { t->config["encoder_layers"] = 1; }),
              HasSubstr("tensors of no known use: model.encoder.layers.1.fc1.bias"));
  EXPECT_THAT(Error([](TinyMarian* t) { t->config["static_position_embeddings"] = false; }),
              HasSubstr("tensor \"model.encoder.embed_positions.weight\" is missing"));
}

TEST(HuggingFaceDamage, ValuesThatAreNotFinite) {
  for (const char* name :
       {"model.shared.weight", "model.encoder.layers.1.self_attn.k_proj.weight",
        "model.encoder.layers.1.self_attn.v_proj.bias", "model.decoder.layers.0.fc1.weight",
        "model.decoder.layers.0.final_layer_norm.bias", "final_logits_bias"}) {
    for (const float value :
         {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
      // An output bias of -infinity is no damage; see ABiasOfMinusInfinityForbidsAToken.
      if (absl::string_view(name) == "final_logits_bias" && std::isinf(value)) continue;
      EXPECT_THAT(Error([&](TinyMarian* t) { t->tensors[name].values.back() = value; }),
                  HasSubstr(absl::StrCat("model.safetensors: tensor \"", name,
                                         "\" holds NaN or infinite values")));
    }
  }
}

TEST(HuggingFaceDamage, VocabularyThatDoesNotFit) {
  EXPECT_THAT(Error([](TinyMarian* t) { t->vocabulary.erase("d"); }),
              HasSubstr("vocab.json: 6 tokens, expected 7, the size in config.json"));
  EXPECT_THAT(Error([](TinyMarian* t) { t->vocabulary["d"] = 4; }),
              HasSubstr("vocab.json: id 4 belongs to both \"c\" and \"d\""));
  for (const nlohmann::json& id : {nlohmann::json(7), nlohmann::json(-1), nlohmann::json("5"),
                                   nlohmann::json(1.5), nlohmann::json(nullptr)}) {
    EXPECT_THAT(Error([&](TinyMarian* t) { t->vocabulary["d"] = id; }),
                HasSubstr("vocab.json: the id of token \"d\" is not a number from 0 to 6"));
  }
  for (const char* token : {"</s>", "<unk>"}) {
    EXPECT_THAT(Error([&](TinyMarian* t) {
                  t->vocabulary["x"] = t->vocabulary[token];
                  t->vocabulary.erase(token);
                }),
                HasSubstr(absl::StrCat("vocab.json: the token \"", token, "\" is missing")));
  }
}

TEST(HuggingFaceDamage, ConfigurationThatMakesNoSense) {
  const auto with = [](const char* key, const nlohmann::json& value) {
    return Error([&](TinyMarian* t) { t->config[key] = value; });
  };
  EXPECT_THAT(with("model_type", "bert"),
              AllOf(HasSubstr("config.json: \"model_type\" must be \"marian\""),
                    HasSubstr("found \"bert\"")));
  EXPECT_THAT(with("activation_function", "mish"),
              HasSubstr("\"activation_function\" must be relu, swish, silu, gelu"));
  EXPECT_THAT(with("d_model", "eight"), HasSubstr("\"d_model\" must be an integer"));
  EXPECT_THAT(with("d_model", 0), HasSubstr("config.json: model configuration: d_model is 0"));
  EXPECT_THAT(with("d_model", -8), HasSubstr("d_model is -8"));
  EXPECT_THAT(with("d_model", 1 << 30), HasSubstr("d_model is 1073741824"));
  EXPECT_THAT(with("encoder_layers", 2000000000), HasSubstr("layers_encoder is 2000000000"));
  EXPECT_THAT(with("decoder_attention_heads", 3),
              HasSubstr("d_model is 8, not a multiple of heads_decoder, 3"));
  EXPECT_THAT(with("max_position_embeddings", 2000000000), HasSubstr("max_positions"));
  EXPECT_THAT(with("eos_token_id", 7), HasSubstr("eos is 7"));
  EXPECT_THAT(with("eos_token_id", nlohmann::json::array()),
              HasSubstr("\"eos_token_id\" must be a token id or a list of some"));
  EXPECT_THAT(with("decoder_start_token_id", 99), HasSubstr("decoder_start is 99"));
  EXPECT_THAT(with("forced_bos_token_id", 7), HasSubstr("\"forced_bos_token_id\" must be 0 to 6"));
  EXPECT_THAT(with("scale_embedding", 1), HasSubstr("\"scale_embedding\" must be true or false"));
  EXPECT_THAT(with("decoder_vocab_size", 5),
              HasSubstr("\"decoder_vocab_size\" must be vocab_size"));
  EXPECT_THAT(with("vocab_size", 2000000000), HasSubstr("7 tokens, expected 2000000000"));
  EXPECT_THAT(with("vocab_size", -7), HasSubstr("7 tokens, expected -7"));
  EXPECT_THAT(
      Error([](TinyMarian* t) {
        t->generation["bad_words_ids"] = {{1, 7}};
      }),
      HasSubstr("generation_config.json: \"bad_words_ids\" must be a list of lists of token ids"));
}

// Rows behind the last token are never generated, as if the model were without them.
TEST(HuggingFace, PaddedVocabulary) {
  TinyMarian tiny;
  const TempFolder folder;
  tiny.config["vocab_size"] = TinyMarian::kV + 3;
  for (const char* name : {"model.shared.weight", "final_logits_bias"}) {
    const bool is_bias = name[0] == 'f';
    auto& tensor = tiny.tensors[name];
    tensor.shape[is_bias ? 1 : 0] += 3;
    tensor.values.resize(tensor.values.size() + 3 * (is_bias ? 1 : TinyMarian::kD), 9.0f);
  }
  tiny.Write(folder);
  const absl::StatusOr<LoadedModel> loaded = LoadModel(folder.path(), ComputeType::kFloat32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->vocabulary.target_tokens.back(), "<unused 9>");
  for (const int token : Greedy(*loaded).tokens) EXPECT_LT(token, TinyMarian::kV);
  for (const int id : {7, 8, 9}) {
    EXPECT_THAT(loaded->model->config.suppressed, ::testing::Contains(id));
  }
}

TEST(HuggingFace, ABiasOfMinusInfinityForbidsAToken) {
  TinyMarian tiny;
  tiny.tensors["final_logits_bias"].values[3] = -INFINITY;
  const TempFolder folder;
  tiny.Write(folder);
  const absl::StatusOr<LoadedModel> loaded = LoadModel(folder.path(), ComputeType::kFloat32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  for (const int token : Greedy(*loaded).tokens) EXPECT_NE(token, 3);
  for (const float damage : {INFINITY, NAN}) {
    tiny.tensors["final_logits_bias"].values[3] = damage;
    tiny.Write(folder);
    EXPECT_FALSE(LoadModel(folder.path(), ComputeType::kFloat32).ok());
  }
}

TEST(HuggingFace, CaptionsModel) {
  const absl::StatusOr<LoadedModel> loaded = LoadModel(CaptionsModelPath(), ComputeType::kFloat32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const ModelConfig& config = loaded->model->config;
  EXPECT_EQ(config.d_model, 256);
  EXPECT_EQ(config.layers_encoder, 6);
  EXPECT_EQ(config.layers_decoder, 3);
  EXPECT_EQ(config.vocab_target, 8001);
  EXPECT_EQ(config.max_positions, 512);
  EXPECT_EQ(config.decoder_start, 8000);
  EXPECT_EQ(loaded->vocabulary.target_tokens[3], "▁a");
  EXPECT_EQ(loaded->vocabulary.source_sentencepiece.size(), 377699u);
}

TEST(HuggingFace, CaptionsModelIsTheOneThatWasTrained) {
  const std::string original = SharedPath("models/en-de-hf/model.safetensors");
  if (!std::filesystem::exists(original)) GTEST_SKIP() << original << " is not there";
  EXPECT_EQ(testing::ReadFile(CaptionsModelPath("model.safetensors")), testing::ReadFile(original));
}

}  // namespace
}  // namespace nibu::internal
