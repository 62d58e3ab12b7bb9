// Tests of the readers of Marian's models: containers, options, vocabularies and errors.
#include "models/formats/marian.h"

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
#include "models/containers/marian_bin.h"
#include "models/containers/npz.h"
#include "models/load_model.h"
#include "models/vocabulary/vocabulary_file.h"
#include "tests/models/greedy.h"
#include "tests/models/tiny_marian.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Npy;
using testing::TempFolder;
using testing::TinyMarianModel;
using testing::WriteFile;

// Loads a folder of the given files.
absl::StatusOr<LoadedModel> Load(const testing::Members& files, const std::string& path = "") {
  const TempFolder folder;
  for (const auto& [name, bytes] : files) WriteFile(folder / name, bytes);
  return LoadModel(path.empty() ? folder.path() : folder / path, ComputeType::kFloat32);
}

absl::StatusOr<LoadedModel> LoadTiny(const TinyMarianModel& tiny) {
  return Load({{"model.npz", tiny.Npz()}, {"vocab.yml", tiny.VocabularyYml()}});
}

std::string Error(const std::function<void(TinyMarianModel*)>& damage) {
  TinyMarianModel tiny;
  damage(&tiny);
  const absl::StatusOr<LoadedModel> loaded = LoadTiny(tiny);
  EXPECT_FALSE(loaded.ok());
  return std::string(loaded.status().message());
}

TEST(Marian, LoadsNpz) {
  const absl::StatusOr<LoadedModel> loaded = LoadTiny(TinyMarianModel());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->format, "Marian npz");
  const ModelConfig& config = loaded->model->config;
  EXPECT_EQ(config.d_model, 8);
  EXPECT_EQ(config.activation, Activation::kRelu);
  EXPECT_EQ(config.position_kind, PositionKind::kSinusoidalHalfMinusOne);
  EXPECT_EQ(config.norm_epsilon, 1e-6f);
  EXPECT_FLOAT_EQ(config.embedding_scale, std::sqrt(8.0f));
  EXPECT_EQ(config.decoder_start, -1);
  EXPECT_EQ(config.eos, 0);
  EXPECT_THAT(config.suppressed, ElementsAre(1));
  EXPECT_EQ(loaded->vocabulary.source_tokens[3], "b");
  EXPECT_EQ(loaded->shortlist, nullptr);
  EXPECT_TRUE(std::isfinite(Greedy(*loaded).score));
}

TEST(Marian, EveryContainerHoldsTheSameModel) {
  for (const bool ssru : {false, true}) {
    const TinyMarianModel tiny(ssru);
    const Hypothesis expected = Greedy(*LoadTiny(tiny));
    const std::string yml = tiny.VocabularyYml();
    const testing::Members forms[] = {{{"x.npz", tiny.Npz(true)}, {"v.yml", yml}},
                                      {{"x.bin", tiny.Bin()}, {"v.spm", tiny.VocabularySpm()}}};
    for (const testing::Members& form : forms) {
      absl::StatusOr<LoadedModel> loaded = Load(form);
      ASSERT_TRUE(loaded.ok()) << loaded.status();
      EXPECT_EQ(Greedy(*loaded).log_prob, expected.log_prob);
      loaded = Load(form, form[0].first);
      ASSERT_TRUE(loaded.ok()) << loaded.status();
    }
    // Models in intgemm8 have rounded weights, so their results are only near.
    const absl::StatusOr<LoadedModel> loaded = Load({{"x.bin", tiny.Bin(true)}, {"v.yml", yml}});
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->model->config.decoder_memory,
              ssru ? DecoderMemory::kSsru : DecoderMemory::kSelfAttention);
    EXPECT_NEAR(Greedy(*loaded).token_scores[0], expected.token_scores[0], 0.1);
  }
}

TEST(Marian, SentencePieceVocabularies) {
  const TinyMarianModel tiny;
  const absl::StatusOr<LoadedModel> loaded =
      Load({{"model.npz", tiny.Npz()}, {"vocab.spm", tiny.VocabularySpm()}});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->vocabulary.source_tokens, tiny.tokens);
  EXPECT_EQ(loaded->vocabulary.target_sentencepiece, tiny.VocabularySpm());
}

