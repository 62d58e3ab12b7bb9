// Tests of the readers of pickles and PyTorch files, and of weights in every format.
#include "models/containers/torch_file.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/containers/safetensors.h"
#include "models/containers/weights_file.h"
#include "models/files/pickle.h"
#include "models/load_model.h"
#include "tests/models/archives.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using testing::Members;
using testing::PickleInt;
using testing::PickleTensor;
using testing::PickleText;
using testing::TempFolder;
using testing::TinyMarian;
using testing::WriteFile;

constexpr absl::string_view kGlobals[] = {"collections OrderedDict", "m f"};
const std::string kProto = "\x80\x02";

absl::StatusOr<Pickle> ReadPickle(const std::string& bytes) {
  size_t consumed = 0;
  absl::StatusOr<Pickle> pickle = Pickle::Read(bytes, "p", kGlobals, &consumed);
  if (pickle.ok()) {
    EXPECT_EQ(consumed, bytes.size());
  }
  return pickle;
}

std::string PickleError(const std::string& bytes) {
  return std::string(ReadPickle(bytes).status().message());
}

TEST(Pickle, ReadsValues) {
  const std::string bytes = kProto + "(" + PickleInt(-2) + "K\xff" + "M\x01\x02" +
                            std::string("\x8a\x02\x00\xff", 4) + "G" +
                            std::string("\x3f\xf8\0\0\0\0\0\0", 8) + "N\x88\x89" + PickleText("ä") +
                            "](K\x01K\x02"
                            "e" +
                            "}" + PickleText("k") + "K\x07s" + "t.";
  const absl::StatusOr<Pickle> pickle = ReadPickle(bytes);
  ASSERT_TRUE(pickle.ok()) << pickle.status();
  const Pickle& p = *pickle;
  const PickleValue& root = p[p.root()];
  ASSERT_EQ(root.items.size(), 11u);
  EXPECT_EQ(p[root.items[0]].integer, -2);
  EXPECT_EQ(p[root.items[1]].integer, 255);
  EXPECT_EQ(p[root.items[2]].integer, 513);
  EXPECT_EQ(p[root.items[3]].integer, -256);
  EXPECT_EQ(p[root.items[4]].number, 1.5);
  EXPECT_TRUE(p.Is(root.items[5], PickleValue::Kind::kNone));
  EXPECT_EQ(p[root.items[6]].integer, 1);
  EXPECT_EQ(p[root.items[7]].integer, 0);
  EXPECT_EQ(p[root.items[8]].text, "ä");
  EXPECT_EQ(p[root.items[9]].items.size(), 2u);
  EXPECT_EQ(p.Find(p[root.items[10]], "k")->integer, 7);
  EXPECT_EQ(p.Find(p[root.items[10]], "x"), nullptr);
}

TEST(Pickle, CallsBecomeValues) {
  const absl::StatusOr<Pickle> pickle = ReadPickle(kProto + "cm\nf\n(K\x05tR}b.");
  ASSERT_TRUE(pickle.ok()) << pickle.status();
  const PickleValue& call = (*pickle)[pickle->root()];
  EXPECT_EQ(call.kind, PickleValue::Kind::kCall);
  EXPECT_EQ((*pickle)[call.items[0]].text, "m f");
  EXPECT_EQ(call.items.size(), 3u);
}

TEST(Pickle, RefusesWhatIsNotOnTheList) {
  EXPECT_THAT(PickleError(kProto + "cos\nsystem\n(" + PickleText("true") + "tR."),
              HasSubstr("p: refers to \"os system\""));
  EXPECT_THAT(PickleError(kProto + PickleText("os") + PickleText("system") + "\x93."),
              HasSubstr("\"os system\""));
  EXPECT_THAT(PickleError(kProto + "(ios\nsystem\n."), HasSubstr("opcode 0x69"));
  EXPECT_THAT(PickleError(kProto + "\x82\x01."), HasSubstr("opcode 0x82"));
}

