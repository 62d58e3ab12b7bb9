// Tests of .nibu files: models of every kind stay the same, packed and quantized weights, errors.
#include "models/native/native.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/assembly/build_model.h"
#include "models/load_model.h"
#include "models/native/model_config_json.h"
#include "models/native/unpack.h"
#include "models/writers/hugging_face_writer.h"
#include "models/writers/native_writer.h"
#include "tests/models/native_file.h"
#include "tests/models/tiny_ctranslate2.h"
#include "tests/models/tiny_marian.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Header;
using testing::ReadFile;
using testing::TempFolder;
using testing::TinyCTranslate2;
using testing::TinyMarian;
using testing::TinyMarianModel;
using ::testing::UnorderedElementsAre;
using testing::WithHeader;
using testing::WriteFile;

constexpr ComputeType kTypes[] = {ComputeType::kFloat32, ComputeType::kInt8};

// Returns tokens and scores of a few sentences, by a shortlist where the model has one.
std::vector<std::pair<std::vector<int>, float>> Translations(const LoadedModel& loaded) {
  DecodingOptions options;
  options.beam_size = 2;
  options.max_decoding_length = 8;
  auto translator = Translator::Create(loaded.model, {});
  EXPECT_TRUE(translator.ok()) << translator.status();
  std::vector<std::pair<std::vector<int>, float>> translations;
  const std::vector<std::vector<int>> sources = {{2}, {3, 2, 3}, {1, 2, 3, 0, 2, 3}};
  const auto all = (*translator)->Translate(sources, options);
  for (const auto& hypotheses : *all) {
    translations.emplace_back(hypotheses[0].tokens, hypotheses[0].score);
  }
  return translations;
}

void Convert(const std::string& model, const std::string& path, Quantization quantization) {
  absl::StatusOr<OpenedModel> opened = OpenModel(model);
  ASSERT_TRUE(opened.ok()) << opened.status();
  ASSERT_TRUE(UnpackLinears(&*opened).ok());
  const absl::Status status = WriteNative(*opened, quantization, path);
  ASSERT_TRUE(status.ok()) << status;
}

// Expects that two models are the same in some compute types.
void ExpectSameModel(const std::string& a, const std::string& b,
                     absl::Span<const ComputeType> types = kTypes) {
  for (const ComputeType type : types) {
    const absl::StatusOr<LoadedModel> first = LoadModel(a, type);
    const absl::StatusOr<LoadedModel> second = LoadModel(b, type);
    ASSERT_TRUE(first.ok()) << first.status();
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_TRUE(second->notes.empty());
    const auto expected = Translations(*first);
    const auto found = Translations(*second);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].first, expected[i].first) << ComputeTypeName(type);
      // A table of integers divides by its scales when it is converted to floats, and multiplies by
      // their reciprocals when it is read.
      EXPECT_NEAR(found[i].second, expected[i].second, 1e-6) << ComputeTypeName(type);
    }
    EXPECT_EQ(first->vocabulary.source_tokens, second->vocabulary.source_tokens);
    EXPECT_EQ(first->vocabulary.target_tokens, second->vocabulary.target_tokens);
    EXPECT_EQ(first->vocabulary.source_sentencepiece, second->vocabulary.source_sentencepiece);
    EXPECT_EQ(first->vocabulary.target_sentencepiece, second->vocabulary.target_sentencepiece);
    EXPECT_EQ(first->vocabulary.language_tokens.size(), second->vocabulary.language_tokens.size());
    EXPECT_EQ(first->vocabulary.source_language, second->vocabulary.source_language);
    EXPECT_EQ(first->vocabulary.languages.languages.size(),
              second->vocabulary.languages.languages.size());
    EXPECT_EQ(first->defaults.beam_size, second->defaults.beam_size);
    EXPECT_EQ(first->defaults.length_penalty, second->defaults.length_penalty);
    EXPECT_EQ(first->defaults.max_length_factor, second->defaults.max_length_factor);
    EXPECT_EQ(ConfigToJson(first->model->config), ConfigToJson(second->model->config));
    ASSERT_EQ(first->shortlist == nullptr, second->shortlist == nullptr);
    if (first->shortlist == nullptr) continue;
    EXPECT_EQ(first->shortlist->Candidates({2, 3}, 6, {0}),
              second->shortlist->Candidates({2, 3}, 6, {0}));
  }
}

