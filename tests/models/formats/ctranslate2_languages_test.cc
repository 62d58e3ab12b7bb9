// Tests of multilingual models that are written as CTranslate2's converter writes them. They must
// translate as the PyTorch reference translates by the original Hugging Face directories.
#include "models/formats/ctranslate2_languages.h"

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/ops/convert.h"
#include "engine/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "nlohmann/json.hpp"
#include "tests/models/tiny_ctranslate2.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using testing::Bytes;
using ::testing::HasSubstr;
using testing::ReadFile;
using testing::TempFolder;
using testing::TinyCTranslate2;
using testing::WriteFile;

std::string Original(const std::string& name) { return TestdataPath(name); }

// A Hugging Face directory of the test data, converted to CTranslate2's format.
class Converted {
 public:
  explicit Converted(const std::string& name) : name_(name), original_(*OpenModel(Original(name))) {
    is_mbart_ = name == "mbart" || name == "mbart50";
    config = {{"add_source_bos", false},
              {"add_source_eos", false},
              {"bos_token", "<s>"},
              {"decoder_start_token", "</s>"},
              {"eos_token", "</s>"},
              {"layer_norm_epsilon", nullptr},
              {"multi_query_attention", false},
              {"unk_token", "<unk>"}};
    if (name == "mbart") config["decoder_start_token"] = nullptr;
    int unused = 0;
    for (const std::string& token : original_.vocabulary.source_tokens) {
      const bool is_unused = absl::StartsWith(token, "<unused");
      tokens.push_back(is_unused ? absl::StrCat("madeupword", unused++) : token);
    }
    model.variables.clear();
    model.aliases.clear();
    for (const std::string stack : {"encoder", "decoder"}) AddStack(stack);
    AddTensor("decoder/embeddings/weight", {"model.shared.weight"});
    model.aliases = {
        {"decoder/projection/weight", "decoder/embeddings/weight"},
        {"encoder/embeddings_0/weight", "decoder/embeddings/weight"},
        {"encoder/position_encodings/encodings", "decoder/position_encodings/encodings"}};
    if (is_mbart_) AddTensor("decoder/projection/bias", {"final_logits_bias"});
  }

  TinyCTranslate2 model;
  nlohmann::json config;
  std::vector<std::string> tokens;
  std::vector<std::string> copied = {"sentencepiece.bpe.model"};

  const OpenedModel& original() const { return original_; }

  absl::StatusOr<LoadedModel> Load() const {
    const TempFolder folder;
    WriteFile(folder / "model.bin", model.Bin());
    if (!config.is_null()) WriteFile(folder / "config.json", config.dump(2));
    WriteFile(folder / "shared_vocabulary.json", nlohmann::json(tokens).dump(2));
    for (const std::string& file : copied) {
      std::filesystem::copy_file(Original(name_) + "/" + file, folder / file);
    }
    return LoadModel(folder.path(), ComputeType::kFloat32);
  }

 private:
  // Adds a variable in float32 that is made of these tensors, one below the other.
  void AddTensor(const std::string& name, const std::vector<std::string>& parts) {
    TinyCTranslate2::Variable variable{name, {}, 0, ""};
    for (const std::string& part : parts) {
      const StoredTensor* tensor = original_.source->Find(part);
      ASSERT_NE(tensor, nullptr) << part;
      std::vector<float> values(static_cast<size_t>(tensor->view.elements()));
      ConvertToFloat(tensor->view.dtype, tensor->view.data, tensor->view.elements(), values.data());
      Shape shape = tensor->view.shape;
      if (part == "final_logits_bias") shape.erase(shape.begin());
      if (absl::StrContains(part, "embed_positions")) {  // The first two are of padding.
        shape[0] -= 2;
        values.erase(values.begin(), values.begin() + 2 * shape[1]);
      }
      if (variable.shape.empty()) {
        variable.shape.assign(shape.begin(), shape.end());
      } else {
        variable.shape[0] += static_cast<uint32_t>(shape[0]);
      }
      for (const float value : values) variable.data += Bytes(value);
    }
    model.variables.push_back(variable);
  }

  void AddAffine(const std::string& name, const std::string& prefix,
                 const std::vector<std::string>& parts) {
    std::vector<std::string> weights;
    std::vector<std::string> biases;
    for (const std::string& part : parts) {
      weights.push_back(absl::StrCat(prefix, part, ".weight"));
      biases.push_back(absl::StrCat(prefix, part, ".bias"));
    }
    AddTensor(name + "/weight", weights);
    AddTensor(name + "/bias", biases);
  }

  void AddNorm(const std::string& name, const std::string& original) {
    AddTensor(name + "/gamma", {original + ".weight"});
    AddTensor(name + "/beta", {original + ".bias"});
  }