TEST(Pickle, RefusesDamage) {
  const std::string good = kProto + "(" + PickleText("key") +
                           "q\x01h\x01](K\x01"
                           "eK\x05td" +
                           ".";
  for (const std::string& bad :
       {kProto + ".", kProto + "K\x01K\x01.", kProto + "(.", kProto + "t.", kProto + "h\x05.",
        kProto + "K\x01R.", kProto + "K\x01)R.", kProto + "K\x01K\x02s.", kProto + "]K\x01K\x01s.",
        kProto + "(K\x01"
                 "d.",
        kProto + "}(K\x01u.", kProto + "K\x01}b.", kProto + "q\x01.",
        kProto + "X\xff\xff\xff\x7fq.", kProto + std::string("\x8a\x09\1\1\1\1\1\1\1\1\1.", 12),
        kProto + "(\x85.", kProto + "(0.", std::string("\x80\x09N.", 4), good}) {
    EXPECT_FALSE(ReadPickle(bad).ok());
  }
}

TEST(Pickle, HostileOnesStaySmall) {
  EXPECT_THAT(PickleError(kProto + std::string(2'000'000, ']')), HasSubstr("too many values"));
  EXPECT_THAT(PickleError(kProto + std::string(2'000'000, '(')), HasSubstr("too many values"));
  std::string doubled = kProto + "]q\x01";
  for (int i = 0; i < 5'000'000; ++i) doubled += "h\x01";
  EXPECT_THAT(PickleError(doubled), HasSubstr("too many values"));
}

absl::StatusOr<TensorSource> ReadTorch(const std::string& bytes) {
  const absl::StatusOr<TorchFile> torch = TorchFile::Open(FileBytes::InMemory("m.bin", bytes));
  if (!torch.ok()) return torch.status();
  return torch->Tensors(torch->pickle()[torch->pickle().root()]);
}

std::string TorchError(const std::string& bytes) {
  return std::string(ReadTorch(bytes).status().message());
}

// Returns a PyTorch file of one tensor "w" over a storage "0" with the bytes `storage`.
std::string OneTensor(const std::string& tensor, const std::string& storage) {
  return testing::Zip(
      {{"a/data.pkl", kProto + "}" + PickleText("w") + tensor + "s."}, {"a/data/0", storage}});
}

TEST(TorchFile, BothForms) {
  const testing::TestTensors tensors = {
      {"a", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"b", {{2}, {7, 8}}}, {"c", {{}, {9}}}};
  for (const bool stream : {false, true}) {
    absl::StatusOr<TensorSource> source = ReadTorch(testing::TorchFile(tensors, stream));
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_EQ(source->size(), 3u);
    for (const auto& [name, tensor] : tensors) {
      const StoredTensor* stored = source->Find(name);
      ASSERT_NE(stored, nullptr);
      EXPECT_EQ(stored->view.shape, Shape(tensor.shape.begin(), tensor.shape.end()));
      EXPECT_EQ(std::memcmp(stored->view.data, tensor.values.data(), stored->view.bytes()), 0);
    }
  }
}

TEST(TorchFile, TensorsMayShareAStorage) {
  const std::string pickle =
      kProto + "(" + PickleText("a") + PickleTensor("HalfStorage", "0", 6, 0, {2, 3}, {3, 1}) +
      PickleText("b") + PickleTensor("HalfStorage", "0", 6, 2, {1, 4}, {99, 1}) + "d.";
  const absl::StatusOr<TensorSource> source =
      ReadTorch(testing::Zip({{"a/data.pkl", pickle}, {"a/data/0", "001122334455"}}));
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(source->Find("a")->view.dtype, DType::kFloat16);
  EXPECT_EQ(static_cast<const char*>(source->Find("b")->view.data),
            static_cast<const char*>(source->Find("a")->view.data) + 4);
}

