// Tests of the reader of Argos Translate packages, unpacked and zipped.
#include "models/formats/argos.h"

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "models/writers/native_writer.h"
#include "tests/models/greedy.h"
#include "tests/models/tiny_ctranslate2.h"

namespace nibu::internal {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::TempFolder;
using testing::TinyCTranslate2;
using testing::WriteFile;

constexpr char kMetadata[] =
    R"({"package_version": "1.0", "argos_version": "1.5", "from_code": "en", "to_code": "de"})";

// Writes a package under a folder's `name` and returns its path.
std::string Package(const TempFolder& folder, const std::string& name,
                    const std::string& metadata = kMetadata) {
  const std::string path = folder / name;
  fs::create_directories(path + "/model");
  fs::create_directories(path + "/stanza/en");
  const TinyCTranslate2 tiny;
  WriteFile(path + "/model/model.bin", tiny.Bin());
  WriteFile(path + "/model/source_vocabulary.txt", tiny.source_vocabulary);
  WriteFile(path + "/model/target_vocabulary.json", tiny.target_vocabulary);
  WriteFile(path + "/metadata.json", metadata);
  WriteFile(path + "/sentencepiece.model", "pieces");
  WriteFile(path + "/README.md", "# English - German\n\nlicensed CC-BY 4.0\n");
  return path;
}

std::string Error(const std::string& path) {
  const auto opened = OpenModel(path);
  EXPECT_FALSE(opened.ok());
  return std::string(opened.status().message());
}

TEST(Argos, LoadsPackedAndUnpackedPackages) {
  const TempFolder folder;
  const std::string path = Package(folder, "translate-en_de-1_0");
  // A folder that holds only a package, as unzip leaves it, is a model, too.
  for (const std::string& model : {path, path + "/", folder.path()}) {
    const auto opened = OpenModel(model);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(opened->format, "Argos Translate");
    EXPECT_EQ(opened->vocabulary.source_language, "en");
    EXPECT_EQ(opened->vocabulary.source_sentencepiece, "pieces");
    EXPECT_EQ(opened->vocabulary.target_sentencepiece, "pieces");
    EXPECT_EQ(opened->defaults.beam_size, 4);
    EXPECT_EQ(opened->defaults.length_penalty, 0.2f);
    EXPECT_EQ(opened->facts, (ModelFacts{{"argos_version", "1.5"},
                                         {"license", "licensed CC-BY 4.0"},
                                         {"package_version", "1.0"},
                                         {"source_language", "en"},
                                         {"target_language", "de"}}));
  }
  const auto loaded = LoadModel(path, ComputeType::kFloat32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(Greedy(*loaded).tokens,
            Greedy(*LoadModel(path + "/model", ComputeType::kFloat32)).tokens);

  // The facts from the package's files stay with the model.
  const std::string file = folder / "m.nibu";
  ASSERT_TRUE(WriteNative(*OpenModel(path), {}, file).ok());
  EXPECT_EQ(OpenModel(file)->facts, OpenModel(path)->facts);
  EXPECT_EQ(OpenModel(file)->vocabulary.source_language, "en");
}

TEST(Argos, TargetPrefix) {
  const TempFolder folder;
  const std::string path = Package(folder, "a", R"({"to_code": "de", "target_prefix": "x"})");
  const auto opened = OpenModel(path);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->defaults.forced_bos, 3);
  // It stays with the model.
  ASSERT_TRUE(WriteNative(*opened, {}, folder / "m.nibu").ok());
  EXPECT_EQ(OpenModel(folder / "m.nibu")->defaults.forced_bos, 3);
}

TEST(Argos, RefusesWhatItCannotTranslate) {
  const TempFolder folder;
  const std::string path = Package(folder, "a");
  fs::rename(path + "/sentencepiece.model", path + "/bpe.model");
  EXPECT_EQ(OpenModel(path)->vocabulary.source_sentencepiece, "pieces");
  EXPECT_EQ(OpenModel(path)->vocabulary.target_sentencepiece, "pieces");
  fs::remove(path + "/bpe.model");
  // The model is read without one, which --sentencepiece has to give.
  EXPECT_TRUE(OpenModel(path)->vocabulary.source_sentencepiece.empty());

  for (const auto& [metadata, part] :
       {std::pair(R"({"type": "sbd", "from_codes": ["en"]})", "of type \"sbd\""),
        std::pair(R"({"target_prefix": "__de__"})",
                  "\"target_prefix\" must be a token of the model's target vocabulary"),
        std::pair(R"({"target_prefix": "</s>"})", "\"target_prefix\" must be a token of"),
        std::pair(R"({"target_prefix": 1})", "\"target_prefix\" must be a string"),
        std::pair(R"({"type": 1})", "\"type\" must be a string"), std::pair("[]", "not an object"),
        std::pair("{", "not JSON")}) {
    WriteFile(path + "/metadata.json", metadata);
    EXPECT_THAT(Error(path), HasSubstr(part));
    EXPECT_THAT(Error(path), HasSubstr(path));
  }
  WriteFile(path + "/metadata.json", R"({"target_prefix": ""})");
  ASSERT_TRUE(OpenModel(path).ok());
  EXPECT_FALSE(OpenModel(path)->defaults.forced_bos.has_value());
  Package(folder, "b");
  EXPECT_THAT(Error(folder.path()), HasSubstr("2 models in it, give one of them as the model: "));
  fs::remove(path + "/model/model.bin");
  EXPECT_THAT(Error(path), HasSubstr("a/model/model.bin"));
}

// Returns the members of a zipped package, which lies in the folder `root` of the archive.
testing::Members ZippedMembers(const std::string& root) {
  const TinyCTranslate2 tiny;
  return {{root + "metadata.json", kMetadata},
          {root + "model/", ""},  // zip writes such entries for folders
          {root + "model/model.bin", tiny.Bin()},
          {root + "model/source_vocabulary.txt", tiny.source_vocabulary},
          {root + "model/target_vocabulary.json", tiny.target_vocabulary},
          {root + "sentencepiece.model", "pieces"},
          {root + "README.md", "# English - German\n\nlicensed CC-BY 4.0\n"},
          {root + "stanza/en/tokenizer.pt", "PK\3\4"}};
}

TEST(Argos, ZippedIsReadAsItIsDownloaded) {
  const TempFolder unpacked;
  const auto expected = LoadModel(Package(unpacked, "a"), ComputeType::kFloat32);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const std::string root : {"", "translate-en_de-1_0/", "a/b/"}) {
    for (const bool deflated : {false, true}) {
      const TempFolder folder;
      // The files beside the archive say nothing about the package.
      WriteFile(folder / "README.md", "Licence: of something else\n");
      const std::string file = folder / "en_de.argosmodel";
      WriteFile(file, testing::Zip(ZippedMembers(root), deflated));
      for (const std::string& model : {file, folder.path()}) {
        SCOPED_TRACE(absl::StrCat(model, " ", root, deflated ? " deflated" : " stored"));
        const auto opened = OpenModel(model);
        ASSERT_TRUE(opened.ok()) << opened.status();
        EXPECT_EQ(opened->format, "Argos Translate");
        EXPECT_EQ(opened->vocabulary.target_language, "de");
        EXPECT_EQ(opened->vocabulary.source_sentencepiece, "pieces");
        EXPECT_EQ(opened->facts.at("license"), "licensed CC-BY 4.0");
        EXPECT_EQ(opened->defaults.beam_size, 4);
        EXPECT_EQ(opened->config_file, absl::StrCat(file, "/", root, "model/model.bin"));
        const auto loaded = LoadModel(model, ComputeType::kFloat32);
        ASSERT_TRUE(loaded.ok()) << loaded.status();
        EXPECT_EQ(Greedy(*loaded).tokens, Greedy(*expected).tokens);
      }
    }
  }
}

