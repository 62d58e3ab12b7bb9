// Tests that files of other programs are refused by their name, with advice on what to do.
#include "models/files/foreign.h"

#include <string>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "models/vocabulary/vocabulary_file.h"
#include "tests/models/archives.h"
#include "tests/models/files.h"

namespace nibu::internal {
namespace {

using ::testing::AllOf;
using testing::Gzip;
using ::testing::HasSubstr;
using testing::TempFolder;
using testing::WriteFile;

constexpr char kPointer[] =
    "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";

std::string Error(const std::string& path) {
  return std::string(OpenModel(path).status().message());
}

std::string Tar() {
  std::string block(1024, '\0');
  block.replace(0, 9, "model.bin");
  block.replace(257, 5, "ustar");
  return block;
}

TEST(Foreign, GitLfsPointersWhateverTheyStandFor) {
  for (const char* name : {"model.safetensors", "config.json", "vocab.json"}) {
    const TempFolder folder;
    testing::TinyMarian().Write(folder);
    WriteFile(folder / name, kPointer);
    EXPECT_EQ(Error(folder.path()),
              (folder / name) + ": this is a Git LFS pointer: run git lfs pull");
  }
  for (const char* name : {"model.npz", "model.bin", "m.pt", "m.nibu"}) {
    const TempFolder folder;
    WriteFile(folder / name, kPointer);
    EXPECT_THAT(Error(folder / name), HasSubstr("Git LFS pointer")) << name;
    EXPECT_THAT(Error(folder.path()), HasSubstr("Git LFS pointer")) << name;
  }
}

TEST(Foreign, GitLfsPointersWithinAnotherFile) {
  const absl::Status status = ReadSentencePieces(kPointer, "m.nibu").status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_EQ(status.message(), "m.nibu: this is a Git LFS pointer: run git lfs pull");
}

TEST(Foreign, FilesByTheirBytesAndNames) {
  const struct {
    const char* name;
    std::string bytes;
    const char* what;
    const char* way_out;
  } kCases[] = {
      {"m.zip", testing::Zip({{"model/config.json", "{}"}}), "zip archive", "unpack it"},
      {"m.tar", Tar(), "tar archive", "tar -xf"},
      {"m.tgz", Gzip(Tar()), "tar archive compressed by gzip", "tar -xzf"},
      {"m.npz.gz", Gzip("weights"), "no model of Marian", "gunzip"},
      {"m.npz.gz", Gzip(kPointer), "no model of Marian", "gunzip"},
      {"m.npz.gz", Gzip("<html>Log in"), "HTML page", "download the file itself"},
      {"m.npz.gz", Gzip("weights").substr(0, 9), "damaged or not whole", "download it again"},
      {"x", "\x89HDF\r\n\x1a\n...", "HDF5", "save_pretrained()"},
      {"tf_model.h5", "any", "HDF5", "save_pretrained()"},
      {"saved_model.pb", "any", "SavedModel", "save_pretrained()"},
      {"flax_model.msgpack", "\x83", "Flax", "save_pretrained()"},
      {"m.onnx", "\x08\x07", "ONNX", "exported from"},
      {"m", "GGUF\x03", "GGUF", "made from"},
      {"model", std::string("\x82\xa5model\x81"), "Flax", "save_pretrained()"},
      {"model", std::string("\x08\x07\x12\x07pytorch\x1a"), "ONNX", "exported from"},
      {"rust_model.ot", "any", "rust-bert", "save_pretrained()"},
      {"tf_model.h5.index.json", "{}", "HDF5", "save_pretrained()"},
      {"ckpt-5000.index", "any", "OpenNMT-tf", "ct2-opennmt-tf-converter"},
      {"model.ckpt-5000.index", "any", "OpenNMT-tf", "ct2-opennmt-tf-converter"},
      {"adapter_model.safetensors", "any", "PEFT", "merge_and_unload()"},
  };
  for (const auto& [name, bytes, what, way_out] : kCases) {
    SCOPED_TRACE(name);
    const TempFolder folder;
    WriteFile(folder / name, bytes);
    EXPECT_THAT(Error(folder / name), AllOf(HasSubstr(name), HasSubstr(what), HasSubstr(way_out)));
  }
}

// A checkpoint of TensorFlow is several files. Users give the beginning that their names share.
TEST(Foreign, CheckpointsByTheirPrefix) {
  const TempFolder folder;
  WriteFile(folder / "ckpt-5000.index", "any");
  WriteFile(folder / "ckpt-5000.data-00000-of-00001", "any");
  EXPECT_THAT(Error(folder / "ckpt-5000"), HasSubstr("ct2-opennmt-tf-converter"));
  EXPECT_THAT(Error(folder.path()), HasSubstr("ct2-opennmt-tf-converter"));
}

// A file has the name of a file that nibu reads, but holds something else.
TEST(Foreign, OtherBytesUnderTheNamesOfWeights) {
  const struct {
    std::string bytes;
    const char* what;
  } kForeign[] = {{Gzip("weights"), "compressed by gzip"},
                  {Tar(), "tar archive"},
                  {Gzip(Tar()), "tar archive compressed by gzip"},
                  {"\x89HDF\r\n\x1a\n...", "HDF5"},
                  {"GGUF\x03", "GGUF"},
                  {"<!DOCTYPE html>\n<html>...", "HTML page"},
                  {testing::Zip({{"model/config.json", "{}"}}), "zip archive"}};
  for (const auto& [bytes, what] : kForeign) {
    SCOPED_TRACE(what);
    for (const std::string name : {"model.safetensors", "pytorch_model.bin", "source.spm"}) {
      const TempFolder folder;
      testing::TinyMarian().Write(folder);
      if (name == "pytorch_model.bin") std::filesystem::remove(folder / "model.safetensors");
      WriteFile(folder / name, bytes);
      EXPECT_THAT(Error(folder.path()), AllOf(HasSubstr(folder / name), HasSubstr(what)));
    }
    // CTranslate2's newer directories have a config.json, older ones do not.
    for (const std::string config : {"{}", ""}) {
      const TempFolder folder;
      WriteFile(folder / "model.bin", bytes);
      WriteFile(folder / "source_vocabulary.txt", "a\n");
      if (!config.empty()) WriteFile(folder / "config.json", config);
      EXPECT_THAT(Error(folder.path()), AllOf(HasSubstr(folder / "model.bin"), HasSubstr(what)));
    }
    for (const std::string decoder : {"models: [model.npz]\nvocabs: [v.spm, v.spm]\n", ""}) {
      const TempFolder folder;
      WriteFile(folder / "model.npz", bytes);
      WriteFile(folder / "v.spm", "any");
      if (!decoder.empty()) WriteFile(folder / "decoder.yml", decoder);
      EXPECT_THAT(Error(folder.path()), AllOf(HasSubstr(folder / "model.npz"), HasSubstr(what)));
      EXPECT_THAT(Error(folder / "model.npz"), HasSubstr(what));
    }
  }
}

// An archive was downloaded, but not unpacked.
TEST(Foreign, ArchivesInsteadOfWeights) {
  for (const auto& [name, bytes, what] :
       {std::tuple("opus.zip", testing::Zip({{"opus/config.json", "{}"}}), "zip archive"),
        {"m.tgz", Gzip(Tar()), "tar archive"},
        {"m.tar.gz", Gzip(Tar()), "tar archive"},
        {"m.tar", Tar(), "tar archive"}}) {
    const TempFolder folder;
    WriteFile(folder / name, bytes);
    EXPECT_THAT(Error(folder.path()), AllOf(HasSubstr(name), HasSubstr(what)));
    testing::TinyMarian().Write(folder);
    std::filesystem::remove(folder / "model.safetensors");
    EXPECT_THAT(Error(folder.path()), AllOf(HasSubstr(name), HasSubstr(what)));
  }
}

// Among several compressed files, the message is about the model.
TEST(Foreign, TheModelAmongCompressedFiles) {
  for (const bool has_decoder : {true, false}) {
    const TempFolder folder;
    WriteFile(folder / "lex.bin.gz", Gzip("pairs"));
    WriteFile(folder / "model.bin.gz", Gzip("weights"));
    WriteFile(folder / "vocab.spm.gz", Gzip("pieces"));
    if (has_decoder) {
      WriteFile(folder / "decoder.yml.gz",
                Gzip("models: [model.bin]\nvocabs: [vocab.spm, vocab.spm]\n"));
    }
    EXPECT_THAT(Error(folder.path()), HasSubstr("/model.bin.gz: compressed by gzip, and what"));
  }
}

TEST(Foreign, APointerInTheDecoderYml) {
  const TempFolder folder;
  WriteFile(folder / "decoder.yml", kPointer);
  WriteFile(folder / "model.npz", "any");
  EXPECT_THAT(Error(folder.path()), AllOf(HasSubstr("decoder.yml"), HasSubstr("git lfs pull")));
}

// A Hugging Face directory has only the weights of another framework.
TEST(Foreign, DirectoriesWithoutWeights) {
  for (const auto& [name, what] : {std::pair{"tf_model.h5", "HDF5"},
                                   {"flax_model.msgpack", "Flax"},
                                   {"encoder_model.onnx", "ONNX"},
                                   {"adapter_config.json", "PEFT"}}) {
    const TempFolder folder;
    testing::TinyMarian().Write(folder);
    std::filesystem::remove(folder / "model.safetensors");
    WriteFile(folder / name, "any");
    EXPECT_THAT(Error(folder.path()), HasSubstr(what));
    std::filesystem::remove(folder / "config.json");
    EXPECT_THAT(Error(folder.path()), HasSubstr(what));
  }
}

TEST(Foreign, QuantizedWeights) {
  using Json = nlohmann::json;
  for (const auto& [config, what] :
       {std::pair<Json, const char*>{{{"quant_method", "gptq"}, {"bits", 4}}, "GPTQ"},
        {{{"quant_method", "awq"}}, "AWQ"},
        {{{"quant_method", "bitsandbytes"}, {"load_in_4bit", true}}, "bitsandbytes"},
        {{{"load_in_8bit", true}}, "bitsandbytes"}}) {
    const TempFolder folder;
    testing::TinyMarian model;
    model.config["quantization_config"] = config;
    model.Write(folder);
    EXPECT_THAT(Error(folder.path()),
                AllOf(HasSubstr(absl::StrCat("quantized with ", what)), HasSubstr("config.json")));
  }
  const TempFolder folder;
  testing::TinyMarian().Write(folder);
  WriteFile(folder / "quantize_config.json", R"({"bits": 4})");
  EXPECT_THAT(Error(folder.path()), HasSubstr("quantized with GPTQ"));
  const auto awq =
      ConfigFile::Parse(R"({"quantization_bits": 4, "quantization_type": 1})", "config.json");
  ASSERT_TRUE(awq.ok());
  EXPECT_THAT(std::string(RefuseForeignQuantization(*awq).message()),
              HasSubstr("CTranslate2's AWQ"));
}

}  // namespace
}  // namespace nibu::internal