TEST(TorchFile, RefusesTensorsThatDoNotFit) {
  const std::string four(16, 'x');
  const auto tensor = [&](int64_t elements, int64_t first, const std::vector<int64_t>& shape,
                          const std::vector<int64_t>& strides) {
    return TorchError(
        OneTensor(PickleTensor("FloatStorage", "0", elements, first, shape, strides), four));
  };
  EXPECT_EQ(tensor(4, 0, {2, 2}, {2, 1}), "");
  EXPECT_THAT(tensor(4, 1, {2, 2}, {2, 1}),
              HasSubstr("\"w\" of shape [2, 2] at element 1 does not fit"));
  EXPECT_THAT(tensor(4, -1, {2}, {1}), HasSubstr("does not fit"));
  EXPECT_EQ(tensor(4, 0, {2, 2}, {1, 2}), "");  // This is the transpose.
  EXPECT_THAT(tensor(4, 0, {2, 2}, {1, 1}), HasSubstr("not stored row by row"));
  EXPECT_THAT(tensor(4, 0, {2, 2}, {2, 2}), HasSubstr("not stored row by row"));
  EXPECT_THAT(tensor(4, 0, {2, 3}, {1, 2}), HasSubstr("does not fit"));
  EXPECT_THAT(tensor(4, 0, {2, 2}, {1}), HasSubstr("strides"));
  EXPECT_THAT(tensor(4, 0, {-4}, {1}), HasSubstr("impossible shape"));
  EXPECT_THAT(tensor(4, 0, {1 << 30, 1, 1}, {1, 1, 1}), HasSubstr("does not fit"));
  EXPECT_THAT(tensor(5, 0, {2, 2}, {2, 1}), HasSubstr("storage 0 has 16 bytes, expected 5"));
  EXPECT_EQ(TorchError(OneTensor(PickleTensor("DoubleStorage", "0", 2, 0, {2}, {1}), four)), "");
  EXPECT_THAT(
      TorchError(OneTensor(
          PickleTensor("DoubleStorage", "0", 2, 0, {1 << 30, 1 << 30, 4, 0}, {0, 0, 0, 1}), four)),
      HasSubstr("impossible shape"));
  EXPECT_THAT(TorchError(OneTensor(PickleTensor("FloatStorage", "1", 4, 0, {4}, {1}), four)),
              HasSubstr("no storage 1"));
  EXPECT_THAT(TorchError(OneTensor("K\x01", four)), HasSubstr("\"w\" is not a tensor"));
  EXPECT_THAT(TorchError(OneTensor("cposix\nsystem\n)R", four)), HasSubstr("\"posix system\""));
  EXPECT_THAT(TorchError(testing::Zip({{"a/data.pkl", kProto + "K\x01."}})),
              HasSubstr("not a dictionary"));
}

TEST(TorchFile, RefusesOtherFiles) {
  EXPECT_THAT(TorchError("nothing"), HasSubstr("m.bin: not a whole PyTorch file"));
  EXPECT_THAT(TorchError(testing::Zip({{"a/b", "c"}})), HasSubstr("not a PyTorch file"));
  EXPECT_THAT(TorchError(testing::Zip({{"a/data.pkl", kProto + "}."}, {"a/constants.pkl", ""}})),
              HasSubstr("TorchScript"));
  EXPECT_THAT(TorchError(testing::Zip({{"a/data.pkl", kProto + "}."}, {"a/byteorder", "big"}})),
              HasSubstr("little-endian"));
}

TEST(TorchFile, RefusesTruncatedStreams) {
  const std::string whole = testing::TorchFile({{"a", {{2}, {1, 2}}}}, true);
  ASSERT_TRUE(ReadTorch(whole).ok()) << ReadTorch(whole).status();
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(ReadTorch(whole.substr(0, n)).ok()) << n;
  EXPECT_THAT(TorchError(whole + "x"), HasSubstr("goes on"));
}