TEST(Marian, OtherForms) {
  {
    TinyMarianModel tiny(false, "_pre");
    tiny.options["transformer-preprocess"] = "n";
    tiny.options["transformer-postprocess"] = "da";
    tiny.options["transformer-postprocess-top"] = "n";
    tiny.AddNorm("encoder_top", "");
    tiny.AddNorm("decoder_top", "");
    const absl::StatusOr<LoadedModel> loaded = LoadTiny(tiny);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->model->config.norm_order, NormOrder::kPre);
    EXPECT_TRUE(std::isfinite(Greedy(*loaded).score));
  }
  {
    TinyMarianModel tiny;
    tiny.options["transformer-tied-layers"] = "\n- 1\n- 1";
    for (auto it = tiny.tensors.begin(); it != tiny.tensors.end();) {
      it = it->first.rfind("decoder_l2", 0) == 0 ? tiny.tensors.erase(it) : std::next(it);
    }
    EXPECT_TRUE(LoadTiny(tiny).ok()) << LoadTiny(tiny).status();
  }
  {
    TinyMarianModel tiny;
    tiny.options["transformer-train-position-embeddings"] = "true";
    tiny.options["max-length"] = "20";
    tiny.Add("Wpos", {20, 8});
    const absl::StatusOr<LoadedModel> loaded = LoadTiny(tiny);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->model->config.embedding_scale, 1.0f);
    EXPECT_EQ(loaded->model->config.position_kind, PositionKind::kLearned);
    EXPECT_TRUE(std::isfinite(Greedy(*loaded).score));
  }
}

TEST(Marian, OutputLayersOfTheirOwn) {
  TinyMarianModel tiny;
  const Hypothesis expected = Greedy(*LoadTiny(tiny));
  const testing::TestTensor table = tiny.tensors["Wemb"];
  tiny.tensors.erase("Wemb");
  tiny.tensors["encoder_Wemb"] = table;
  tiny.tensors["decoder_Wemb"] = table;
  tiny.options["tied-embeddings-all"] = "false";
  tiny.options["tied-embeddings"] = "true";
  EXPECT_EQ(Greedy(*LoadTiny(tiny)).log_prob, expected.log_prob);
  tiny.options["tied-embeddings"] = "false";
  tiny.tensors["decoder_ff_logit_out_Wt"] = table;
  EXPECT_EQ(Greedy(*LoadTiny(tiny)).log_prob, expected.log_prob);
  tiny.tensors.erase("decoder_ff_logit_out_Wt");
  testing::TestTensor transposed{{8, 6}, table.values};
  for (size_t r = 0; r < 6; ++r) {
    for (size_t c = 0; c < 8; ++c) transposed.values[c * 6 + r] = table.values[r * 8 + c];
  }
  tiny.tensors["decoder_ff_logit_out_W"] = transposed;
  EXPECT_EQ(Greedy(*LoadTiny(tiny)).log_prob, expected.log_prob);
  tiny.options["output-omit-bias"] = "true";
  tiny.tensors.erase("decoder_ff_logit_out_b");
  EXPECT_NE(Greedy(*LoadTiny(tiny)).log_prob, expected.log_prob);
}

// Marian 1.12 writes these options into every model of default options.
TEST(Marian, ReadsOptionsAsMarianWritesThem) {
  TinyMarianModel tiny;
  const Hypothesis expected = Greedy(*LoadTiny(tiny));
  tiny.options["input-types"] = "\n  []";
  tiny.options["transformer-tied-layers"] = "\n  []";
  tiny.options["transformer-decoder-dim-ffn"] = "0";
  tiny.options["transformer-decoder-ffn-depth"] = "0";
  tiny.options["special-vocab"] = "~";
  tiny.options["lemma-dependency"] = "\"\"";
  const absl::StatusOr<LoadedModel> loaded = LoadTiny(tiny);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(Greedy(*loaded).log_prob, expected.log_prob);
}

TEST(Marian, ReadsTheGuidedAlignmentLayer) {
  TinyMarianModel tiny;
  for (const auto& [value, layer] : {std::pair("last", -1), std::pair("1", 0), std::pair("2", 1)}) {
    tiny.options["transformer-guided-alignment-layer"] = value;
    const absl::StatusOr<LoadedModel> loaded = LoadTiny(tiny);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->model->config.alignment_layer, layer);
    EXPECT_EQ(loaded->model->config.alignment_heads, 1);
  }
}