// Expects that the model at `path` stays the same, written with packed weights and without.
void ExpectNativeIsTheSame(const std::string& path) {
  SCOPED_TRACE(path);
  const TempFolder folder;
  Convert(path, folder / "plain.nibu", {});
  ExpectSameModel(path, folder / "plain.nibu");
  for (const ComputeType type : kTypes) {
    Convert(path, folder / "packed.nibu", type);
    ExpectSameModel(path, folder / "packed.nibu", {type});
    // Packing can be undone: the same file comes of the packed one and of its tensors.
    Convert(folder / "packed.nibu", folder / "again.nibu", {});
    ExpectSameModel(path, folder / "again.nibu", {type});
    Convert(folder / "again.nibu", folder / "again.nibu", type);
    EXPECT_EQ(ReadFile(folder / "packed.nibu"), ReadFile(folder / "again.nibu"));
  }
}

TEST(Native, HoldsModelsOfEveryKind) {
  const TempFolder folder;
  TinyMarian().Write(folder);
  ExpectNativeIsTheSame(folder.path());
  for (const char* name : {"m2m", "nllb", "mbart", "mbart50", "t5", "madlad", "fairseq-new",
                           "fairseq-old", "opennmt-2", "opennmt-3", "opennmt-relative"}) {
    ExpectNativeIsTheSame(TestdataPath(name));
  }
}

TEST(Native, HoldsMarianModels) {
  for (const bool ssru : {false, true}) {
    const TinyMarianModel tiny(ssru);
    const TempFolder folder;
    WriteFile(folder / "m.bin", tiny.Bin(/*intgemm8=*/ssru));
    WriteFile(folder / "v.spm", tiny.VocabularySpm());
    WriteFile(folder / "lex", "a b 0.5\nb a 0.5\nc c 0.9\n");
    WriteFile(folder / "decoder.yml",
              "models:\n- m.bin\nvocabs: [v.spm, v.spm]\nbeam-size: 5\nnormalize: 0.5\n"
              "shortlist:\n- lex\n- 2\n- 2\n");
    ExpectNativeIsTheSame(folder.path());
  }
}

TEST(Native, HoldsCTranslate2Models) {
  for (const uint8_t type : {0, 1, 2}) {
    const TempFolder folder;
    TinyCTranslate2 tiny(6, type);
    tiny.AddScalar("decoder/alignment_layer", 0);
    tiny.AddScalar("decoder/alignment_heads", 2);
    tiny.Write(folder);
    WriteFile(folder / "config.json", R"({"add_source_eos": true, "layer_norm_epsilon": 1e-6})");
    WriteFile(folder / "vmap.txt", "\tx\na\tx <s>\na b\tx\n");
    ExpectNativeIsTheSame(folder.path());
  }
}

TEST(Native, PackedLinearsAndTablesStayInTheFile) {
  const TempFolder folder;
  TinyMarian().Write(folder);
  Convert(folder.path(), folder / "m.nibu", ComputeType::kFloat32);
  absl::StatusOr<OpenedModel> opened = OpenModel(folder / "m.nibu");
  ASSERT_TRUE(opened.ok()) << opened.status();
  TensorSource& source = *opened->source;
  const auto model =
      BuildModel(opened->config, opened->names, ComputeType::kFloat32, &source).value();
  const auto& linears = source.packed().linears;
  EXPECT_EQ(model->weights.encoder[1].self.qkv.packed_bytes().data(),
            linears.at("encoder.1.self.q.weight").data());
  EXPECT_EQ(model->weights.decoder[0].ffn.down.packed_bytes().data(),
            linears.at("decoder.0.ffn.down.weight").data());
  EXPECT_EQ(model->weights.output.blocks[0].packed_bytes().data(),
            linears.at("output.weight/0").data());
  EXPECT_EQ(model->weights.source.tokens, model->weights.target.tokens);
  // Every weight is there once, so that there are no tensors of linears, and no table that is tied
  // to the output layer.
  EXPECT_EQ(source.Find("encoder.tokens"), nullptr);
  EXPECT_EQ(source.Find("output.weight"), nullptr);
  EXPECT_EQ(source.Find("encoder.1.self.q.bias"), nullptr);
  EXPECT_EQ(model->weights.source.tokens->bytes(), 0u);
}