  void AddStack(const std::string& stack) {
    const std::string from = absl::StrCat("model.", stack);
    const ModelConfig& shape = original_.config;
    const bool is_decoder = stack == "decoder";
    model.variables.push_back(
        {stack + "/num_heads", {}, 2, Bytes(static_cast<int16_t>(shape.heads_encoder))});
    model.AddScalar(stack + "/pre_norm", 1);
    model.AddScalar(stack + "/activation", is_mbart_ ? 3 : 0);
    model.variables.push_back(
        {stack + "/scale_embeddings", {}, 0, Bytes(std::sqrt(static_cast<float>(shape.d_model)))});
    AddNorm(stack + "/layer_norm", from + ".layer_norm");
    if (is_mbart_) AddNorm(stack + "/layernorm_embedding", from + ".layernorm_embedding");
    for (int i = 0; i < (is_decoder ? shape.layers_decoder : shape.layers_encoder); ++i) {
      const std::string layer = absl::StrCat(stack, "/layer_", i);
      const std::string hf = absl::StrCat(from, ".layers.", i, ".");
      AddAffine(layer + "/self_attention/linear_0", hf + "self_attn.",
                {"q_proj", "k_proj", "v_proj"});
      AddAffine(layer + "/self_attention/linear_1", hf + "self_attn.", {"out_proj"});
      AddNorm(layer + "/self_attention/layer_norm", hf + "self_attn_layer_norm");
      if (is_decoder) {
        AddAffine(layer + "/attention/linear_0", hf + "encoder_attn.", {"q_proj"});
        AddAffine(layer + "/attention/linear_1", hf + "encoder_attn.", {"k_proj", "v_proj"});
        AddAffine(layer + "/attention/linear_2", hf + "encoder_attn.", {"out_proj"});
        AddNorm(layer + "/attention/layer_norm", hf + "encoder_attn_layer_norm");
      }
      AddAffine(layer + "/ffn/linear_0", hf, {"fc1"});
      AddAffine(layer + "/ffn/linear_1", hf, {"fc2"});
      AddNorm(layer + "/ffn/layer_norm", hf + "final_layer_norm");
    }
    if (!is_decoder) return;
    if (is_mbart_)
      return AddTensor("decoder/position_encodings/encodings",
                       {"model.decoder.embed_positions.weight"});
    // The position tables of M2M-100 and NLLB are computed by transformers and stored by the
    // converter.
    TinyCTranslate2::Variable positions{
        "decoder/position_encodings/encodings", {40, static_cast<uint32_t>(shape.d_model)}, 0, ""};
    const int half = shape.d_model / 2;
    for (int p = 0; p < 40; ++p) {
      for (int i = 0; i < 2 * half; ++i) {
        const double angle =
            (p + 2) * std::pow(10000.0, -static_cast<double>(i % half) / (half - 1));
        positions.data += Bytes(static_cast<float>(i < half ? std::sin(angle) : std::cos(angle)));
      }
    }
    model.variables.push_back(positions);
  }

  std::string name_;
  OpenedModel original_;
  bool is_mbart_ = false;
};

// Returns the frame that --src_lang and --tgt_lang choose.
Frame FrameOf(const LoadedModel& loaded, const std::string& source, const std::string& target) {
  const ModelLanguages& languages = loaded.vocabulary.languages;
  Frame frame{{}, loaded.model->config.source_suffix, {}};
  if (languages.target_follows_start) frame.decoder_start = {loaded.model->config.decoder_start};
  for (const auto& [code, token] : languages.languages) {
    if (code == target) frame.decoder_start.push_back(token);
    if (code != source) continue;
    (languages.source_in_front ? frame.source_prefix : frame.source_suffix).push_back(token);
  }
  return frame;
}

// Joins tokens as SentencePiece joins them.
std::string Text(const std::vector<std::string>& tokens, const std::vector<int>& ids) {
  std::string text;
  for (const int id : ids) text += tokens[static_cast<size_t>(id)];
  if (absl::StartsWith(text, "▁")) text.erase(0, 3);
  return absl::StrReplaceAll(text, {{"▁", " "}, {"<unk>", " ⁇ "}});
}

void ExpectReferenceTranslations(const std::string& name, const LoadedModel& loaded) {
  const auto cases = nlohmann::json::parse(ReadFile(Original(name) + "/expected.json"));
  ASSERT_FALSE(cases.empty());
  for (const nlohmann::json& expected : cases) {
    DecodingOptions options;
    options.beam_size = 1;
    options.max_decoding_length = 12;
    const Frame frame = FrameOf(loaded, expected["src_lang"], expected["tgt_lang"]);
    options.frame = frame;
    const nlohmann::json& known = expected["frame"];
    EXPECT_EQ(frame.source_prefix, known["source_prefix"].get<std::vector<int>>());
    EXPECT_EQ(frame.source_suffix, known["source_suffix"].get<std::vector<int>>());
    EXPECT_EQ(frame.decoder_start, known["decoder_start"].get<std::vector<int>>());
    auto translator = Translator::Create(loaded.model, {});
    ASSERT_TRUE(translator.ok()) << translator.status();
    const Hypothesis best = (*translator)->Translate({expected["source"]}, options).value()[0][0];
    EXPECT_EQ(best.tokens, expected["tokens"].get<std::vector<int>>()) << expected.dump();
    EXPECT_EQ(Text(loaded.vocabulary.target_tokens, best.tokens),
              expected["translation"].get<std::string>());
    EXPECT_THAT(best.token_scores,
                ::testing::Pointwise(::testing::FloatNear(1e-4f),
                                     expected["token_scores"].get<std::vector<float>>()));
  }
}