TEST(Marian, RefusesOtherArchitecturesByName) {
  const auto with = [](const char* key, const char* value) {
    return Error([&](TinyMarianModel* t) { t->options[key] = value; });
  };
  EXPECT_THAT(with("type", "amun"),
              HasSubstr("special:model.yml: \"type\" must be \"transformer\", found \"amun\""));
  EXPECT_THAT(with("transformer-decoder-autoreg", "average-attention"),
              HasSubstr("\"transformer-decoder-autoreg\" is \"average-attention\""));
  EXPECT_THAT(with("transformer-decoder-autoreg", "rnn"), HasSubstr("dec-cell"));
  EXPECT_THAT(with("lemma-dim-emb", "4"), HasSubstr("\"lemma-dim-emb\" is 4"));
  EXPECT_THAT(with("transformer-no-projection", "true"), HasSubstr("transformer-no-projection"));
  EXPECT_THAT(with("transformer-ffn-depth", "3"), HasSubstr("\"transformer-ffn-depth\" is 3"));
  EXPECT_THAT(with("transformer-decoder-ffn-depth", "3"),
              HasSubstr("\"transformer-decoder-ffn-depth\" is 3"));
  EXPECT_THAT(with("transformer-postprocess", "danr"), HasSubstr("transformer-postprocess"));
  EXPECT_THAT(with("transformer-preprocess", "n"), HasSubstr("transformer-postprocess"));
  EXPECT_THAT(with("transformer-ffn-activation", "tanh"), HasSubstr("relu, swish or gelu"));
  EXPECT_THAT(with("transformer-tied-layers", "[1, 3]"), HasSubstr("transformer-tied-layers"));
  for (const char* layer : {"0", "3", "first"}) {
    EXPECT_THAT(with("transformer-guided-alignment-layer", layer),
                HasSubstr("\"transformer-guided-alignment-layer\" must be"));
  }
  EXPECT_THAT(with("dim-vocabs", "6"), HasSubstr("\"dim-vocabs\" must be a list of two sizes"));
  EXPECT_THAT(with("dim-emb", "0"), HasSubstr("d_model is 0"));
  EXPECT_THAT(with("enc-depth", "[a"), HasSubstr("end of sequence flow not found"));
}

TEST(Marian, NamesWhatDoesNotFit) {
  EXPECT_THAT(Error([](TinyMarianModel* t) { t->tensors.erase("decoder_l2_ffn_W1"); }),
              HasSubstr("model.npz: tensor \"decoder_l2_ffn_W1\" is missing"));
  EXPECT_THAT(Error([](TinyMarianModel* t) {
                t->Add("encoder_l1_ffn_W1", {16, 8});
              }),
              HasSubstr("\"encoder_l1_ffn_W1\" has shape [16, 8], expected [8, 16]"));
  EXPECT_THAT(Error([](TinyMarianModel* t) { t->Add("extra", {1}); }),
              HasSubstr("1 tensor of no known use: extra"));
  EXPECT_THAT(Error([](TinyMarianModel* t) { t->tokens.pop_back(); }),
              HasSubstr("vocab.yml: 5 tokens, expected 6"));
  EXPECT_THAT(Error([](TinyMarianModel* t) { t->tokens[0] = "x"; }),
              HasSubstr("vocab.yml: the token \"</s>\" is missing"));
  EXPECT_THAT(Error([](TinyMarianModel* t) {
                t->tensors["Wemb"].values[3] = std::numeric_limits<float>::quiet_NaN();
              }),
              HasSubstr("\"Wemb\" holds NaN"));
  const TinyMarianModel tiny;
  EXPECT_THAT(std::string(Load({{"model.npz", tiny.Npz()}}).status().message()),
              HasSubstr("no vocabulary (*.spm, *.yml, or a text of tokens) in it"));
  EXPECT_THAT(
      std::string(
          Load({{"a.npz", tiny.Npz()}, {"b.npz", tiny.Npz()}, {"v.yml", tiny.VocabularyYml()}})
              .status()
              .message()),
      HasSubstr("more than one model"));
  const absl::StatusOr<LoadedModel> one = Load(
      {{"a.npz", tiny.Npz()}, {"b.npz", tiny.Npz()}, {"v.yml", tiny.VocabularyYml()}}, "b.npz");
  EXPECT_TRUE(one.ok()) << one.status();
  EXPECT_THAT(std::string(Load({{"a.npz", tiny.Npz()}, {"v.fsv", "_lemma\n"}}).status().message()),
              HasSubstr("v.fsv: a factored vocabulary"));
  EXPECT_THAT(std::string(Load({{"a.npz.gz", "\x1f\x8b"}}).status().message()),
              HasSubstr("a.npz.gz: compressed by gzip"));
}

TEST(MarianBin, RefusesOtherTypesByName) {
  for (const uint64_t type : {0x801ull, 0x11001ull, 0x12001ull, 0x18001ull}) {
    const auto file = FileBytes::InMemory(
        "m.bin", testing::MarianBin({{"W", type, {1, 1}, std::string(8, '\0')}}));
    const absl::Status status = ReadMarianBin(file).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(status.message()), HasSubstr("m.bin: tensor \"W\" has type 0x"));
  }
}

TEST(MarianBin, ReadsFloat64) {
  const auto file = FileBytes::InMemory(
      "m.bin",
      testing::MarianBin({{"W", 0x408, {1, 2}, testing::Bytes(1.5) + testing::Bytes(-0.25)}}));
  const absl::StatusOr<TensorSource> source = ReadMarianBin(file);
  ASSERT_TRUE(source.ok()) << source.status();
  const TensorView& view = source->Find("W")->view;
  ASSERT_EQ(view.dtype, DType::kFloat32);
  EXPECT_EQ(static_cast<const float*>(view.data)[0], 1.5f);
  EXPECT_EQ(static_cast<const float*>(view.data)[1], -0.25f);
}