// The same weights load as the same model from every format.
TEST(WeightsFile, EveryForm) {
  const TinyMarian tiny;
  testing::TestTensors halves[2];
  nlohmann::json map;
  for (const auto& [name, tensor] : tiny.tensors) {
    const int part = map.size() % 2 == 0 ? 0 : 1;
    halves[part][name] = tensor;
    map[name] = part == 0 ? "one" : "two";
  }
  const std::string index =
      nlohmann::json{{"metadata", {{"total_size", 1}}}, {"weight_map", map}}.dump();
  const std::vector<Members> forms = {
      {{"pytorch_model.bin", testing::TorchFile(tiny.tensors, false)}},
      {{"pytorch_model.bin", testing::TorchFile(tiny.tensors, true)}},
      {{"model.safetensors", testing::TorchFile(tiny.tensors, true)}},
      {{"model.safetensors.index.json", index},
       {"one", testing::Safetensors(halves[0])},
       {"two", testing::Safetensors(halves[1])}},
      {{"pytorch_model.bin.index.json", index},
       {"one", testing::TorchFile(halves[0], false)},
       {"two", testing::TorchFile(halves[1], true)}}};
  for (const Members& files : forms) {
    const TempFolder folder;
    tiny.Write(folder);
    std::filesystem::remove(folder / "model.safetensors");
    for (const auto& [name, bytes] : files) WriteFile(folder / name, bytes);
    absl::StatusOr<TensorSource> source = OpenWeights(folder.path());
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_EQ(source->size(), tiny.tensors.size());
    const absl::StatusOr<LoadedModel> loaded = LoadModel(folder.path(), ComputeType::kFloat32);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
  }
}

TEST(WeightsFile, ShardsThatDoNotFit) {
  const auto error = [](const nlohmann::json& map, const Members& files) {
    const TempFolder folder;
    WriteFile(folder / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
    for (const auto& [name, bytes] : files) WriteFile(folder / name, bytes);
    return std::string(OpenWeights(folder.path()).status().message());
  };
  const std::string a = testing::Safetensors({{"a", {{1}, {1}}}});
  EXPECT_EQ(error({{"a", "f"}}, {{"f", a}}), "");
  EXPECT_THAT(error({{"a", "f"}}, {}), HasSubstr("f: no such file"));
  // The second one is a tied copy, which is left out.
  EXPECT_EQ(error({{"a", "f"}, {"b", "f"}}, {{"f", a}}), "");
  EXPECT_THAT(error({{"b", "g"}, {"a", "f"}},
                    {{"f", testing::Safetensors({{"a", {{1}, {1}}}, {"c", {{1}, {1}}}})},
                     {"g", testing::Safetensors({{"b", {{1}, {1}}}})}}),
              HasSubstr("f: tensor \"c\" is not in "));
  EXPECT_THAT(error({{"a", "../f"}}, {}), HasSubstr("not a name in this directory"));
  EXPECT_THAT(error("x", {}), HasSubstr("\"weight_map\" must be an object"));
}

TEST(WeightsFile, RealFilesHoldTheSameWeights) {
  const std::string models = SharedPath("models/");
  if (!std::filesystem::exists(models + "en-de-hf-torch")) {
    GTEST_SKIP() << models << " is not there";
  }
  const absl::StatusOr<TensorSource> expected = OpenWeights(models + "en-de-hf");
  const absl::StatusOr<TensorSource> zip = OpenWeights(models + "en-de-hf-torch");
  const absl::StatusOr<TensorSource> stream = OpenWeights(models + "en-de-hf-torch-legacy");
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(zip.ok()) << zip.status();
  ASSERT_TRUE(stream.ok()) << stream.status();
  for (const char* name : {"model.shared.weight", "final_logits_bias",
                           "model.decoder.layers.2.encoder_attn.v_proj.weight"}) {
    const TensorView& view = expected->Find(name)->view;
    for (const auto* source : {&*zip, &*stream}) {
      const StoredTensor* stored = source->Find(name);
      ASSERT_NE(stored, nullptr);
      EXPECT_EQ(stored->view.shape, view.shape);
      EXPECT_EQ(std::memcmp(stored->view.data, view.data, view.bytes()), 0);
    }
  }
  EXPECT_EQ(zip->Find("lm_head.weight")->view.data, zip->Find("model.shared.weight")->view.data);
  for (const char* model : {"en-de-hf-torch", "en-de-hf-torch-legacy"}) {
    const absl::StatusOr<LoadedModel> loaded = LoadModel(models + model, ComputeType::kFloat32);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
  }
}

}  // namespace
}  // namespace nibu::internal