class CTranslate2LanguagesTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Models, CTranslate2LanguagesTest,
                         ::testing::Values("m2m", "nllb", "mbart50", "mbart"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(CTranslate2LanguagesTest, TranslatesAsTheReferenceDoes) {
  const Converted converted(GetParam());
  const absl::StatusOr<LoadedModel> loaded = converted.Load();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->format, "CTranslate2");
  ExpectReferenceTranslations(GetParam(), *loaded);
  // Only defaults differ from the original, since their files were not copied.
  const ModelVocabulary& original = converted.original().vocabulary;
  EXPECT_EQ(loaded->vocabulary.source_tokens, original.source_tokens);
  EXPECT_EQ(loaded->vocabulary.target_tokens, original.target_tokens);
  EXPECT_EQ(loaded->vocabulary.source_sentencepiece, original.source_sentencepiece);
  EXPECT_EQ(loaded->model->config.suppressed, converted.original().config.suppressed);
  EXPECT_EQ(loaded->vocabulary.languages.default_source, "");
  EXPECT_EQ(loaded->vocabulary.languages.default_target, "");
}

TEST_P(CTranslate2LanguagesTest, VersionsBeforeTheConfiguration) {
  Converted converted(GetParam());
  converted.model.version = 5;
  converted.config = nullptr;
  const bool is_first_mbart = std::string(GetParam()) == "mbart";
  converted.model.AddScalar(is_first_mbart ? "user_decoder_start_tokens" : "with_target_bos",
                            is_first_mbart ? 1 : 0);
  converted.model.variables.push_back({"unk_token", {5}, 1, "<unk>"});
  const absl::StatusOr<LoadedModel> loaded = converted.Load();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ExpectReferenceTranslations(GetParam(), *loaded);
}

TEST(CTranslate2Languages, TokenizerFilesBesideIt) {
  Converted nllb("nllb");
  nllb.copied = {"sentencepiece.bpe.model", "tokenizer_config.json", "tokenizer.json",
                 "special_tokens_map.json", "generation_config.json"};
  const absl::StatusOr<LoadedModel> loaded = nllb.Load();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->vocabulary.languages.default_source, "eng_Latn");
  EXPECT_EQ(loaded->defaults.beam_size, 5);

  Converted mbart("mbart50");
  mbart.copied.push_back("generation_config.json");
  EXPECT_EQ(mbart.Load()->vocabulary.languages.default_target, "en_XX");
  // The tokenizer's files take precedence over the converter's configuration.
  mbart.copied.push_back("tokenizer_config.json");
  mbart.config["decoder_start_token"] = nullptr;
  EXPECT_TRUE(mbart.Load()->vocabulary.languages.target_follows_start);
}

TEST(CTranslate2Languages, OtherVocabulariesHaveNone) {
  const auto languages = [](const std::function<void(std::vector<std::string>*)>& change) {
    Converted nllb("nllb");
    change(&nllb.tokens);
    const absl::StatusOr<LoadedModel> loaded = nllb.Load();
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded->vocabulary.languages.languages.size();
  };
  EXPECT_EQ(languages([](auto*) {}), 3u);
  // These pieces only look like codes of languages.
  EXPECT_EQ(languages([](auto* tokens) { (*tokens)[10] = "abc_Defg"; }), 3u);
  EXPECT_EQ(languages([](auto* tokens) {
              for (size_t i : {37, 38, 39}) (*tokens)[i] = absl::StrCat("deu_latn", i);
              (*tokens)[10] = "abc_Defg";
            }),
            0u);
  EXPECT_EQ(languages([](auto* tokens) { std::swap((*tokens)[0], (*tokens)[1]); }), 0u);
}

TEST(CTranslate2Languages, NamesWhatIsWrong) {
  const auto error = [](const std::function<void(Converted*)>& damage) {
    Converted converted("m2m");
    damage(&converted);
    return std::string(converted.Load().status().message());
  };
  EXPECT_THAT(error([](Converted* c) { c->copied.clear(); }),
              HasSubstr("sentencepiece.bpe.model: no such file; copy it from the Hugging Face"));
  EXPECT_THAT(error([](Converted* c) { c->config["decoder_start_token"] = nullptr; }),
              HasSubstr("targets whose first token has to be given (decoder_start_token is null)"));
  EXPECT_THAT(
      error([](Converted* c) {
        c->model.AddMatrix("encoder/layer_0/self_attention/relative_attention_bias", 4, 2);
      }),
      HasSubstr("relative_attention_bias: relative position biases; of T5 and MADLAD, load"));
}

}  // namespace
}  // namespace nibu::internal
