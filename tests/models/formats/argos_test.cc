#include "models/formats/argos.h"

#include <filesystem>
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

// A package in a folder's `name`.
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

TEST(Argos, Loads) {
  const TempFolder folder;
  const std::string path = Package(folder, "translate-en_de-1_0");
  for (const std::string& model : {path, path + "/", folder.path()}) {  // as unzip leaves it
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

  // What its files say stays with it.
  const std::string file = folder / "m.nibu";
  ASSERT_TRUE(WriteNative(*OpenModel(path), {}, file).ok());
  EXPECT_EQ(OpenModel(file)->facts, OpenModel(path)->facts);
  EXPECT_EQ(OpenModel(file)->vocabulary.source_language, "en");
}

TEST(Argos, Refusals) {
  const TempFolder folder;
  const std::string path = Package(folder, "a");
  fs::rename(path + "/sentencepiece.model", path + "/bpe.model");
  EXPECT_THAT(Error(path), HasSubstr("a/bpe.model: subword-nmt behind Moses"));
  fs::remove(path + "/bpe.model");
  EXPECT_TRUE(OpenModel(path)->vocabulary.source_sentencepiece.empty());  // --sentencepiece

  for (const auto& [metadata, part] :
       {std::pair(R"({"type": "sbd", "from_codes": ["en"]})", "of type \"sbd\""),
        std::pair(R"({"to_code": "de", "target_prefix": "__de__"})", "\"target_prefix\" is not"),
        std::pair(R"({"type": 1})", "\"type\" must be a string"), std::pair("[]", "not an object"),
        std::pair("{", "not JSON")}) {
    WriteFile(path + "/metadata.json", metadata);
    EXPECT_THAT(Error(path), HasSubstr(part));
    EXPECT_THAT(Error(path), HasSubstr(path));
  }
  WriteFile(path + "/metadata.json", R"({"target_prefix": ""})");
  EXPECT_TRUE(OpenModel(path).ok());
  Package(folder, "b");
  EXPECT_THAT(Error(folder.path()), HasSubstr("2 models in it, give one of them as the model: "));
  fs::remove(path + "/model/model.bin");
  EXPECT_THAT(Error(path), HasSubstr("a/model/model.bin"));
}

TEST(Argos, ZippedIsRefusedWithTheCommandThatUnpacksIt) {
  const TempFolder folder;
  const std::string file = folder / "translate-en_de-1_0.argosmodel";
  for (const std::string root : {"", "en_de/"}) {
    WriteFile(file, testing::Zip({{root + "metadata.json", kMetadata},
                                  {root + "model/model.bin", "weights"},
                                  {root + "sentencepiece.model", "pieces"}}));
    const std::string command = absl::StrCat("(unzip '", file, "' -d DIR)");
    EXPECT_THAT(Error(file), HasSubstr(command));
    EXPECT_THAT(Error(folder.path()), HasSubstr(command));
  }
  WriteFile(file, testing::Zip({{"metadata.json", kMetadata}}));
  EXPECT_THAT(Error(file), HasSubstr("not a PyTorch file"));
  WriteFile(file, "PK\3\4 and nothing more");
  EXPECT_FALSE(OpenModel(file).ok());
}

}  // namespace
}  // namespace nibu::internal