TEST(Native, PackedForAnotherCpu) {
  const TempFolder folder;
  TinyMarian().Write(folder);
  Convert(folder.path(), folder / "m.nibu", ComputeType::kFloat32);
  WriteFile(folder / "other.nibu", WithHeader(ReadFile(folder / "m.nibu"), [](auto* header) {
              (*header)["linears"]["fingerprint"] = "z80, oneDNN 1.0";
            }));
  const absl::StatusOr<LoadedModel> loaded =
      LoadModel(folder / "other.nibu", ComputeType::kFloat32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(loaded->notes,
              ElementsAre(HasSubstr("other.nibu: its packed weights are for z80, oneDNN 1.0")));
  EXPECT_EQ(loaded->notes[0].find('\n'), std::string::npos);
  EXPECT_EQ(Translations(*loaded), Translations(*LoadModel(folder.path(), ComputeType::kFloat32)));
  EXPECT_TRUE(LoadModel(folder / "other.nibu", ComputeType::kInt8)->notes.empty());
}

// Files of older versions have packed linears beside all tensors.
TEST(Native, OlderPackedLinearsAreNotUsed) {
  const TempFolder folder;
  TinyMarian().Write(folder);
  Convert(folder.path(), folder / "m.nibu", {});
  WriteFile(folder / "old.nibu", WithHeader(ReadFile(folder / "m.nibu"), [](auto* header) {
              (*header)["packed"] = {{"compute_type", "int8"},
                                     {"fingerprint", PackFingerprint()},
                                     {"linears", {{"output.weight/0", {64, 64, 0}}}}};
            }));
  ExpectSameModel(folder.path(), folder / "old.nibu");
}

// Each file was written by a released nibu-convert, and is never written anew.
TEST(Native, ReadsFilesOfEveryVersion) {
  for (uint32_t version = kOldestNativeVersion; version <= kNativeVersion; ++version) {
    const std::string path = TestdataPath(absl::StrCat("native/version_", version, ".nibu"));
    EXPECT_EQ(ReadFile(path)[8], static_cast<char>(version));
    ExpectSameModel(TestdataPath("t5"), path);
  }
}

TEST(Native, TiedLayersAreOne) {
  TinyMarianModel tiny;
  tiny.options["transformer-tied-layers"] = "\n- 1\n- 1";
  for (auto it = tiny.tensors.begin(); it != tiny.tensors.end();) {
    it = it->first.rfind("decoder_l2_", 0) == 0 ? tiny.tensors.erase(it) : std::next(it);
  }
  const TempFolder folder;
  WriteFile(folder / "model.npz", tiny.Npz());
  WriteFile(folder / "vocab.spm", tiny.VocabularySpm());
  ExpectNativeIsTheSame(folder.path());
  const std::pair<Quantization, ComputeType> kinds[] = {{{}, ComputeType::kFloat32},
                                                        {{}, ComputeType::kInt8},
                                                        {ComputeType::kInt8, ComputeType::kInt8}};
  for (const auto& [quantization, type] : kinds) {
    Convert(folder.path(), folder / "m.nibu", quantization);
    const auto loaded = LoadModel(folder / "m.nibu", type);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    const auto& decoder = loaded->model->weights.decoder;
    EXPECT_EQ(decoder[0].cross.kv.packed(), decoder[1].cross.kv.packed());
    EXPECT_NE(decoder[0].cross.kv.packed(), loaded->model->weights.encoder[0].self.qkv.packed());
  }
}

// Equal bytes of layers with other shapes or activations are not shared.
TEST(Native, EqualBytesAreNotEqualMaps) {
  const TempFolder folder;
  TinyMarian tiny;
  for (auto& [name, tensor] : tiny.tensors) {
    if (name.find("layers.0.fc") == std::string::npos) continue;
    std::fill(tensor.values.begin(), tensor.values.end(), 0.5f);
  }
  tiny.Write(folder);
  ExpectNativeIsTheSame(folder.path());
}

// Returns how many tensors have each type.
std::map<std::string, int> Types(const std::string& file) {
  std::map<std::string, int> types;
  const nlohmann::json header = Header(ReadFile(file));
  for (const auto& [name, tensor] : header["tensors"].items()) {
    ++types[tensor["dtype"].template get<std::string>()];
  }
  return types;
}

TEST(Native, QuantizationStoresMatricesInItsType) {
  const TempFolder folder;
  TinyMarian().Write(folder);
  const std::string path = folder / "m.nibu";
  // There are 2 tables, 1 bias, 36 linear layers (the output layer included) with 35 biases, and 10
  // norms of 2 tensors.
  Convert(folder.path(), path, {});
  const int all = Types(path)["float32"];
  EXPECT_THAT(Types(path), UnorderedElementsAre(std::make_pair("float32", all)));
  // Linears, and the tables that are tied to one, are packed. The norms are left.
  Convert(folder.path(), path, ComputeType::kInt8);
  EXPECT_THAT(Types(path), UnorderedElementsAre(std::make_pair("float32", 10 * 2)));
  // Weights are quantized equally at conversion and at loading.
  EXPECT_EQ(Translations(*LoadModel(folder.path(), ComputeType::kInt8)),
            Translations(*LoadModel(path, ComputeType::kInt8)));
  // A CPU that has no kernels for a type gets tensors of it.
  Convert(folder.path(), path, ComputeType::kBFloat16);
  const int maps = 2 * 6 + 2 * 10 + 1;
  if (!IsSupported(ComputeType::kBFloat16)) {
    EXPECT_THAT(Types(path), UnorderedElementsAre(std::make_pair("float32", all - maps - 2),
                                                  std::make_pair("bfloat16", maps + 2)));
  }
  Convert(path, path, ComputeType::kFloat32);  // It replaces the file that it reads.
  EXPECT_THAT(Types(path), UnorderedElementsAre(std::make_pair("float32", 10 * 2)));
}

TEST(Native, KeepsInt8) {
  const TempFolder folder;
  TinyCTranslate2 tiny(6, /*type_of_weights=*/1);
  tiny.Write(folder);
  absl::StatusOr<OpenedModel> before = OpenModel(folder.path());
  ASSERT_TRUE(before.ok()) << before.status();
  for (const Quantization quantization : {Quantization(), Quantization(ComputeType::kInt8)}) {
    ASSERT_TRUE(WriteNative(*before, quantization, folder / "m.nibu").ok());
    absl::StatusOr<OpenedModel> after = OpenModel(folder / "m.nibu");
    ASSERT_TRUE(after.ok()) << after.status();
    ASSERT_TRUE(UnpackLinears(&*after).ok());
    const StoredTensor& fused =
        *before->source->Find("encoder/layer_0/self_attention/linear_0/weight");
    const size_t part = fused.view.bytes() / 3;
    for (size_t i = 0; i < 3; ++i) {
      const StoredTensor& split = *after->source->Find(absl::StrCat("encoder.0.self.",
                                                                    i == 0   ? "q"
                                                                    : i == 1 ? "k"
                                                                             : "v",
                                                                    ".weight"));
      ASSERT_EQ(split.view.bytes(), part);
      EXPECT_EQ(
          std::memcmp(split.view.data, static_cast<const char*>(fused.view.data) + i * part, part),
          0);
      EXPECT_EQ(split.scales, fused.scales.subspan(i * 8, 8));
    }
  }
}

// int16 is quantized, too.
TEST(Native, Int8OfInt16) {
  const TempFolder folder;
  TinyCTranslate2(6, /*type_of_weights=*/2).Write(folder);
  const std::string path = folder / "m.nibu";
  Convert(folder.path(), path, {});
  std::map<std::string, int> types = Types(path);
  EXPECT_EQ(types["int16"], 2 + 17);
  EXPECT_EQ(types["int8"], 0);
  Convert(folder.path(), path, ComputeType::kInt8);
  types = Types(path);
  EXPECT_EQ(types["int16"], 0);
  EXPECT_EQ(types["int8"], 1);  // the source's table; the target's is tied to the output layer
  EXPECT_EQ(Translations(*LoadModel(folder.path(), ComputeType::kInt8)),
            Translations(*LoadModel(path, ComputeType::kInt8)));
}

std::string Error(const TempFolder& folder, const std::string& bytes) {
  WriteFile(folder / "damaged.nibu", bytes);
  const auto loaded = LoadModel(folder / "damaged.nibu", ComputeType::kFloat32);
  EXPECT_FALSE(loaded.ok());
  const std::string message(loaded.status().message());
  EXPECT_THAT(message, HasSubstr("damaged.nibu: "));
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

TEST(Native, NamesWhatIsWrong) {
  const TempFolder folder;
  TinyMarian().Write(folder);
  Convert(folder.path(), folder / "m.nibu", ComputeType::kFloat32);
  const std::string good = ReadFile(folder / "m.nibu");
  const auto error = [&](const std::function<void(nlohmann::json*)>& change) {
    return Error(folder, WithHeader(good, change));
  };
  for (const size_t size : {8u, 40u, 64u, 1000u}) {
    EXPECT_THAT(Error(folder, good.substr(0, size)), HasSubstr("not a whole .nibu file"));
  }
  EXPECT_THAT(Error(folder, good + "x"), HasSubstr("its header is said to be"));
  std::string other = good;
  for (const uint32_t version : {kOldestNativeVersion - 1, kNativeVersion + 1}) {
    other[8] = static_cast<char>(version);
    const std::string said = Error(folder, other);
    EXPECT_THAT(said, HasSubstr(absl::StrCat(".nibu version ", version, " is not supported")));
    EXPECT_THAT(said, HasSubstr("again: nibu-convert --model=ORIGINAL --out="));
    EXPECT_EQ(absl::StrContains(said, "newer nibu"), version > kNativeVersion);
  }
  other = good;
  other.back() = ' ';
  EXPECT_THAT(Error(folder, other), HasSubstr("its header is damaged"));
  EXPECT_THAT(error([](auto* h) { (*h)["more"] = 1; }), HasSubstr("unknown field \"more\""));
  EXPECT_THAT(error([](auto* h) { (*h)["config"]["colour"] = 1; }),
              HasSubstr("unknown field \"colour\""));
  EXPECT_THAT(error([](auto* h) { (*h)["config"]["activation"] = "step"; }),
              HasSubstr("\"activation\" must be none, relu, gelu"));
  EXPECT_THAT(error([](auto* h) { (*h)["config"]["vocab_source"] = 8; }),
              HasSubstr("\"source_tokens\" has 7 tokens, expected 8"));
  const std::string norm = "encoder.0.ffn.norm.gamma";
  const auto change_norm = [&](const char* key, const nlohmann::json& value) {
    return error([&](auto* h) { (*h)["tensors"][norm][key] = value; });
  };
  EXPECT_THAT(change_norm("shape", {4, 2}),
              HasSubstr("tensor \"encoder.0.ffn.norm.gamma\" has shape [4, 2], expected [8]"));
  EXPECT_THAT(change_norm("shape", {9}), HasSubstr("needs 36 bytes, it has 32"));
  EXPECT_THAT(change_norm("data", {1 << 30, 32, 0}), HasSubstr("gamma\" lies outside the data"));
  EXPECT_THAT(change_norm("data", {65, 32, 0}), HasSubstr("lies outside the data"));
  EXPECT_THAT(error([&](auto* h) { (*h)["tensors"].erase(norm); }),
              HasSubstr("tensor \"encoder.0.ffn.norm.gamma\" is missing"));
  EXPECT_THAT(error([&](auto* h) { (*h)["tensors"]["more"] = (*h)["tensors"][norm]; }),
              HasSubstr("of no known use: more"));
  EXPECT_THAT(error([](auto* h) { (*h)["linears"]["packed"].erase("encoder.0.ffn.up.weight"); }),
              HasSubstr("tensor \"encoder.0.ffn.up.weight\" is missing"));
  EXPECT_THAT(error([](auto* h) {
                (*h)["linears"]["packed"]["encoder.0.ffn.up.weight"] =
                    (*h)["linears"]["packed"]["encoder.0.ffn.down.weight"];
              }),
              HasSubstr("the packed form of \"encoder.0.ffn.up.weight\": it is another linear"));
  EXPECT_THAT(error([](auto* h) { (*h)["linears"]["packed"]["encoder.0.ffn.up.weight"][1] = 100; }),
              HasSubstr("the packed form of \"encoder.0.ffn.up.weight\": "));
}

TEST(Native, VerifyReadsEveryByte) {
  const TempFolder folder;
  TinyMarian().Write(folder);
  Convert(folder.path(), folder / "m.nibu", ComputeType::kFloat32);
  const std::string good = ReadFile(folder / "m.nibu");
  EXPECT_TRUE(VerifyNative(*FileBytes::InMemory("m.nibu", good)).ok());
  const nlohmann::json header = Header(good);
  const auto damage = [&](const nlohmann::json& block) {
    std::string damaged = good;
    damaged[block[0].get<size_t>() + block[1].get<size_t>() / 2] ^= 1;
    return std::string(VerifyNative(*FileBytes::InMemory("m.nibu", damaged)).message());
  };
  EXPECT_THAT(damage(header["tensors"]["decoder.1.cross.norm.gamma"]["data"]),
              HasSubstr("the checksum of \"decoder.1.cross.norm.gamma\" is wrong"));
  EXPECT_THAT(damage(header["linears"]["packed"]["output.weight/0"]),
              HasSubstr("the checksum of \"output.weight/0\" is wrong"));
  EXPECT_THAT(damage(header["vocabulary"]["source_tokens"]), HasSubstr("checksum"));
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

TEST(Native, AFailureLeavesNothingBehind) {
  const TempFolder folder;
  TinyMarian tiny;
  tiny.tensors["model.decoder.layers.1.fc2.weight"].values[5] =
      std::numeric_limits<float>::quiet_NaN();
  tiny.Write(folder);
  const TempFolder out;
  const auto opened = OpenModel(folder.path());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_THAT(std::string(WriteNative(*opened, {}, out / "m.nibu").message()),
              HasSubstr("\"model.decoder.layers.1.fc2.weight\" holds NaN or infinite values"));
  EXPECT_THAT(FilesIn(out.path()), ElementsAre());
  WriteFile(out / "m.nibu", "old");
  EXPECT_FALSE(WriteNative(*opened, {}, out / "m.nibu").ok());
  EXPECT_THAT(FilesIn(out.path()), ElementsAre("m.nibu"));
  EXPECT_EQ(ReadFile(out / "m.nibu"), "old");
  EXPECT_FALSE(WriteHuggingFace(*opened, {}, out / "hf").ok());
  EXPECT_THAT(FilesIn(out.path()), ElementsAre("m.nibu"));
  EXPECT_THAT(std::string(WriteNative(*opened, {}, out / "no/m.nibu").message()),
              HasSubstr("no/m.nibu"));
}

}  // namespace
}  // namespace nibu::internal