TEST(MarianBin, RefusesDamage) {
  const std::string whole =
      testing::MarianBin({{"a", 0x404, {2}, "12345678"}, {"W", 0x10001, {2, 3}, "abcdef1234"}});
  const auto read = [](const std::string& bytes) {
    return ReadMarianBin(FileBytes::InMemory("m.bin", bytes));
  };
  const absl::StatusOr<TensorSource> source = read(whole);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_TRUE(source->Find("W")->transposed);
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(read(whole.substr(0, n)).ok()) << n;
  EXPECT_FALSE(read(whole + "x").ok());
  for (const int32_t dim : {-1, 1 << 30}) {
    EXPECT_FALSE(read(testing::MarianBin({{"a", 0x404, {dim, 4, 4}, "12345678"}})).ok());
  }
  std::string count = whole;
  count.replace(8, 8, testing::Bytes<uint64_t>(uint64_t{1} << 60));
  EXPECT_FALSE(read(count).ok());
}

TEST(Npz, ReadsTypesAndRefusesTheRest) {
  const auto read = [](const std::string& npy) {
    return ReadNpz(FileBytes::InMemory("m.npz", testing::Zip({{"a.npy", npy}})));
  };
  EXPECT_EQ(read(Npy("<f4", {2, 1}, "12345678"))->Find("a")->view.shape, Shape({2, 1}));
  EXPECT_EQ(read(Npy("<f4", {}, "1234"))->Find("a")->view.shape, Shape({}));
  EXPECT_EQ(read(Npy("<f2", {2}, "1234"))->Find("a")->view.dtype, DType::kFloat16);
  const auto error = [&](const std::string& npy) {
    return std::string(read(npy).status().message());
  };
  const auto wide = read(Npy("<f8", {2}, testing::Bytes(1.5) + testing::Bytes(-0.25)));
  ASSERT_TRUE(wide.ok()) << wide.status();
  EXPECT_EQ(wide->Find("a")->view.dtype, DType::kFloat32);
  EXPECT_EQ(static_cast<const float*>(wide->Find("a")->view.data)[1], -0.25f);
  EXPECT_THAT(error(Npy("<f8", {2}, "12345678")), HasSubstr("[2] needs 16 bytes, it has 8"));
  EXPECT_EQ(
      error(Npy(">f4", {1}, "1234")),
      "m.npz: tensor \"a\" has a type that nibu does not read, '>f4', which is big-endian; save "
      "it as '<f4'");
  EXPECT_THAT(error(Npy("<c8", {1}, "12345678")), HasSubstr("does not read, '<c8'; save it"));
  EXPECT_THAT(error(Npy("<f4", {1}, "1234", "True")), HasSubstr("row by row"));
  EXPECT_THAT(error(Npy("<f4", {3}, "12345678")), HasSubstr("[3] needs 12 bytes, it has 8"));
  EXPECT_THAT(error(Npy("<f4", {-1}, "1234")), HasSubstr("shape is damaged"));
  EXPECT_THAT(error(Npy("<f4", {int64_t{1} << 62, 8}, "")), HasSubstr("impossible shape"));
  EXPECT_THAT(error("nothing"), HasSubstr("not a NumPy array"));
  EXPECT_THAT(error("\x93NUMPY\x01"), HasSubstr("not a whole"));
}

TEST(SentencePieces, AreThoseOfTheVocabulary) {
  const auto pieces =
      ReadSentencePieces(testing::ReadFile(CaptionsModelPath("source.spm")), "source.spm");
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  const auto vocabulary = nlohmann::json::parse(testing::ReadFile(CaptionsModelPath("vocab.json")));
  ASSERT_EQ(pieces->size() + 1, vocabulary.size());
  for (size_t i = 0; i < pieces->size(); ++i) EXPECT_EQ(vocabulary.value((*pieces)[i], 0u), i);
}

TEST(SentencePieces, RefuseDamage) {
  const std::string whole = testing::SentencePiece("a") + testing::SentencePiece("bc");
  EXPECT_EQ(ReadSentencePieces(whole, "f")->size(), 2u);
  for (const std::string& bad :
       {std::string(), whole.substr(0, 5), std::string("\x0b"), std::string("\x0a\xff\xff\xff\xff"),
        std::string("\x0a\x00", 2), std::string("\x08\x01"), std::string(12, '\xff')}) {
    EXPECT_FALSE(ReadSentencePieces(bad, "f").ok());
  }
}

}  // namespace
}  // namespace nibu::internal