TEST(Argos, ZippedStaysInTheFileIfItIsStored) {
  const TempFolder folder;
  WriteFile(folder / "a.argosmodel", testing::Zip(ZippedMembers("a/")));
  const auto file = FileBytes::Open(folder / "a.argosmodel");
  ASSERT_TRUE(file.ok());
  const auto package = FindZippedArgos(*file);
  ASSERT_TRUE(package.ok() && package->has_value()) << package.status();
  const auto bin = (*package)->Below("model").Open("model.bin");
  ASSERT_TRUE(bin.ok()) << bin.status();
  EXPECT_EQ((*bin)->bytes(), TinyCTranslate2().Bin());
  EXPECT_GE((*bin)->bytes().data(), (*file)->bytes().data());
  EXPECT_LT((*bin)->bytes().data(), (*file)->bytes().data() + (*file)->bytes().size());
}

TEST(Argos, ZippedRefusals) {
  const TempFolder folder;
  const std::string file = folder / "a.argosmodel";
  const std::string whole = testing::Zip(ZippedMembers("a/"));
  const auto expect = [&](const std::string& bytes, const std::string& part) {
    WriteFile(file, bytes);
    EXPECT_THAT(Error(file), HasSubstr(part));
    EXPECT_THAT(Error(file), HasSubstr(file));
  };
  // These downloads were cut off.
  for (const size_t size : {whole.size() - 1, whole.size() / 2, size_t{10}}) {
    expect(whole.substr(0, size), "not a whole zip archive: its directory is not there");
  }
  std::string damaged = whole;
  damaged[whole.find("model.bin") + 100] ^= 1;
  expect(damaged, "the checksum of a member is wrong; download it again");
  expect(testing::Zip({{"metadata.json", kMetadata}}), "a zip archive");
  expect("<!DOCTYPE html>\n<html>", "an HTML page");
  expect("", "not a model");
  testing::Members members = ZippedMembers("a/");
  members.push_back({"b/model/model.bin", "more"});
  expect(testing::Zip(members), "more than one Argos Translate package in it");
  members = ZippedMembers("a/");
  members[0].second = R"({"type": "sbd"})";
  expect(testing::Zip(members), "a.argosmodel/a: an Argos package of type \"sbd\"");
  members[0].second = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n";
  expect(testing::Zip(members), "a.argosmodel/a/metadata.json: this is a Git LFS pointer");
  members.erase(members.begin() + 3);
  members[0].second = kMetadata;
  expect(testing::Zip(members), "a.argosmodel/a/model/source_vocabulary.json: no such file");

  // The user has to choose among several packages, even if they are one package, packed and
  // unpacked.
  WriteFile(file, whole);
  WriteFile(folder / "b.argosmodel", whole);
  EXPECT_THAT(Error(folder.path()), HasSubstr("2 models in it, give one of them as the model: "));
  fs::remove(folder / "b.argosmodel");
  WriteFile(file, whole.substr(0, whole.size() - 1));
  EXPECT_THAT(Error(folder.path()), HasSubstr("a.argosmodel: not a whole zip archive"));
}

TEST(Argos, AZipBombIsRefusedBeforeItIsInflated) {
  const TempFolder folder;
  const std::string file = folder / "a.argosmodel";
  testing::Members members = ZippedMembers("");
  constexpr uint32_t kSize = 1'100'000;
  std::mt19937 random(1);
  std::string& weights = members[2].second;
  weights.resize(kSize);
  for (char& c : weights) c = static_cast<char>(random());
  std::string bytes = testing::Zip(members, /*deflated=*/true);
  // The archive states that it inflates to more than 1 GiB, which deflate could do.
  const std::string stated = testing::Bytes(kSize);
  for (size_t at = 0; (at = bytes.find(stated, at)) != std::string::npos;) {
    bytes.replace(at, stated.size(), testing::Bytes<uint32_t>((1 << 30) + 1));
  }
  WriteFile(file, bytes);
  EXPECT_EQ(OpenModel(file).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Error(file), HasSubstr("a.argosmodel/model/model.bin: it would take 1073741825 "
                                     "bytes of memory to inflate it; unpack the archive"));
}

}  // namespace
}  // namespace nibu::internal
